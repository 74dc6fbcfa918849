/**
 * Who is in the room
 * ==================
 * A cache of the channels' member reads. The decision at hand never waits for one: a read is
 * attached to the next message of that room. A good read is kept for half an hour (the ladder
 * itself calls it stale after a minute), a refusal for five minutes, a hiccup for thirty seconds;
 * one read a room is under way at any time. Threads are looked up under their parent, direct chats
 * never.
 */
import { LRUCache } from "lru-cache";
import type { Membership } from "../../domain/decision.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Millis, Route } from "../../domain/message.ts";
import type { Clock } from "../../domain/ports/index.ts";

const cacheMs = 30 * 60_000;
const staleMs = 60_000;
const refusedMs = 5 * 60_000;
const failedMs = 30_000;
/**
 * A room of newcomers asks for a new read with every line; the platform is asked this often at
 * most.
 */
const gapMs = 1_000;

/** What the channel answered. `null`: this channel or account cannot tell. */
export type ReadMembers = (route: Route) => Promise<{
  readonly humans: number;
  readonly bots: number;
  readonly truncated: boolean;
} | null>;

type CachedRead = {
  membership: Membership | null;
  /** No new read before this. */
  quietUntil: Millis;
  reading: Promise<void> | null;
  /** Asked for again while a read was under way or too soon after one. */
  again: boolean;
};

export interface MembershipCache {
  /**
   * The last good read of at most half an hour ago. Starts a new one when there is none or it is
   * stale.
   */
  get(route: Route): Membership | null;
  /** Reads again soon: someone new spoke. */
  refresh(route: Route): void;
  /** Forgets an account whose login changed. */
  forget(channel: string, account: string): void;
  /** Resolves when no read is under way. */
  settled(): Promise<void>;
}

const accountKey = (channel: string, account: string) => JSON.stringify([channel, account]);

/** @param read is never called for direct chats. It may reject, and logs its own failures. */
export function createMembershipCache(clock: Clock, read: ReadMembers): MembershipCache {
  const rooms = new LRUCache<string, CachedRead>({ max: limits.membershipRoomsMax });
  const flights = new Set<Promise<void>>();

  const roomOf = (route: Route): CachedRead => {
    const key = accountKey(route.channel, route.account) + JSON.stringify(route.chat.id);
    let room = rooms.get(key);
    if (room === undefined) {
      room = { membership: null, quietUntil: 0, reading: null, again: false };
      rooms.set(key, room);
    }
    return room;
  };

  const fly = async (room: CachedRead, route: Route): Promise<void> => {
    try {
      const answer = await read(route);
      const now = clock.now();
      room.membership = answer === null ? null : { ...answer, fetchedAt: now };
      room.quietUntil = now + (answer === null ? refusedMs : gapMs);
    } catch (error) {
      const refused = error instanceof EarshotError && error.disposition === "terminal";
      room.quietUntil = clock.now() + (refused ? refusedMs : failedMs);
    }
  };

  const start = (room: CachedRead, route: Route): void => {
    if (room.reading !== null || clock.now() < room.quietUntil) {
      room.again = true;
      return;
    }
    room.again = false;
    const flight = fly(room, route).finally(() => {
      room.reading = null;
      flights.delete(flight);
    });
    room.reading = flight;
    flights.add(flight);
  };

  return {
    get(route) {
      if (route.chat.kind === "direct") return null;
      const room = roomOf(route);
      const { membership } = room;
      const age =
        membership === null ? Number.POSITIVE_INFINITY : clock.now() - membership.fetchedAt;
      if (age >= staleMs || room.again) start(room, route);
      return age < cacheMs ? membership : null;
    },
    refresh(route) {
      if (route.chat.kind === "direct") return;
      const room = roomOf(route);
      // What was read before the newcomer is only a hint from here on.
      if (room.membership !== null) room.membership = { ...room.membership, truncated: true };
      start(room, route);
    },
    forget(channel, account) {
      const prefix = accountKey(channel, account);
      for (const key of rooms.keys()) if (key.startsWith(prefix)) rooms.delete(key);
    },
    async settled() {
      while (flights.size > 0) await Promise.all(flights);
    },
  };
}
