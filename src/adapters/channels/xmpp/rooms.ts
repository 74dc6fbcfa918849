/**
 * The rooms of an account
 * =======================
 * Enters them, comes back after a kick, and puts what was said while we were away before what is said
 * now. A room that does not let us in is tried again with a growing pause. A room can lose us without a
 * word (a server between that was away), so each is asked whether we are in it (XEP-0410).
 */
import type { Element } from "@xmpp/client";
import { limits } from "../../../domain/limits.ts";
import type { Inbound, Millis } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent, TimerHandle } from "../../../domain/ports/index.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { type XmppChats, XmppRoom } from "./chats.ts";
import type { XmppConnection } from "./client.ts";
import type { XmppAccountConfig, XmppRoomConfig } from "./config.ts";
import { removalOf, XmppLostError, XmppRefusedError } from "./errors.ts";
import type { Archives } from "./history.ts";
import type { XmppIntake } from "./intake.ts";
import { type Joining, join, lookAt } from "./join.ts";
import { bareOf, resourceOf } from "./names.ts";
import { type Arrival, eventOf, type Receiver } from "./normalise.ts";
import type { Progress } from "./progress.ts";
import { spaces } from "./spaces.ts";
import { faultOf, readPresence, type XmppMessage, type XmppPresence } from "./wire.ts";

const rejoinMsMin = 2_000;
const rejoinMsMax = 60_000;
/** Messages of the past that a room is asked for when it is new to us. */
const historyCount = 50;

export interface RoomsOptions {
  readonly context: ChannelContext<XmppAccountConfig>;
  readonly chats: XmppChats;
  readonly intake: XmppIntake;
  readonly progress: Progress;
  readonly archives: Archives;
  readonly receiver: Receiver;
  readonly connection: XmppConnection;
  readonly signal: AbortSignal;
  /** Something changed that the account's state should say. */
  onChange(): void;
  onGap(since: Millis, room: string): void;
}

/** What comes from a room before its past is complete. */
interface Held {
  readonly live: { readonly message: XmppMessage; readonly at: Millis }[];
  readonly past: XmppMessage[];
  isAfterSubject: boolean;
}

export class XmppRooms {
  readonly #options: RoomsOptions;
  readonly #held = new Map<string, Held>();
  readonly #joining = new Map<string, Joining>();
  readonly #absent = new Map<string, string>();
  readonly #tries = new Map<string, number>();
  readonly #timers = new Set<TimerHandle>();
  readonly #heardAt = new Map<string, Millis>();

  constructor(options: RoomsOptions) {
    this.#options = options;
  }

  /** What the account's state should say. */
  get notes(): readonly string[] {
    const { config } = this.#options.context;
    return config.rooms.flatMap((room) => {
      const why = this.#absent.get(room.jid);
      if (why !== undefined) return [`not in ${room.jid} (${why})`];
      const nick = this.#options.chats.rooms.get(room.jid)?.ownNick;
      const wanted = this.#nickFor(room);
      if (nick === undefined || nick === wanted) return [];
      return [`as ${nick} in ${room.jid}, because ${wanted} is in use`];
    });
  }

  /**
   * Enters all of them; resolves to those of which something may be missing.
   * @param since until when the account has listened before; null: never
   */
  async enter(since: Millis | null): Promise<readonly string[]> {
    const { config } = this.#options.context;
    const entering = config.rooms.map(async (room) => {
      const isWhole = await this.#enter(room, since);
      return isWhole ? [] : [room.jid];
    });
    return (await Promise.all(entering)).flat();
  }

  /** Ends what waits. */
  leave(): void {
    const { clock } = this.#options.context;
    for (const timer of this.#timers) clock.clearTimer(timer);
    this.#timers.clear();
  }

  onMessage(message: XmppMessage, element: Element, at: Millis): void {
    const { chats, connection, intake, receiver } = this.#options;
    const jid = bareOf(message.from);
    const room = chats.rooms.get(jid);
    if (room === undefined) return;
    this.#heardAt.set(jid, at);
    const isOurs = resourceOf(message.from) === room.ownNick && message.delayedAt === null;
    if (isOurs) connection.settle(message.originId ?? message.id ?? undefined, jid, element);
    const held = this.#held.get(jid);
    // It is heard when the room has been entered.
    if (held === undefined && !room.isJoined) return;
    if (message.hasSubject && message.body === null) {
      if (held !== undefined) held.isAfterSubject = true;
      this.#joining.get(jid)?.onSubject();
    } else if (held === undefined) intake.live(message, receiver, at);
    else if (message.delayedAt !== null && !held.isAfterSubject) held.past.push(message);
    else held.live.push({ message, at });
  }

  onPresence(element: Element, at: Millis): void {
    const { chats } = this.#options;
    const from = element.attrs.from ?? "";
    const room = chats.rooms.get(bareOf(from));
    if (room === undefined) return;
    this.#heardAt.set(room.jid, at);
    if (element.attrs.type === "error") {
      this.#joining.get(room.jid)?.answered({ fault: faultOf(element) });
      return;
    }
    const presence = readPresence(element);
    const nick = resourceOf(from);
    if (presence === null || nick === null) {
      this.#options.context.log("warn", "xmpp.stanza-unreadable", { stanza: "presence" });
      return;
    }
    const isOurs = presence.codes.includes("110") || nick === room.ownNick;
    room.note(presence, nick);
    if (presence.type === "unavailable") this.#gone(room, presence, nick, isOurs);
    else if (presence.codes.includes("110")) {
      if (room.ownNick !== nick) {
        room.ownNick = nick;
        this.#options.onChange();
      }
      this.#joining.get(room.jid)?.answered({ presence });
    }
  }

  /** Asks every silent room whether we are in it. */
  async askAll(now: Millis, silentMs: number): Promise<void> {
    const { chats, connection } = this.#options;
    for (const room of chats.rooms.values()) {
      if (!connection.isOpen) return;
      this.#takeNick(room);
      if (!room.isJoined || now - (this.#heardAt.get(room.jid) ?? now) < silentMs) continue;
      if (await this.#isIn(room)) this.#heardAt.set(room.jid, this.#options.context.clock.now());
      else this.#lost(room, "the room has lost us", this.#heardAt.get(room.jid) ?? now);
    }
  }

  /** XEP-0410, section 3.2: some errors come from our own client or from a network in between. */
  async #isIn(room: XmppRoom): Promise<boolean> {
    const { connection, signal } = this.#options;
    const ping = connection.element("ping", { xmlns: spaces.ping });
    try {
      await connection.ask("get", `${room.jid}/${room.ownNick}`, ping, signal);
      return true;
    } catch (error) {
      if (!(error instanceof XmppRefusedError)) return true;
      const undecided = ["remote-server-not-found", "remote-server-timeout"];
      const there = ["service-unavailable", "feature-not-implemented", "item-not-found"];
      return [...undecided, ...there].includes(error.fault.condition);
    }
  }

  #nickFor = (room: XmppRoomConfig): string => room.nick ?? this.#options.context.config.nick;

  #configOf(jid: string): XmppRoomConfig | undefined {
    return this.#options.context.config.rooms.find((room) => room.jid === jid);
  }

  /** Enters one; false if what was said since then may be missing. */
  async #enter(config: XmppRoomConfig, since: Millis | null): Promise<boolean> {
    const { chats, connection, context, progress, signal } = this.#options;
    const room = new XmppRoom(config.jid, this.#nickFor(config));
    const held: Held = { live: [], past: [], isAfterSubject: false };
    this.#held.set(room.jid, held);
    chats.rooms.set(room.jid, room);
    try {
      room.features = await lookAt(connection, room.jid, signal);
      const fault = await join(room, config, room.ownNick, {
        connection,
        clock: context.clock,
        signal,
        historyCount: room.hasArchive ? 0 : historyCount,
        expect: (joining) => {
          if (joining === null) this.#joining.delete(room.jid);
          else this.#joining.set(room.jid, joining);
        },
      });
      if (fault !== null) {
        const { condition, text } = fault;
        this.#refused(config, oneLine(text === "" ? condition : `${condition}: ${text}`), since);
        return true;
      }
      this.#absent.delete(room.jid);
      this.#tries.delete(room.jid);
      const chat = { id: room.jid, kind: "group", title: room.jid } as const;
      const place = { channel: "xmpp", account: context.accountId, chat, thread: null };
      const membership = { ...place, ...room.members };
      this.#options.intake.push({ type: "membership", membership }, context.clock.now());
      const known = progress.lastOf(room.jid);
      const isNew = since === null || known === null;
      const isWhole = isNew
        ? await this.#prefetch(room, held)
        : await this.#catchUp(room, held, known, since);
      return isWhole;
    } catch (error) {
      if (!(error instanceof XmppLostError) || !connection.isOpen || signal.aborted) throw error;
      // Only this room does not answer, such as one of another server. What it says now is read again.
      room.isJoined = false;
      held.live.length = 0;
      this.#refused(config, "it does not answer", since);
      return true;
    } finally {
      this.#held.delete(room.jid);
      if (connection.isOpen) this.#release(held);
    }
  }

  #release({ live }: Held): void {
    const { intake, receiver } = this.#options;
    for (const { message, at } of live) intake.live(message, receiver, at);
  }

  /** A room that is new to us: what was said before is context. */
  async #prefetch(room: XmppRoom, held: Held): Promise<boolean> {
    const { archives, connection, context, intake, receiver, signal } = this.#options;
    const now = context.clock.now();
    let events: readonly (ChannelEvent | null)[] = [];
    let last = "";
    if (room.hasArchive) {
      const results = await ofArchive(archives.newest(connection, room.jid, historyCount, signal));
      events = results.map((result) => intake.archived(result, receiver));
      last = results.at(-1)?.id ?? "";
      dropKnown(held, new Set(results.map(({ id }) => id)), room.jid);
    } else events = held.past.map((message) => this.#past(message));
    const messages = events.flatMap((event) => (event?.type === "message" ? [event.message] : []));
    const [first] = messages;
    const history = first === undefined ? null : historyOf(first, messages);
    intake.push(history, now, room.jid, last);
    return true;
  }

  /** What was said while we were away; false if something may be missing. */
  async #catchUp(room: XmppRoom, held: Held, known: string, since: Millis): Promise<boolean> {
    const { archives, chats, connection, context, intake, receiver, signal } = this.#options;
    const now = context.clock.now();
    if (!room.hasArchive) {
      const wanted = held.past.filter(({ delayedAt }) => (delayedAt ?? now) >= since - 1_000);
      const isWhole = held.past.some(
        (message) =>
          (message.delayedAt ?? now) < since - 1_000 ||
          chats.heard(room.jid, message.originId ?? message.id ?? "") !== undefined,
      );
      for (const message of wanted) intake.push(this.#past(message), now, room.jid, "");
      return isWhole;
    }
    // What earlier messages are is needed for corrections and replies that refer to them.
    if (!chats.knows(room.jid) && known !== "") {
      const newest = archives.newest(connection, room.jid, historyCount, signal);
      const results = await ofArchive(newest);
      const end = results.findIndex(({ id }) => id === known) + 1;
      for (const result of results.slice(0, end)) intake.archived(result, receiver);
    }
    const ids = new Set<string>();
    const isWhole = await archives.readBehind(
      connection,
      room.jid,
      { after: known, since },
      async (results) => {
        for (const result of results) {
          ids.add(result.id);
          intake.push(intake.archived(result, receiver), now, room.jid, result.id);
        }
        await intake.drained();
      },
      signal,
    );
    dropKnown(held, ids, room.jid);
    return isWhole;
  }

  #past(message: XmppMessage): ChannelEvent | null {
    const arrival: Arrival = { archiveId: null, isPast: true };
    return eventOf(message, this.#options.receiver, arrival);
  }

  #refused(config: XmppRoomConfig, why: string, since: Millis | null): void {
    const { context } = this.#options;
    if (this.#absent.get(config.jid) !== why)
      context.log("warn", "xmpp.join-refused", { room: config.jid, why });
    this.#absent.set(config.jid, why);
    this.#later(config, since);
    this.#options.onChange();
  }

  /** Somebody left, or has another nick; if it is us who left, we come back. */
  #gone(room: XmppRoom, presence: XmppPresence, nick: string, isOurs: boolean): void {
    const { codes, newNick } = presence;
    if (codes.includes("303") && newNick !== null) {
      if (nick === room.ownNick) {
        room.ownNick = newNick;
        this.#options.onChange();
      } else this.#takeNick(room);
      return;
    }
    if (!isOurs) {
      this.#takeNick(room);
      return;
    }
    if (!room.isJoined) return;
    const hasMoved = presence.venue !== null;
    this.#lost(room, removalOf(presence), this.#options.context.clock.now(), hasMoved);
  }

  #lost(room: XmppRoom, why: string, since: Millis, hasMoved = false): void {
    const { context, onChange } = this.#options;
    const config = this.#configOf(room.jid);
    room.isJoined = false;
    room.occupants.clear();
    context.log("warn", "xmpp.room-lost", { room: room.jid, why });
    if (config === undefined) return;
    this.#absent.set(room.jid, why);
    // To enter a room that goes on elsewhere would be to make it again.
    if (!hasMoved) this.#later(config, since);
    onChange();
  }

  /** Enters again after a pause that grows. */
  #later(config: XmppRoomConfig, since: Millis | null): void {
    const { context, connection, onChange, onGap } = this.#options;
    const tries = this.#tries.get(config.jid) ?? 0;
    this.#tries.set(config.jid, tries + 1);
    const pause = Math.min(rejoinMsMax, rejoinMsMin * 2 ** Math.min(tries, 10));
    const timer = context.clock.setTimer(context.clock.now() + pause, () => {
      this.#timers.delete(timer);
      if (!connection.isOpen) return;
      void this.#enter(config, since).then(
        (whole) => {
          if (!whole && since !== null) onGap(since, config.jid);
          onChange();
        },
        (error: unknown) => {
          // The connection is gone, and with it this try.
          if (!(error instanceof XmppLostError) && connection.isOpen) throw error;
        },
      );
    });
    this.#timers.add(timer);
  }

  /** Takes the wanted nick, if nobody has it now. */
  #takeNick(room: XmppRoom): void {
    const config = this.#configOf(room.jid);
    if (config === undefined || !room.isJoined) return;
    const wanted = this.#nickFor(config);
    if (room.ownNick === wanted || room.occupants.has(wanted)) return;
    const { connection } = this.#options;
    connection.send(connection.element("presence", { to: `${room.jid}/${wanted}` }));
  }
}

/** Nothing where an archive refuses to answer. */
async function ofArchive<Result>(asked: Promise<readonly Result[]>): Promise<readonly Result[]> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof XmppRefusedError) return [];
    throw error;
  }
}

/** What came live and out of the archive as well is delivered once. */
function dropKnown(held: Held, ids: ReadonlySet<string>, room: string): void {
  const fresh = held.live.filter(
    ({ message }) => !message.stanzaIds.some(({ by, id }) => by === room && ids.has(id)),
  );
  held.live.splice(0, held.live.length, ...fresh);
}

function historyOf(first: Inbound, messages: readonly Inbound[]): ChannelEvent {
  const { channel, account, chat, thread } = first;
  const kept = messages.slice(-limits.historyCountMax);
  return { type: "history", history: { channel, account, chat, thread, messages: kept } };
}
