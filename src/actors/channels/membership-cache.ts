/**
 * Room members
 * ============
 * A cache of the channels' member counts. Decisions never wait for a read: its result is used from
 * the room's next message on. A good read is cached for half an hour (the ladder considers it stale
 * after a minute), a refusal for five minutes, a failure for thirty seconds; each room has at most
 * one read in flight. Threads use their parent's members; direct chats need none.
 */
import { LRUCache } from "lru-cache";
import type { Membership } from "../../domain/decision.ts";
import { EarshotError } from "../../domain/errors.ts";
import { atMost, limits } from "../../domain/limits.ts";
import type { Millis, Route } from "../../domain/message.ts";
import type { Clock } from "../../domain/ports/index.ts";

const cacheMs = 30 * 60_000;
const staleMs = 60_000;
const refusedMs = 5 * 60_000;
const failedMs = 30_000;
/**
 * Shortest time between reads of one room, so that a stream of newcomers does not flood the
 * platform.
 */
const gapMs = 1_000;

/** Reads members. `null`: this channel or account cannot. */
export type ReadMembers = (route: Route) => Promise<{
  readonly humans: number;
  readonly bots: number;
  readonly truncated: boolean;
} | null>;

type CachedRead = {
  membership: Membership | null;
  /** Earliest time of the next read. */
  quietUntil: Millis;
  reading: Promise<void> | null;
  /** Requested again during a read or too soon after one. */
  again: boolean;
};

export interface MembershipCache {
  /**
   * The last good read of at most half an hour ago. Starts a read when there is none or it is
   * stale.
   */
  get(route: Route): Membership | null;
  /** Resolves when the read that is in flight, or was started by this, has ended. Never rejects. */
  first(route: Route): Promise<void>;
  /** Requests a new read because a new author spoke. */
  refresh(route: Route): void;
  /** Drops an account whose login changed. */
  forget(channel: string, account: string): void;
  /** Resolves when no read is in flight. */
  settled(): Promise<void>;
}

const accountKey = (channel: string, account: string) => JSON.stringify([channel, account]);

/** @param read is never called for direct chats. It may reject, and logs its own failures. */
export function createMembershipCache(clock: Clock, read: ReadMembers): MembershipCache {
  const rooms = new LRUCache<string, CachedRead>(atMost(limits.membershipRoomsMax));
  const flights = new Set<Promise<void>>();

  /** The account that was asked about last, of which most questions are. */
  let last = { channel: "", account: "", key: accountKey("", "") };

  const roomOf = ({ channel, account, chat }: Route): CachedRead => {
    if (last.channel !== channel || last.account !== account)
      last = { channel, account, key: accountKey(channel, account) };
    const key = last.key + JSON.stringify(chat.id);
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
    async first(route) {
      if (route.chat.kind === "direct") return;
      const room = roomOf(route);
      if (room.membership === null) start(room, route);
      await room.reading;
    },
    refresh(route) {
      if (route.chat.kind === "direct") return;
      const room = roomOf(route);
      // The previous counts are only a hint once a newcomer has spoken.
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
