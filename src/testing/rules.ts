/**
 * Rules of your own
 * =================
 * A rule is a function from the run of a room to what breaks it: messages, turns, answers, or text.
 * `checkRooms` runs generated rooms until one breaks the rule, shrinks that room, and reports the
 * room as a chat with every decision, the ladder of the message that broke the rule, and the seed
 * and path that reproduce it.
 */
import fc from "fast-check";
import type { SendLine } from "../domain/stream.ts";
import type { Room } from "./room.ts";
import { type RoomOptions, rooms } from "./room-arbitrary.ts";
import { type Heard, type RoomRun, simulateRoom, type Turn } from "./room-run.ts";

/** What can break a rule: a message with its decision, a turn, an answer, or text. */
export type Breach = Heard | Turn | SendLine | string;

/** Returns what breaks the rule in this run; nothing when it holds. */
export type RoomRule = (run: RoomRun) => Iterable<Breach> | Promise<Iterable<Breach>>;

export interface CheckRoomsOptions extends Omit<RoomOptions, "config"> {
  /** Rooms to run. @default 100 */
  readonly numRuns?: number;
  /** Seed of the rooms, as a failure printed it. @default random */
  readonly seed?: number;
  /** Path to one room of that seed, as a failure printed it. */
  readonly path?: string;
  /** Rooms of your own instead of those generated for the config. */
  readonly rooms?: fc.Arbitrary<Room>;
  /** Keep the prompts of agents. @default false */
  readonly prompts?: boolean;
  /** Called for every room, to measure coverage. */
  readonly onRun?: (run: RoomRun) => void;
}

/** A room broke a rule: `message` says which one and why; `room` and `run` have the details. */
export class RuleBroken extends Error {
  override readonly name = "RuleBroken";
  readonly room: Room;
  readonly run: RoomRun;
  readonly seed: number;
  readonly path: string;

  constructor(message: string, run: RoomRun, found: { seed: number; path: string }) {
    super(message);
    this.run = run;
    this.room = run.room;
    this.seed = found.seed;
    this.path = found.path;
  }
}

/**
 * Runs rooms generated for a config and checks a rule on each.
 * @param config as `earshot.json5` has it
 * @throws RuleBroken with the smallest room that was found; errors of the rule itself;
 *   EarshotError EAR_CONFIG_* if the config is invalid.
 * @example
 * ```ts
 * test("a mention is always answered", () =>
 *   checkRooms(config, (run) => run.observed().filter(({ message }) => mentionsUs(message))));
 * ```
 */
export async function checkRooms(
  config: unknown,
  rule: RoomRule,
  options: CheckRoomsOptions = {},
): Promise<void> {
  const { numRuns = 100, seed, path, prompts = false, onRun, rooms: ownRooms, ...rest } = options;
  const made = ownRooms ?? rooms({ ...rest, config });
  const property = fc.asyncProperty(made, async (room) => {
    const run = await simulateRoom(config, room, { prompts });
    onRun?.(run);
    const breaches = [...(await rule(run))];
    if (breaches.length > 0) throw new Found(run, breaches);
  });
  const details = await fc.check(property, {
    numRuns,
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path }),
  });
  if (!details.failed) return;
  const { errorInstance: found, counterexamplePath } = details;
  if (!(found instanceof Found)) {
    const message = fc.defaultReportMessage(details) ?? "Cannot run the rooms";
    throw new Error(message, { cause: found });
  }
  const where = { seed: details.seed, path: counterexamplePath ?? "" };
  throw new RuleBroken(await report(found, where, details), found.run, where);
}

/** Carries the breaches out of the property. */
class Found extends Error {
  readonly run: RoomRun;
  readonly breaches: readonly Breach[];

  constructor(run: RoomRun, breaches: readonly Breach[]) {
    super(`${breaches.length} breaches`);
    this.run = run;
    this.breaches = breaches;
  }
}

const explainedMax = 2;

async function report(
  { run, breaches }: Found,
  { seed, path }: { readonly seed: number; readonly path: string },
  { numRuns, numShrinks }: { readonly numRuns: number; readonly numShrinks: number },
): Promise<string> {
  const ids = [...new Set(breaches.flatMap(messagesOf))];
  const known = ids.filter((id) => run.heard.some(({ message }) => message.id === id));
  const whys = await Promise.all(known.slice(-explainedMax).map((id) => run.why(id)));
  return [
    `The rule is broken in this room (played as number ${numRuns}, made smaller ${numShrinks} times):`,
    "",
    run.toString(),
    "",
    `What breaks it: ${breaches.map(breachText).join("; ")}`,
    ...whys.flatMap((why) => ["", why]),
    "",
    `The same room again: { seed: ${seed}, path: "${path}" }`,
  ].join("\n");
}

function messagesOf(breach: Breach): readonly string[] {
  if (typeof breach === "string") return [];
  if ("message" in breach) return [breach.message.id];
  if ("batch" in breach) return breach.batch;
  return breach.replyTo === null ? [] : [breach.replyTo];
}

function breachText(breach: Breach): string {
  if (typeof breach === "string") return breach;
  if ("message" in breach) return `${breach.message.id}, ${breach.decision} (${breach.rule})`;
  if ("batch" in breach) return `turn ${breach.number}, for ${breach.batch.join(", ")}`;
  return `the answer “${breach.text.slice(0, 80)}”`;
}
