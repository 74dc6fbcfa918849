/**
 * Labelled rooms in tests: how many decisions are right under a config, so that a suite can hold a
 * number (docs/quality.md).
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { scoreRoom } from "../actors/quality/score-room.ts";
import { settingsIn } from "../daemon/quality/room-settings.ts";
import { scenarioConfig } from "../domain/config/index.ts";
import { type LabelledRoom, LabelledRoomReader } from "../domain/quality/labelled-room.ts";
import { type Score, Tally } from "../domain/quality/score.ts";

/**
 * Reads labelled rooms from a file, gzip or not.
 * @throws EarshotError EAR_SCENARIO_INVALID with the line of the first problem.
 */
export function labelledRoomsFrom(path: string): readonly LabelledRoom[] {
  const bytes = readFileSync(path);
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return parseLabelledRooms((isGzip ? gunzipSync(bytes) : bytes).toString(), path);
}

/**
 * Reads labelled rooms from text in JSON Lines.
 * @throws EarshotError EAR_SCENARIO_INVALID with the line of the first problem.
 */
export function parseLabelledRooms(text: string, source = "rooms"): readonly LabelledRoom[] {
  const reader = new LabelledRoomReader(source);
  const rooms = text.split("\n").flatMap((line) => reader.add(line) ?? []);
  return [...rooms, ...[reader.end()].flatMap((room) => room ?? [])];
}

/**
 * How many decisions are right: each agent of each room is played through the conversation machine.
 * @param config as in a config file; only what decisions depend on is used
 * @throws EarshotError EAR_CONFIG_INVALID and others for a config that is none.
 */
export function scoreRooms(rooms: readonly LabelledRoom[], config: unknown = {}): Score {
  const parsed = scenarioConfig({}, config);
  const tally = new Tally();
  for (const room of rooms) tally.add(scoreRoom(room, settingsIn(room, parsed)).score());
  return tally.score();
}

/** At least these shares, 0 to 1; absent: any. */
export interface ScoreAtLeast {
  readonly precision?: number;
  readonly recall?: number;
  readonly f1?: number;
}

/**
 * Matchers of vitest for a score.
 * @example
 * ```ts
 * expect.extend(scoreMatchers);
 * expect(scoreRooms(rooms, config)).toScoreAtLeast({ precision: 0.9 });
 * ```
 */
export const scoreMatchers = {
  toScoreAtLeast(score: Score, wanted: ScoreAtLeast) {
    const names = ["precision", "recall", "f1"] as const;
    const missing = names.filter((name) => score[name] < (wanted[name] ?? 0));
    const pass = missing.length === 0;
    return {
      pass,
      message: () => {
        const shares = (pass ? names.filter((name) => name in wanted) : missing).map(
          (name) => `${name} is ${score[name].toFixed(3)}, wanted ${wanted[name]}`,
        );
        return [...shares, ...worstRules(score)].join("\n");
      },
    };
  },
};

/** The rules that are wrong or miss most often. */
function worstRules({ rules }: Score): readonly string[] {
  return Object.entries(rules)
    .filter(([, { wrong, missed }]) => wrong + missed > 0)
    .sort(([, a], [, b]) => b.wrong + b.missed - a.wrong - a.missed)
    .map(
      ([rule, { right, wrong, missed }]) =>
        `${rule}: ${right} right, ${wrong} wrong, ${missed} missed`,
    );
}

declare module "vitest" {
  // biome-ignore lint/suspicious/noExplicitAny: the form that vitest declares
  interface Matchers<T = any> {
    toScoreAtLeast: (wanted: ScoreAtLeast) => T;
  }
}
