/**
 * Checks a host's answer to a batch before any of it is used. Its numbers must be numbers, and it
 * may concern only the host's own conversations and events that it has seen. A record that claims
 * to cover more would make a recovery skip events that were never stepped. Written by hand and not
 * as a schema, because it is in the path of every message.
 */
import { decodeVerdict } from "../../domain/decision.ts";
import { limits } from "../../domain/limits.ts";
import {
  alreadySteppedCode,
  type HostResult,
  notLiveCode,
  quarantinedCode,
} from "./host-protocol.ts";

/** What the caller knows. */
export interface Expected {
  readonly epoch: number;
  /** Events of the batch. */
  readonly events: number;
  /** The highest event that this process of the host was sent. */
  readonly lastSeq: number;
  /** Whether a conversation is believed to be there. */
  readonly knows: (conv: number) => boolean;
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown, max: number): value is string =>
  typeof value === "string" && value.length <= max;
const special: ReadonlySet<unknown> = new Set([
  0,
  alreadySteppedCode,
  notLiveCode,
  quarantinedCode,
]);
const isCode = (value: unknown): boolean =>
  special.has(value) || (isCount(value) && decodeVerdict(value) !== null);

/** A number for a reason; what is none is not quoted, as it is somebody else's. */
const named = (value: unknown): string => (typeof value === "number" ? String(value) : "?");

/** Why an answer is refused; null: it is valid. */
export function resultProblem(input: unknown, asked: Expected): string | null {
  if (typeof input !== "object" || input === null) return "answered with no object";
  const result = input as Partial<Record<keyof HostResult, unknown>>;
  const { id, epoch, codes, live } = result;
  if (epoch !== asked.epoch) return `answered batch ${named(id)} of incarnation ${named(epoch)}`;
  if (!Array.isArray(codes) || codes.length !== asked.events)
    return `answered ${Array.isArray(codes) ? codes.length : "none"} of ${asked.events} events`;
  if (!codes.every(isCode)) return "answered with a code that is none";
  if (!isCount(live)) return "counts no conversations";
  return (
    each(result.steps, "steps", (step) => stepProblem(step, asked)) ??
    (Array.isArray(result.forgotten) && result.forgotten.every((one) => isForgotten(one, asked))
      ? null
      : "forgot what is no message") ??
    each(result.checkpoints, "records", (record) => recordProblem(record, asked)) ??
    each(result.rejected, "rejections", (rejection) =>
      isCount(rejection.conv) &&
      isCount(rejection.seq) &&
      isText(rejection.error, limits.textUnitsMax)
        ? null
        : "rejected what is no event",
    ) ??
    each(result.unreadable, "unreadable records", (record) =>
      isCount(record.conv) && isText(record.error, limits.textUnitsMax)
        ? null
        : "could not read nothing",
    ) ??
    (Array.isArray(result.passivated) && result.passivated.every(isCount)
      ? null
      : "put away what is no conversation")
  );
}

/** It names a message by its number and its id, and the event that pushed it out. */
function isForgotten(input: unknown, { lastSeq }: Expected): boolean {
  if (!Array.isArray(input) || input.length !== 3) return false;
  const [by, seq, id] = input as unknown[];
  return isCount(by) && by <= lastSeq && isCount(seq) && isText(id, limits.idUnitsMax);
}

type Fields = Readonly<Record<string, unknown>>;

function each(
  input: unknown,
  what: string,
  problem: (item: Fields) => string | null,
): string | null {
  if (!Array.isArray(input)) return `answered without ${what}`;
  for (const item of input) {
    const found =
      typeof item === "object" && item !== null ? problem(item as Fields) : `no ${what}`;
    if (found !== null) return found;
  }
  return null;
}

function stepProblem(
  { seq, conv, key, at, code, effects }: Fields,
  asked: Expected,
): string | null {
  if (!isCount(conv) || !asked.knows(conv))
    return `stepped conversation ${named(conv)}, not its own`;
  if (!isCount(seq) || seq > asked.lastSeq)
    return `stepped event ${named(seq)} that it was not sent`;
  if (typeof key !== "string" || !Number.isFinite(at) || !isCode(code))
    return "answered half a step";
  if (!Array.isArray(effects)) return "stepped without effects";
  return effects.every((effect: unknown) => typeof (effect as Fields | null)?.type === "string")
    ? null
    : "wants what is no effect";
}

function recordProblem({ conv, recordSeq, record }: Fields, asked: Expected): string | null {
  if (!isCount(conv) || !asked.knows(conv))
    return `recorded conversation ${named(conv)}, not its own`;
  if (!isCount(recordSeq) || recordSeq > asked.lastSeq)
    return `recorded event ${named(recordSeq)} that it was not sent`;
  return isText(record, limits.recordUnitsMax) ? null : "recorded more than a conversation is";
}
