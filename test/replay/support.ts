/** Running the rooms of this folder, and reading what came out. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type SimulateOptions, simulateScenario } from "../../src/daemon/simulate.ts";
import { parseScenario } from "../../src/domain/scenario.read.ts";
import type {
  AgentEndLine,
  AgentStartLine,
  DecisionLine,
  DroppedLine,
  PromptLine,
  SendLine,
  StreamLine,
} from "../../src/domain/stream.ts";

const folder = resolve(import.meta.dirname, "rooms");

/** Path of a room's expected output. */
export const expectedOf = (room: string): string => resolve(folder, `${room}.expected.jsonl`);

/** A room's scenario, one parsed object a line. */
export function roomLines(room: string): Record<string, unknown>[] {
  return readFileSync(resolve(folder, `${room}.jsonl`), "utf8")
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

/** Lines by kind. */
export const decisions = (lines: readonly StreamLine[]) =>
  lines.filter((line): line is DecisionLine => "decision" in line);
export const sends = (lines: readonly StreamLine[]) =>
  lines.filter((line): line is SendLine => "out" in line && line.out === "send");
const events = <Line extends StreamLine>(lines: readonly StreamLine[], event: string) =>
  lines.filter((line): line is Line => "event" in line && line.event === event);
export const starts = (lines: readonly StreamLine[]) =>
  events<AgentStartLine>(lines, "agent_start");
export const ends = (lines: readonly StreamLine[]) => events<AgentEndLine>(lines, "agent_end");
export const drops = (lines: readonly StreamLine[]) => events<DroppedLine>(lines, "dropped");
export const prompts = (lines: readonly StreamLine[]) => events<PromptLine>(lines, "prompt");

/** `id rule credit` of every decision, short to read in a test. */
export const verdicts = (lines: readonly StreamLine[]) =>
  decisions(lines).map(({ id, rule, credit }) =>
    credit === "none" ? `${id} ${rule}` : `${id} ${rule} ${credit}`,
  );
