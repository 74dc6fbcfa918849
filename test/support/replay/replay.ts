/** Running the rooms of this folder, and reading what came out. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type SimulateOptions, simulateScenario } from "../../../src/daemon/replay/simulate.ts";
import { parseScenario } from "../../../src/domain/scenario/read-scenario.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";

export {
  decisions,
  drops,
  ends,
  prompts,
  sends,
  starts,
  verdicts,
} from "../../../src/testing/stream-lines.ts";

const fixtures = resolve(import.meta.dirname, "../../fixtures");

/** Path of a room's expected output. */
export const expectedOf = (room: string): string =>
  resolve(fixtures, "rooms-expected", `${room}.jsonl`);

/** A room's scenario, one parsed object a line. */
export function roomLines(room: string): Record<string, unknown>[] {
  return readFileSync(resolve(fixtures, "rooms", `${room}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Runs scenario lines; the answer is what `earshot replay --json` prints. */
export async function play(
  lines: readonly Record<string, unknown>[],
  options: SimulateOptions = {},
): Promise<StreamLine[]> {
  const out: StreamLine[] = [];
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  await simulateScenario(parseScenario(text, "room"), { ...options, onLine: (l) => out.push(l) });
  return out;
}

export const playRoom = (room: string, options?: SimulateOptions) => play(roomLines(room), options);

export const printed = (lines: readonly StreamLine[]): string =>
  `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
