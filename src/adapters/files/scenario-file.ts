/**
 * A scenario on disk, read in pieces: once to check every line before the first one runs, and again
 * for each run. A recording of a million messages needs no more memory than one of ten. Piped input
 * is first written to a temporary file, deleted when the process ends.
 */
import { closeSync, createWriteStream, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { EarshotError } from "../../domain/errors.ts";
import type { Inbound } from "../../domain/message.ts";
import { ScenarioReader } from "../../domain/scenario/read-scenario.ts";
import { noteChats, type Scenario, type ScenarioLine } from "../../domain/scenario/scenario.ts";

const pieceBytes = 1_048_576;

interface ScenarioFileOptions {
  /** Name in errors. @default the path */
  readonly source?: string;
  /** Called with each line during the check. */
  readonly onLine?: (line: ScenarioLine) => void;
}

/**
 * Checks a whole file.
 * @throws EarshotError EAR_SCENARIO_INVALID when it cannot be read, or with line and path of the
 * first problem.
 */
export function openScenario(path: string, options: ScenarioFileOptions = {}): Scenario {
  const { source = path, onLine = () => undefined } = options;
  const reader = new ScenarioReader(source);
  const chats = new Map<string, Inbound["chat"]>();
  for (const line of linesOf(path, source, reader)) {
    noteChats(chats, line);
    onLine(line);
  }
  return {
    ...reader.outline,
    chats,
    lines: { [Symbol.iterator]: () => linesOf(path, source, new ScenarioReader(source)) },
  };
}

/** Writes a stream to a temporary file; `remove` deletes it. */
export async function spool(
  from: NodeJS.ReadableStream,
): Promise<{ readonly path: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), "earshot-scenario-"));
  const path = join(folder, "scenario.jsonl");
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await pipeline(from, createWriteStream(path, { mode: 0o600 }));
  } catch (cause) {
    remove();
    throw unreadable("standard input", cause);
  }
  return { path, remove };
}

function* linesOf(
  path: string,
  source: string,
  reader: ScenarioReader,
): Generator<ScenarioLine, void, undefined> {
  const file = opened(path, source);
  try {
    const piece = Buffer.allocUnsafe(pieceBytes);
    const decoder = new StringDecoder("utf8");
    let rest = "";
    for (let read = next(file, piece, source); read > 0; read = next(file, piece, source)) {
      const lines = (rest + decoder.write(piece.subarray(0, read))).split("\n");
      rest = lines.pop() ?? "";
      for (const text of lines) {
        const line = reader.read(text);
        if (line !== null) yield line;
      }
    }
    const line = reader.read(rest + decoder.end());
    if (line !== null) yield line;
  } finally {
    closeSync(file);
  }
}

function opened(path: string, source: string): number {
  try {
    return openSync(path, "r");
  } catch (cause) {
    throw unreadable(source, cause);
  }
}

function next(file: number, piece: Buffer, source: string): number {
  try {
    return readSync(file, piece);
  } catch (cause) {
    throw unreadable(source, cause);
  }
}

function unreadable(source: string, cause: unknown): EarshotError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `Cannot read the scenario ${source}: ${reason}`;
  return new EarshotError("EAR_SCENARIO_INVALID", message, { cause });
}
