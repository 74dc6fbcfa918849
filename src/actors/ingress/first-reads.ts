/**
 * Before the first message of a room
 * ==================================
 * A room that no conversation has heard yet is unknown: how many people are there, what was said
 * before. Where the account can read that, the first message waits for it, for a limited time, and
 * is journalled after the history. The member list goes with the message. A history that comes
 * later is delivered when it is there.
 *
 * What arrives for the same room meanwhile waits behind it, so nothing overtakes. Other rooms do
 * not wait.
 */
import { LRUCache } from "lru-cache";
import { type EarshotConfig, resolveFirstRead } from "../../domain/config/index.ts";
import { atMost, limits } from "../../domain/limits.ts";
import { type Route, routeOf } from "../../domain/message.ts";
import { type ChannelEvent, type Clock, placeOf, type Store } from "../../domain/ports/index.ts";
import { late, within } from "../../domain/ports/within.ts";
import { conversationOf } from "../protocol/event-codec.ts";
import type { FirstReads as AccountReads, OutboundDirectory } from "../protocol/runtime.ts";
import type { Prepared } from "./prepare-event.ts";

export interface FirstReadPorts {
  readonly clock: Clock;
  readonly store: Pick<Store, "conversation">;
  readonly directory: Pick<OutboundDirectory, "firstReads">;
  readonly config: () => EarshotConfig;
  /** Who receives an event, and whether admission ends it; null: nobody. */
  readonly prepare: (event: ChannelEvent) => Prepared | null;
  /** Delivers a history that came after the first message. */
  readonly deliver: (history: ChannelEvent) => void;
}

export interface FirstReads {
  /**
   * The events with the histories that belong before them, once they may be journalled. Null: they
   * need not wait.
   */
  before(
    channel: string,
    account: string,
    events: readonly ChannelEvent[],
  ): Promise<readonly ChannelEvent[]> | null;
  /** They were not stored: the next message of their rooms is a first one again. */
  forget(events: readonly ChannelEvent[]): void;
}

type History = Extract<ChannelEvent, { type: "history" }>;

interface HistoryQuery {
  readonly historyLimit: number;
  /** Ids of messages that are about to be journalled. */
  readonly arriving: ReadonlySet<string>;
}

interface Waiting {
  /** Settles when what waits may be journalled. */
  readonly passed: Promise<unknown>;
  /** False: they wait for other rooms; what is no message, or is not admitted, has nothing read. */
  readonly isRead: boolean;
}

function nameOf(event: ChannelEvent): string {
  const { channel, account, chat, thread } = placeOf(event);
  return JSON.stringify([channel, account, chat.id, thread?.id ?? null]);
}

export function createFirstReads(ports: FirstReadPorts): FirstReads {
  /** Rooms that were read, and those with events that wait. */
  const rooms = new LRUCache<string, Waiting | "known">(atMost(limits.membershipRoomsMax));

  /** What the first message of a room waits for; null: nothing. */
  function begin(
    event: ChannelEvent,
    room: string,
    events: readonly ChannelEvent[],
  ): Promise<History | null> | null {
    if (event.type !== "message") return null;
    const route = routeOf(event.message);
    const prepared = ports.prepare(event);
    if (prepared === null || prepared.ended !== null) return null;
    const account = ports.directory.firstReads?.(route.channel, route.account) ?? null;
    if (account === null) return null;
    rooms.set(room, "known");
    const settings = prepared.routes.map(({ agentId, sessionKey: key }) =>
      resolveFirstRead(ports.config(), { ...route, agentId, key }),
    );
    const historyLimit = Math.max(...settings.map((each) => each.historyLimit));
    const keys = prepared.routes.map(({ sessionKey }) => sessionKey);
    const arriving = new Set(messageIds(events.filter((each) => nameOf(each) === room)));
    const reading = read(account, route, keys, { historyLimit, arriving });
    return wait(reading, Math.max(...settings.map((each) => each.waitMs)));
  }

  async function read(
    { members, history }: AccountReads,
    route: Route,
    keys: readonly string[],
    { historyLimit, arriving }: HistoryQuery,
  ): Promise<History | null> {
    for (const key of keys)
      if ((await ports.store.conversation(conversationOf(key).conv)) !== null) return null;
    const [messages] = await Promise.all([
      historyLimit === 0 ? null : (history?.(route, historyLimit) ?? null),
      route.chat.kind === "direct" ? undefined : members?.(route),
    ]);
    const earlier = messages?.filter(({ id }) => !arriving.has(id)) ?? [];
    if (earlier.length === 0) return null;
    return { type: "history", history: { ...route, messages: earlier } };
  }

  async function wait(reading: Promise<History | null>, waitMs: number): Promise<History | null> {
    const history = waitMs === 0 ? late : await within(ports.clock, waitMs, reading);
    if (history !== late) return history;
    reading.then(
      (found) => found !== null && ports.deliver(found),
      // The store failed: it is asked again with the event's own commit, which reports it.
      () => undefined,
    );
    return null;
  }

  return {
    before(channel, account, events) {
      if ((ports.directory.firstReads?.(channel, account) ?? null) === null) return null;
      const names = events.map(nameOf);
      const ahead: Promise<unknown>[] = [];
      const begun: Promise<History | null>[] = [];
      events.forEach((event, index) => {
        const room = names[index] as string;
        const state = rooms.get(room);
        if (state === "known") return;
        if (state !== undefined) ahead.push(state.passed);
        const reading = state?.isRead === true ? null : begin(event, room, events);
        if (reading !== null) begun.push(reading);
      });
      if (ahead.length + begun.length === 0) return null;
      const reads = Promise.all(begun);
      const passed = Promise.allSettled([reads, ...ahead]).then(() => {
        for (const name of names) {
          const state = rooms.get(name);
          if (state === undefined || state === "known" || state.passed !== passed) continue;
          if (state.isRead) rooms.set(name, "known");
          else rooms.delete(name);
        }
      });
      for (const name of new Set(names)) {
        const state = rooms.get(name);
        rooms.set(name, { passed, isRead: state === "known" || state?.isRead === true });
      }
      return passed.then(async () => {
        const histories = await reads;
        return [...histories.filter((history) => history !== null), ...events];
      });
    },
    forget(events) {
      for (const event of events) rooms.delete(nameOf(event));
    },
  };
}

const messageIds = (events: readonly ChannelEvent[]) =>
  events.flatMap((event) => (event.type === "message" ? event.message.id : []));
