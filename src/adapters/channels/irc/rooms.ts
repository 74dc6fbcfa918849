/**
 * The rooms of an account
 * =======================
 * Joins them, comes back after a kick, and puts what was said while we were away before what is said
 * now. A room that cannot be joined is tried again with a growing pause.
 */

import { limits } from "../../../domain/limits.ts";
import type { Inbound, Millis } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent, TimerHandle } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import type { Intake } from "../shared/intake.ts";
import type { IrcChats } from "./chats.ts";
import type { IrcConnection } from "./client.ts";
import type { IrcAccountConfig, IrcJoin } from "./config.ts";
import { IrcLostError, reasonOf } from "./errors.ts";
import { askHistory, canAsk, type Replay, Replays, replaySlackMs } from "./history.ts";
import { messageOf, type Receiver } from "./normalise.ts";
import { type IrcLine, sentAtOf } from "./wire.ts";

/** Numbers that refuse to let us in. */
const refusals: ReadonlySet<string> = new Set([
  ...[
    "403",
    "405",
    "437",
    "439",
    "461",
    "470",
    "471",
    "473",
    "474",
    "475",
    "476",
    "477",
    "479",
    "480",
    "489",
    "520",
  ],
]);
const rejoinMsMin = 2_000;
const rejoinMsMax = 60_000;
/** Who stays so long was not let in only to be removed again. */
const stayMsMin = 60_000;
/** For what a server says to a JOIN after it has answered the lines behind it. */
const answerMsMax = 5_000;
const lookMs = 50;
/** A larger room is not searched for bots. */
const searchedMembersMax = 200;

interface Options {
  readonly context: ChannelContext<IrcAccountConfig>;
  readonly chats: IrcChats;
  readonly intake: Intake;
  readonly receiver: Receiver;
  readonly connection: IrcConnection;
  readonly signal: AbortSignal;
  /** Something changed that the account's state should say. */
  onChange(): void;
}

/** A line, when it came, and until when the server has been heard with it (`IrcConnection.heardAt`). */
export interface ArrivedLine {
  readonly line: IrcLine;
  readonly at: Millis;
  readonly heardAt: Millis;
}

/** What was said in a room before its history is complete. */
interface Held {
  readonly live: ArrivedLine[];
  readonly replays: Replay[];
}

export class IrcRooms {
  readonly #options: Options;
  readonly #replays = new Replays();
  readonly #held = new Map<string, Held>();
  readonly #absent = new Map<string, string>();
  /** By folded name: the line that refused the last JOIN. */
  readonly #refusals = new Map<string, IrcLine>();
  readonly #tries = new Map<string, number>();
  readonly #joinedAt = new Map<string, Millis>();
  /** By room: its next try. */
  readonly #timers = new Map<string, TimerHandle>();
  #isLeft = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** What the account's state should say. */
  get notes(): readonly string[] {
    return [...this.#absent].map(([room, why]) => `not in ${room} (${why})`);
  }

  /**
   * Joins all of them. `since`: until when the account has listened before; null: never. `early`: what
   * came before we knew that: bouncers and services bring us into rooms by themselves.
   */
  async enter(since: Millis | null, early: readonly ArrivedLine[]): Promise<void> {
    const { join } = this.#options.context.config;
    const { chats } = this.#options;
    this.#remember(since);
    for (const { channel } of join) this.#held.set(chats.fold(channel), { live: [], replays: [] });
    for (const one of early) this.onLine(one);
    const gaps = new Map<Millis, string[]>();
    try {
      for (const room of join) {
        const from = chats.unheardSince(room.channel);
        const isWhole = await this.#enter(room, from);
        if (from !== null && !isWhole) gaps.set(from, [...(gaps.get(from) ?? []), room.channel]);
      }
    } finally {
      for (const [from, rooms] of gaps) this.#reportGap(from, rooms);
    }
  }

  /** Each room is unheard until it was entered, also if this breaks before that. */
  #remember(since: Millis | null): void {
    const { chats, context } = this.#options;
    const wanted = new Set(context.config.join.map(({ channel }) => chats.fold(channel)));
    for (const room of chats.unheard.keys()) if (!wanted.has(room)) chats.unheard.delete(room);
    if (since === null) return;
    for (const room of wanted) if (!chats.unheard.has(room)) chats.unheard.set(room, since);
  }

  /** Ends what waits. */
  leave(): void {
    this.#isLeft = true;
    const { clock } = this.#options.context;
    for (const timer of this.#timers.values()) clock.clearTimer(timer);
    this.#timers.clear();
  }

  onLine(arrived: ArrivedLine): void {
    const { chats, connection } = this.#options;
    const { line } = arrived;
    const replay = this.#replays.take(line);
    if (typeof replay === "object") this.#replayed(replay, arrived);
    if (replay !== false) return;
    if (line.command === "KICK" || line.command === "PART") this.#removed(arrived);
    chats.note(line, connection.self.nick);
    if (refusals.has(line.command)) this.#refusals.set(chats.fold(line.params[1] ?? ""), line);
    if (line.command !== "PRIVMSG") return;
    const held = this.#held.get(chats.fold(line.params[0] ?? ""));
    if (held === undefined) this.#deliver(arrived);
    else held.live.push(arrived);
  }

  #deliver({ line, at, heardAt }: ArrivedLine): void {
    const event = this.#eventOf(line, at);
    if (event !== null) this.#options.intake.push(event, heardAt);
  }

  #eventOf(line: IrcLine, at: Millis): ChannelEvent | null {
    const message = messageOf(line, this.#options.receiver, at);
    return message === null ? null : { type: "message", message };
  }

  /** Joins one; false if what was said since then may be missing. */
  async #enter({ channel, password }: IrcJoin, since: Millis | null): Promise<boolean> {
    const { connection, chats, signal, context } = this.#options;
    const room = chats.fold(channel);
    const held: Held = this.#held.get(room) ?? { live: [], replays: [] };
    this.#held.set(room, held);
    try {
      const key = password === undefined ? "" : ` ${password}`;
      this.#refusals.delete(room);
      await connection.ask([`JOIN ${channel}${key}`], signal);
      await this.#settled(channel);
      if (!chats.isIn(channel)) {
        this.#refused({ channel, password }, since);
        return true;
      }
      this.#absent.delete(channel);
      this.#joinedAt.set(channel, context.clock.now());
      if (connection.supports.has("BOT") && chats.members(channel).length <= searchedMembersMax)
        await connection.ask([`WHO ${channel}`], signal);
      const arrived = () => held.replays;
      const isWhole =
        since !== null &&
        canAsk(connection) &&
        (await askHistory(connection, channel, since, { clock: context.clock, signal, arrived }));
      const isComplete = since === null || isWhole || this.#reachesBack(held.replays, since);
      this.#release(room, held, since);
      this.#heardAgain(room, since);
      return isComplete;
    } finally {
      // Where it broke: what has come so far.
      this.#release(room, held, since);
    }
  }

  /**
   * Resolves when the server has let us in or refused it. Most say it before they answer the PING
   * behind it; bouncers answer that themselves, and the server of the room comes later.
   */
  async #settled(channel: string): Promise<void> {
    const { chats, context, connection, signal } = this.#options;
    const { clock } = context;
    const end = clock.monotonic() + answerMsMax;
    while (!chats.isIn(channel) && !this.#refusals.has(chats.fold(channel))) {
      if (clock.monotonic() >= end) return;
      if (!connection.isOpen || signal.aborted) throw new IrcLostError("the connection broke");
      await pauseFor(clock, lookMs, signal);
    }
  }

  /** Delivers what was held, the past first. */
  #release(room: string, { live, replays }: Held, since: Millis | null): void {
    this.#held.delete(room);
    const past = replays.splice(0).flatMap(({ lines }) => lines);
    this.#past(past, since, this.#options.connection.heardAt);
    for (const one of live.splice(0)) this.#deliver(one);
  }

  /** The room counts as heard once its past is durable: a node that ends in between begins there again. */
  #heardAgain(room: string, since: Millis | null): void {
    const { chats, connection, intake } = this.#options;
    if (since === null) return;
    const forget = () => {
      if (!this.#isLeft && chats.unheard.get(room) === since) chats.unheard.delete(room);
    };
    intake.after(forget, connection.heardAt);
  }

  /** Lines of the past: messages if we listened before them, else context. */
  #past(lines: readonly IrcLine[], since: Millis | null, heardAt: Millis): void {
    const { context, receiver, intake } = this.#options;
    const now = context.clock.now();
    const wanted = lines.filter(
      ({ tags }) => since === null || (sentAtOf(tags) ?? 0) >= since - replaySlackMs,
    );
    const messages = wanted
      .map((line) => messageOf(line, receiver, now))
      .filter((message) => message !== null);
    const [first] = messages;
    if (first === undefined) return;
    if (since === null)
      intake.push({ type: "history", history: historyOf(first, messages) }, heardAt);
    else for (const message of messages) intake.push({ type: "message", message }, heardAt);
  }

  /** A replay that nobody waits for, such as a bouncer's. */
  #replayed(replay: Replay, { heardAt }: ArrivedLine): void {
    const held = this.#held.get(this.#options.chats.fold(replay.room));
    if (held === undefined) this.#past(replay.lines, 0, heardAt);
    else held.replays.push(replay);
  }

  #refused(join: IrcJoin, since: Millis | null): void {
    const { context, chats, onChange } = this.#options;
    const line = this.#refusals.get(chats.fold(join.channel));
    const why = line === undefined ? "no reason given" : `${line.command} ${reasonOf(line)}`;
    if (this.#absent.get(join.channel) !== why)
      context.log("warn", "irc.join-refused", { room: join.channel, why });
    this.#absent.set(join.channel, why);
    this.#later(join, since ?? this.#options.connection.heardAt);
    onChange();
  }

  /** Somebody left; if it is us, we come back. */
  #removed({ line: { command, params, source }, at, heardAt }: ArrivedLine): void {
    const { connection, chats, context, onChange } = this.#options;
    const { fold } = chats;
    const [room = "", kicked = ""] = params;
    const gone = command === "KICK" ? kicked : source.nick;
    if (fold(gone) !== fold(connection.self.nick)) return;
    const join = context.config.join.find(({ channel }) => fold(channel) === fold(room));
    if (join === undefined) return;
    const why = command === "KICK" ? `kicked: ${oneLine(params[2] ?? "")}` : "removed";
    context.log("warn", "irc.kicked", { room: join.channel, why });
    this.#absent.set(join.channel, why);
    // In a loop of joins and kicks the pause grows.
    const stayed = at - (this.#joinedAt.get(join.channel) ?? at);
    if (stayed >= stayMsMin) this.#tries.delete(join.channel);
    this.#later(join, heardAt);
    onChange();
  }

  /** Joins again after a pause that grows; what is not heard until then is remembered. */
  #later(join: IrcJoin, since: Millis): void {
    const { context, connection, chats, intake, onChange } = this.#options;
    const { clock } = context;
    chats.unheard.set(chats.fold(join.channel), since);
    intake.mark(connection.heardAt);
    const tries = this.#tries.get(join.channel) ?? 0;
    this.#tries.set(join.channel, tries + 1);
    const pause = Math.min(rejoinMsMax, rejoinMsMin * 2 ** Math.min(tries, 10));
    const timer = clock.setTimer(clock.now() + pause, () => {
      this.#timers.delete(join.channel);
      if (!connection.isOpen) return;
      void this.#enter(join, since).then(
        (isWhole) => {
          if (!isWhole) this.#reportGap(since, [join.channel]);
          onChange();
        },
        (error: unknown) => {
          // The connection is gone, and with it this try.
          if (!(error instanceof IrcLostError) && connection.isOpen) throw error;
        },
      );
    });
    const earlier = this.#timers.get(join.channel);
    if (earlier !== undefined) clock.clearTimer(earlier);
    this.#timers.set(join.channel, timer);
  }

  /** Whether a replay begins with what we had heard. */
  #reachesBack(replays: readonly Replay[], since: Millis): boolean {
    return replays.some(({ lines: [first] }) => {
      const { msgid, ...tags } = first?.tags ?? {};
      if (msgid !== undefined && this.#options.chats.heard.has(msgid)) return true;
      return (sentAtOf(tags) ?? since) < since - replaySlackMs;
    });
  }

  #reportGap(from: Millis, rooms: readonly string[]): void {
    const { context } = this.#options;
    const to = Math.max(from, context.clock.now());
    context.reportGap({ from, to, rooms, lost: "messages" });
  }
}

function historyOf(first: Inbound, messages: readonly Inbound[]) {
  const { channel, account, chat, thread } = first;
  return { channel, account, chat, thread, messages: messages.slice(-limits.historyCountMax) };
}
