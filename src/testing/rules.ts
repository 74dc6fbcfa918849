/**
 * Rules of your own
 * =================
 * A rule is a function from a played room to whatever breaks it: messages, turns, answers, or
 * words. `checkRooms` plays generated rooms until one breaks the rule, makes that room as small as
 * it can, and says what a person needs: the room as a chat with every decision in it, the ladder of
 * the message that broke the rule, and the seed and path that bring it back.
 */
import fc from "fast-check";
import type { SendLine } from "../domain/stream.ts";
import type { Room } from "./room.ts";
import { type RoomOptions, rooms } from "./room-arbitrary.ts";
import { type Heard, type RoomRun, simulateRoom, type Turn } from "./room-run.ts";

/** What may break a rule: a message as it was heard, a turn, an answer, or a sentence. */
export type Breach = Heard | Turn | SendLine | string;

/** Gives what breaks the rule in this run; nothing when it holds. */
export type RoomRule = (run: RoomRun) => Iterable<Breach> | Promise<Iterable<Breach>>;

export interface CheckRoomsOptions extends Omit<RoomOptions, "config"> {
  /** Rooms to play. @default 100 */
  readonly numRuns?: number;
  /** Of the rooms, as a failure printed it. @default one by chance */
  readonly seed?: number;
  /** To one room of that seed, as a failure printed it. */
  readonly path?: string;
  /** Rooms of your own in place of those made for the config. */
  readonly rooms?: fc.Arbitrary<Room>;
  /** Keep what agents were shown. @default false */
  readonly prompts?: boolean;
  /** Told of every room that was played, to count what was reached. */
  readonly onRun?: (run: RoomRun) => void;
}

/** A room broke a rule: `message` says which one and why, `room` and `run` are at hand. */
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
 * Plays rooms made for a config and holds a rule against each.
 * @param config as `earshot.json5` has it
 * @throws RuleBroken with the smallest room that was found; whatever the rule itself throws;
 *   EarshotError EAR_CONFIG_* when the config is not fine.
 * @example
 * ```ts
 * test("a mention is always heard", () =>
 *   checkRooms(config, (run) => run.observed().filter(({ message }) => mentionsUs(message))));
 * ```
 */
export async function checkRooms(
  config: unknown,
  rule: RoomRule,
  options: CheckRoomsOptions = {},
): Promise<void> {
  const { numRuns = 100, seed, path, prompts = false, onRun, rooms: given, ...rest } = options;
  const made = given ?? rooms({ ...rest, config });
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
    const message = fc.defaultReportMessage(details) ?? "The rooms could not be played";
    throw new Error(message, { cause: found });
  }
  const where = { seed: details.seed, path: counterexamplePath ?? "" };
  throw new RuleBroken(await report(found, where, details), found.run, where);
}

/** Carries what was found out of the property. */
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
    `What breaks it: ${breaches.map(breachWords).join("; ")}`,
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

function breachWords(breach: Breach): string {
  if (typeof breach === "string") return breach;
  if ("message" in breach) return `${breach.message.id}, ${breach.decision} (${breach.rule})`;
  if ("batch" in breach) return `turn ${breach.number}, for ${breach.batch.join(", ")}`;
  return `the answer “${breach.text.slice(0, 80)}”`;
}
