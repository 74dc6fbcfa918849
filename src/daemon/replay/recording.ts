/**
 * Recordings as text
 * ==================
 * The journal as the lines of a scenario, redacted on request. The key of the pseudonyms is
 * generated for each recording and not stored, so two redacted recordings have no words in common.
 */
import { randomBytes } from "node:crypto";
import { recordScenario } from "../../actors/recording/recorder.ts";
import type {
  RecordingLine,
  RecordingRange,
  RecordingStore,
} from "../../actors/recording/types.ts";
import { scenarioConfig } from "../../domain/config/index.ts";
import { Redactor } from "../../machines/redaction/redact.ts";

export interface RecordingQuery extends RecordingRange {
  /** Replaces words, names and numbers by pseudonyms. @default false */
  readonly redact?: boolean;
}

/** The lines of a recording, each with its end. @throws as `recordScenario` */
export async function* recordingText(
  store: RecordingStore,
  { redact = false, ...query }: RecordingQuery,
): AsyncGenerator<string> {
  const lines = recordScenario(store, query);
  for await (const line of redact ? redacted(lines) : lines) yield `${JSON.stringify(line)}\n`;
}

/** The lines, redacted. The same key gives the same pseudonyms. */
export async function* redacted(
  lines: AsyncIterable<RecordingLine> | Iterable<RecordingLine>,
  key = randomBytes(24).toString("base64"),
): AsyncGenerator<RecordingLine> {
  let redactor: Redactor | null = null;
  for await (const line of lines) {
    if ("earshot" in line) {
      redactor = new Redactor(key, line, scenarioConfig);
      yield redactor.header(line);
    } else {
      redactor ??= new Redactor(key, { earshot: 1, config: {} }, scenarioConfig);
      yield redactor.line(line);
    }
  }
}
