/**
 * The rooms of an account
 * =======================
 * Joins them, comes back after a kick, and puts what was said while we were away before what is said
 * now. A room that cannot be joined is tried again with a growing pause.
 */

import { limits } from "../../../domain/limits.ts";
import type { Inbound, Millis } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent, TimerHandle } from "../../../domain/ports/index.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import type { Intake } from "../shared/intake.ts";
import type { IrcChats } from "./chats.ts";
import type { IrcConnection } from "./client.ts";
import type { IrcAccountConfig, IrcJoin } from "./config.ts";
import { IrcLostError, reasonOf } from "./errors.ts";
import { askHistory, canAsk, type Replay, Replays, replaySlackMs } from "./history.ts";
import { messageOf, type Receiver, sentAtOf } from "./normalise.ts";
import type { IrcLine } from "./wire.ts";

/** Numbers that refuse to let us in. */
const refusals: ReadonlySet<string> = new Set([
  ...[
    "403",
    "405",
    "437",
    "461",
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
const rejoinMsMax = 300_000;
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

/** What was said in a room before its history is complete. */
interface Held {
  readonly live: { readonly line: IrcLine; readonly at: Millis }[];
  readonly replays: Replay[];
}

/** A span of time that was not heard. */
interface Gap {
  readonly from: Millis;
  readonly to: Millis;
  readonly rooms: readonly string[];
}

export class IrcRooms {
  readonly #options: Options;
  readonly #replays = new Replays();
  readonly #held = new Map<string, Held>();
  readonly #absent = new Map<string, string>();
  readonly #tries = new Map<string, number>();
  readonly #timers = new Set<TimerHandle>();
  #gap: Gap | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** What the account's state should say. */
  get notes(): readonly string[] {
    const absent = [...this.#absent].map(([room, why]) => `not in ${room} (${why})`);
    if (this.#gap === null) return absent;
    const { from, to, rooms } = this.#gap;
    const span = `from ${isoOf(from)} to ${isoOf(to)}`;
    return [...absent, `did not hear ${rooms.join(", ")} ${span}`];
  }

  /** Joins all of them. `since`: until when the account has listened before; null: never. */
  async enter(since: Millis | null): Promise<void> {
    const unheard: string[] = [];
    for (const join of this.#options.context.config.join)
      if (!(await this.#enter(join, since))) unheard.push(join.channel);
    if (since !== null && unheard.length > 0) this.#reportGap(since, unheard);
  }

  /** Ends what waits. */
  leave(): void {
    const { clock } = this.#options.context;
    for (const timer of this.#timers) clock.clearTimer(timer);
    this.#timers.clear();
  }

  onLine(line: IrcLine, at: Millis): void {
    const { chats, connection } = this.#options;
    const replay = this.#replays.take(line);
    if (typeof replay === "object") this.#replayed(replay, at);
    if (replay !== false) return;
    if (line.command === "KICK" || line.command === "PART") this.#removed(line, at);
    chats.note(line, connection.self.nick);
    if (line.command !== "PRIVMSG") return;
    const held = this.#held.get(chats.fold(line.params[0] ?? ""));
    if (held === undefined) this.#deliver(line, at);
    else held.live.push({ line, at });
  }

  #deliver(line: IrcLine, at: Millis): void {
    const event = this.#eventOf(line, at);
    if (event !== null) this.#options.intake.push(event, at);
  }

  #eventOf(line: IrcLine, at: Millis): ChannelEvent | null {
    const message = messageOf(line, this.#options.receiver, at);
    return message === null ? null : { type: "message", message };
  }

  /** Joins one; false if what was said since then may be missing. */
  async #enter({ channel, password }: IrcJoin, since: Millis | null): Promise<boolean> {
    const { connection, chats, signal, context } = this.#options;
    const room = chats.fold(channel);
    const held: Held = { live: [], replays: [] };
    this.#held.set(room, held);
    try {
      const key = password === undefined ? "" : ` ${password}`;
      const answer = await connection.ask([`JOIN ${channel}${key}`], signal);
      if (!chats.isIn(channel)) {
        this.#refused({ channel, password }, answer, since);
        return true;
      }
      this.#absent.delete(channel);
      this.#tries.delete(channel);
      if (connection.supports.has("BOT") && chats.members(channel).length <= searchedMembersMax)
        await connection.ask([`WHO ${channel}`], signal);
      const arrived = () => held.replays;
      const isWhole =
        since !== null &&
        canAsk(connection) &&
        (await askHistory(connection, channel, since, { clock: context.clock, signal, arrived }));
      return since === null || isWhole || this.#reachesBack(held.replays, since);
    } finally {
      this.#held.delete(room);
      this.#release(held, since);
    }
  }

  /** Delivers what was held, the past first. */
  #release({ live, replays }: Held, since: Millis | null): void {
    const { context, intake } = this.#options;
    const now = context.clock.now();
    this.#past(
      replays.flatMap(({ lines }) => lines),
      since,
      now,
    );
    for (const { line, at } of live) {
      const event = this.#eventOf(line, at);
      if (event !== null) intake.push(event, at);
    }
  }

  /** Lines of the past: messages if we listened before them, else context. */
  #past(lines: readonly IrcLine[], since: Millis | null, now: Millis): void {
    const { receiver, intake } = this.#options;
    const wanted = lines.filter(
      ({ tags }) => since === null || (sentAtOf(tags) ?? 0) >= since - replaySlackMs,
    );
    const messages = wanted
      .map((line) => messageOf(line, receiver, now))
      .filter((message) => message !== null);
    const [first] = messages;
    if (first === undefined) return;
    if (since === null) intake.push({ type: "history", history: historyOf(first, messages) }, now);
    else for (const message of messages) intake.push({ type: "message", message }, now);
  }

  /** A replay that nobody waits for, such as a bouncer's. */
  #replayed(replay: Replay, at: Millis): void {
    const held = this.#held.get(this.#options.chats.fold(replay.room));
    if (held === undefined) this.#past(replay.lines, 0, at);
    else held.replays.push(replay);
  }

  #refused(join: IrcJoin, answer: readonly IrcLine[], since: Millis | null): void {
    const { context, chats, onChange } = this.#options;
    const { fold } = chats;
    const line = answer.find(
      ({ command, params }) =>
        refusals.has(command) && fold(params[1] ?? "") === fold(join.channel),
    );
    const why = line === undefined ? "no reason given" : `${line.command} ${reasonOf(line)}`;
    if (this.#absent.get(join.channel) !== why)
      context.log("warn", "irc.join-refused", { room: join.channel, why });
    this.#absent.set(join.channel, why);
    this.#later(join, since ?? context.clock.now());
    onChange();
  }

  /** Somebody left; if it is us, we come back. */
  #removed({ command, params, source }: IrcLine, at: Millis): void {
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
    this.#later(join, at);
    onChange();
  }

  /** Joins again after a pause that grows. */
  #later(join: IrcJoin, since: Millis): void {
    const { context, connection, onChange } = this.#options;
    const tries = this.#tries.get(join.channel) ?? 0;
    this.#tries.set(join.channel, tries + 1);
    const pause = Math.min(rejoinMsMax, rejoinMsMin * 2 ** Math.min(tries, 10));
    const timer = context.clock.setTimer(context.clock.now() + pause, () => {
      this.#timers.delete(timer);
      if (!connection.isOpen) return;
      void this.#enter(join, since).then(
        (whole) => {
          if (!whole) this.#reportGap(since, [join.channel]);
          onChange();
        },
        (error: unknown) => {
          // The connection is gone, and with it this try.
          if (!(error instanceof IrcLostError) && connection.isOpen) throw error;
        },
      );
    });
    this.#timers.add(timer);
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
    const to = context.clock.now();
    this.#gap = { from, to, rooms };
    const seconds = Math.round((to - from) / 1_000);
    context.log("warn", "irc.gap", { rooms, from: isoOf(from), to: isoOf(to), seconds });
  }
}

const isoOf = (time: Millis): string => new Date(time).toISOString();

function historyOf(first: Inbound, messages: readonly Inbound[]) {
  const { channel, account, chat, thread } = first;
  return { channel, account, chat, thread, messages: messages.slice(-limits.historyCountMax) };
}
