/**
 * Recordings as text
 * ==================
 * The journal as the lines of a scenario or of labelled rooms, redacted on request. The key of the pseudonyms is
 * generated for each recording and not stored, so two redacted recordings have no words in common.
 */
import { randomBytes } from "node:crypto";
import {
  type LabelledStore,
  type LabelledText,
  recordLabelled,
} from "../../actors/recording/labelled-rooms.ts";
import { recordScenario } from "../../actors/recording/recorder.ts";
import type {
  RecordingLine,
  RecordingRange,
  RecordingStore,
} from "../../actors/recording/types.ts";
import { type EarshotConfig, scenarioConfig } from "../../domain/config/index.ts";
import type { Store } from "../../domain/ports/index.ts";
import { Redactor } from "../../machines/redaction/redact.ts";
import { TextRedactor } from "../../machines/redaction/redact-text.ts";

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

/** The lines of labelled rooms, each with its end. @throws as `recordLabelled` */
export async function* labelledText(
  store: LabelledStore,
  { redact = false, ...query }: RecordingQuery,
): AsyncGenerator<string> {
  const lines = recordLabelled(store, query);
  for await (const line of redact ? redactedRooms(lines, await configIn(store)) : lines)
    yield `${JSON.stringify(line)}\n`;
}

const newKey = () => randomBytes(24).toString("base64");

async function configIn(store: Pick<Store, "latestConfig">): Promise<EarshotConfig> {
  const latest = await store.latestConfig();
  return scenarioConfig(
    latest === null ? {} : (JSON.parse(latest.json) as Record<string, unknown>),
  );
}

/** Rooms with other words, names and ids; the names of our agents stay. */
async function* redactedRooms(
  lines: AsyncIterable<LabelledText>,
  config: EarshotConfig,
): AsyncGenerator<LabelledText> {
  const texts = new TextRedactor(newKey(), config);
  let rooms = 0;
  let agents: readonly string[] = [];
  const name = (text: string) => (agents.includes(text) ? text : texts.text(text));
  const id = (text: string) => texts.id(text);
  for await (const line of lines) {
    if ("room" in line) {
      rooms += 1;
      agents = line.agents;
      for (const bot of line.bots) texts.noteBot(bot);
      const from = line.from === undefined ? {} : { from: id(line.from) };
      yield { room: `room ${rooms}`, agents: line.agents, ...from, bots: line.bots.map(name) };
    } else
      yield {
        ...line,
        id: id(line.id),
        by: name(line.by),
        text: texts.text(line.text),
        ...(line.to === undefined ? {} : { to: line.to.map(name) }),
        ...(line.answers === undefined ? {} : { answers: line.answers.map(id) }),
      };
  }
}

/** The lines, redacted. The same key gives the same pseudonyms. */
export async function* redacted(
  lines: AsyncIterable<RecordingLine> | Iterable<RecordingLine>,
  key = newKey(),
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
