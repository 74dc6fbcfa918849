/**
 * Events that a sync left out, and those before it
 * ================================================
 * A sync has the newest events of each room; where there were more, the room is read back to where the
 * last sync ended (https://spec.matrix.org/v1.15/client-server-api/#syncing). What was said before the
 * bot came is left to those who were there.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Log } from "../../../domain/ports/index.ts";
import { type MatrixClient, pathOf } from "./client.ts";
import { MatrixRefusedError } from "./errors.ts";
import { eventSchema, memberSchema, messageTypes, pageSchema, type WireEvent } from "./wire.ts";

const pageMax = 100;
const pagesMax = 50;
const pageMsMax = 30_000;

/** Events that are messages, or happen to them, or say what a room is. */
export const eventTypes = [
  ...messageTypes,
  ...["m.room.encrypted", "m.reaction", "m.room.redaction"],
  ...["m.room.member", "m.room.name", "m.room.canonical_alias", "m.room.encryption"],
  ...["m.room.create", "m.room.tombstone"],
] as const;

/** Reads events; what has not the form of one is passed over, with a line in the log. */
export function eventsIn(given: readonly unknown[], log: Log): WireEvent[] {
  return given.flatMap((one) => {
    const read = eventSchema.safeParse(one);
    if (read.success) return [read.data];
    log("warn", "matrix.event-unreadable", { field: read.error.issues[0]?.path.join(".") ?? "" });
    return [];
  });
}

/** What came behind our own coming, if that is among them; newest last. */
export function sinceJoin(events: readonly WireEvent[], self: string): readonly WireEvent[] {
  const at = events.findLastIndex((event) => isJoinOf(event, self));
  return at < 0 ? events : events.slice(at);
}

/** A person's coming; a change of their name has the same form, and an earlier one beside it. */
function isJoinOf({ type, state_key, content, unsigned }: WireEvent, user: string): boolean {
  if (type !== "m.room.member" || state_key !== user) return false;
  if (memberSchema.safeParse(content).data?.membership !== "join") return false;
  const before = unsigned?.prev_content ?? {};
  return memberSchema.safeParse(before).data?.membership !== "join";
}

interface Span {
  /** Where the events begin that we have. */
  readonly from: string;
  /** Where the last sync ended. */
  readonly to: string;
}

/** The events of a span, oldest first. `isWhole`: none is missing. */
export async function readBack(
  client: MatrixClient,
  room: string,
  { from, to }: Span,
  self: string,
  log: Log,
  signal: AbortSignal,
): Promise<{ readonly events: readonly WireEvent[]; readonly isWhole: boolean }> {
  const found: WireEvent[] = [];
  let at = from;
  for (let page = 0; page < pagesMax; page += 1) {
    let answer: { chunk: unknown[]; end?: string | undefined };
    try {
      answer = await messagesOf(client, room, { from: at, to, limit: pageMax }, signal);
    } catch (error) {
      if (!(error instanceof MatrixRefusedError)) throw error;
      log("warn", "matrix.history-unread", { room, why: error.message });
      return { events: found.reverse(), isWhole: false };
    }
    const events = eventsIn(answer.chunk, log);
    found.push(...events);
    const isBegin = events.some((event) => isJoinOf(event, self));
    const isEnd = answer.end === undefined || answer.end === at || answer.end === to;
    if (isBegin || isEnd || answer.chunk.length === 0)
      return { events: found.reverse(), isWhole: true };
    at = answer.end as string;
  }
  return { events: found.reverse(), isWhole: false };
}

/** The newest messages of a room, oldest first. */
export async function newestOf(
  client: MatrixClient,
  room: string,
  count: number,
  log: Log,
  signal: AbortSignal,
): Promise<readonly WireEvent[]> {
  const limit = Math.min(count, limits.historyCountMax, pageMax);
  const { chunk } = await messagesOf(client, room, { limit }, signal);
  return eventsIn(chunk, log).reverse();
}

const messagesOf = (
  client: MatrixClient,
  room: string,
  query: { readonly limit: number; readonly from?: string; readonly to?: string },
  signal: AbortSignal,
) =>
  client.call(
    "GET",
    pathOf("rooms", room, "messages"),
    {
      what: "read what was said in a room",
      query: { dir: "b", ...query, filter: JSON.stringify({ types: eventTypes }) },
      signal,
      msMax: pageMsMax,
    },
    pageSchema,
  );

/** Failures of one look-up after which the message counts as gone. */
const looksMax = 3;

/**
 * Looks up one event of a room; null: it is gone, or not for us. What is looked up is named by anybody in the
 * room, and what it says itself is no worse without it: a homeserver that fails over it every time must not
 * hold up everything behind it.
 */
export function createLookup(client: MatrixClient, log: Log, signal: AbortSignal) {
  const failures = new LRUCache<string, number>(atMost(limits.matrixEventsMax));
  return async (room: string, id: string): Promise<WireEvent | null> => {
    const path = pathOf("rooms", room, "event", id);
    const options = { what: "read a message", kind: "look", signal } as const;
    try {
      return await client.call("GET", path, options, eventSchema);
    } catch (error) {
      if (signal.aborted || !(error instanceof EarshotError)) throw error;
      if (error.disposition === "terminal") return null;
      if (error.code === "EAR_CHANNEL_RATE") throw error;
      const count = (failures.get(path) ?? 0) + 1;
      failures.set(path, count);
      if (count < looksMax) throw error;
      log("warn", "matrix.message-unread", { room, why: error.message });
      return null;
    }
  };
}
