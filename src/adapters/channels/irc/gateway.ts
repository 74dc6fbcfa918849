/**
 * The life of an IRC account
 * ==========================
 * Connects, logs in, joins its rooms, listens, and connects again with a growing pause when that ends.
 * What the server sends is delivered in order; while the intake is full, the connection is read no
 * further. The time until which the account has listened is stored with each message and once a
 * minute, so that the time in which it did not is known.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Millis } from "../../../domain/message.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { within } from "../../../domain/ports/within.ts";
import { createIntake, type Intake } from "../shared/intake.ts";
import { keepListening } from "../shared/listening.ts";
import type { IrcChats } from "./chats.ts";
import { type IrcConnection, openConnection } from "./client.ts";
import type { IrcAccountConfig } from "./config.ts";
import { IrcLostError } from "./errors.ts";
import { introduce } from "./login.ts";
import type { Receiver } from "./normalise.ts";
import { cursorName, cursorOf, readCursor } from "./progress.ts";
import { type ArrivedLine, IrcRooms } from "./rooms.ts";
import type { IrcLine } from "./wire.ts";

type Context = ChannelContext<IrcAccountConfig>;

/** The connection of an account; null: there is none now. */
export interface IrcLink {
  connection: IrcConnection | null;
}

const tickMs = 60_000;
/** For what waits, when the account stops. */
const settleMsMax = 1_000;

/** Listens until the signal aborts. Rejects only when the server refuses the login for good. */
export async function receive(
  link: IrcLink,
  context: Context,
  chats: IrcChats,
  signal: AbortSignal,
): Promise<void> {
  const run = new Run(link, context, chats, signal);
  const isLost = (error: unknown) => error instanceof EarshotError || error instanceof IrcLostError;
  await keepListening(
    { listen: () => run.listen(), wasLive: () => run.wasLive, isLost },
    context,
    signal,
  );
  await run.end();
}

class Run {
  readonly #link: IrcLink;
  readonly #context: Context;
  readonly #chats: IrcChats;
  readonly #signal: AbortSignal;
  readonly #delivering = new AbortController();
  readonly #intake: Intake;
  readonly #receiver: Omit<Receiver, "connection">;
  #rooms: IrcRooms | null = null;
  /** What came before there are rooms to take it. */
  #early: ArrivedLine[] = [];
  #identity: string | null = null;
  /** Until when the account has listened, in this run or an earlier one; null: never. */
  #heardAt: Millis | null = null;
  #loginNote: string | null = null;
  wasLive = false;

  constructor(link: IrcLink, context: Context, chats: IrcChats, signal: AbortSignal) {
    this.#link = link;
    this.#context = context;
    this.#chats = chats;
    this.#signal = signal;
    let count = 0;
    this.#receiver = {
      account: context.accountId,
      chats,
      nextId: () => {
        count += 1;
        return `${context.clock.now().toString(36)}-${count}`;
      },
    };
    this.#intake = createIntake({
      context,
      channel: "irc",
      cursorAt: (arrived) => cursorOf(arrived, chats),
      onFull: (full) => this.#link.connection?.pause(full),
      signal: this.#delivering.signal,
    });
  }

  /** One connection, from its beginning to its end. */
  async listen(): Promise<void> {
    const { config, clock, log } = this.#context;
    this.#chats.clear();
    this.#early = [];
    const connection = await openConnection(
      { config, clock, log, onLine: (line, on) => this.#onLine(line, on) },
      this.#signal,
    );
    const tick = { timer: clock.setTimer(clock.now() + tickMs, () => onTick()) };
    const onTick = () => {
      this.#onTick(connection);
      tick.timer = clock.setTimer(clock.now() + tickMs, onTick);
    };
    try {
      await this.#settleIn(connection);
      throw await this.#untilClosed(connection);
    } finally {
      clock.clearTimer(tick.timer);
      this.#link.connection = null;
      this.#rooms?.leave();
      this.#rooms = null;
      if (this.wasLive) this.#heardAt = connection.heardAt;
      if (this.#signal.aborted) connection.quit();
      else connection.destroy();
    }
  }

  /** Stores what is left; what cannot be stored in time is lost, as it would be in a crash. */
  async end(): Promise<void> {
    if (this.#heardAt !== null) this.#intake.mark(this.#heardAt);
    await within(this.#context.clock, settleMsMax, this.#intake.settled());
    this.#delivering.abort();
  }

  async #settleIn(connection: IrcConnection): Promise<void> {
    const { context, chats } = { context: this.#context, chats: this.#chats };
    this.#loginNote = await introduce(connection, context, this.#signal);
    chats.fold = connection.fold;
    if (this.#identity !== connection.id) {
      this.#heardAt ??= await this.#load(connection);
      // A bot without an account gets another id with another address.
      await context.loadCursor(connection.id, cursorName(context.config));
      this.#identity = connection.id;
    }
    const rooms = new IrcRooms({
      context,
      chats,
      intake: this.#intake,
      receiver: { ...this.#receiver, connection },
      connection,
      signal: this.#signal,
      onChange: () => this.#report(connection),
    });
    this.#rooms = rooms;
    this.#link.connection = connection;
    await rooms.enter(this.#heardAt, this.#early.splice(0));
    this.wasLive = true;
    // From now on it listens: also if it ends before somebody speaks.
    this.#intake.mark(connection.heardAt);
    this.#report(connection);
  }

  /** Until when the account has listened in an earlier run, wherever that was; null: never. */
  async #load(connection: IrcConnection): Promise<Millis | null> {
    const context = this.#context;
    const stored =
      (await context.loadCursor(connection.id, cursorName(context.config))) ??
      // As versions before this one stored it.
      (await context.loadCursor(connection.id));
    return readCursor(stored, this.#chats, context.log);
  }

  #onLine(line: IrcLine, connection: IrcConnection): void {
    const arrived = { line, at: this.#context.clock.now(), heardAt: connection.heardAt };
    if (this.#rooms !== null) this.#rooms.onLine(arrived);
    else if (this.#early.length < limits.ircEarlyLinesMax) this.#early.push(arrived);
    if (line.command === "NICK" && this.wasLive) this.#report(connection);
    // Who had our nick may have given it up.
    const { fold } = connection;
    const wanted = fold(this.#context.config.nick);
    const isFree = line.command === "QUIT" || line.command === "NICK";
    if (isFree && fold(line.source.nick) === wanted) this.#takeNick(connection);
  }

  #onTick(connection: IrcConnection): void {
    this.#takeNick(connection);
    if (this.wasLive && this.#link.connection === connection) this.#intake.mark(connection.heardAt);
  }

  #takeNick(connection: IrcConnection): void {
    const { nick } = this.#context.config;
    if (connection.self.nick !== nick) connection.write(`NICK ${nick}`);
  }

  #report(connection: IrcConnection): void {
    if (this.#link.connection !== connection || !connection.isOpen || !this.wasLive) return;
    const { nick } = this.#context.config;
    const own = connection.self.nick;
    const notes = [
      ...(own === nick ? [] : [`as ${own}, because ${nick} is in use`]),
      ...(this.#loginNote === null ? [] : [this.#loginNote]),
      ...(this.#rooms?.notes ?? []),
    ];
    this.#context.reportState("live", notes.length === 0 ? undefined : notes.join("; "));
  }

  /** Why it ended. */
  async #untilClosed(connection: IrcConnection): Promise<EarshotError> {
    const stop = () => connection.quit();
    this.#signal.addEventListener("abort", stop);
    if (this.#signal.aborted) stop();
    try {
      return await connection.closed;
    } finally {
      this.#signal.removeEventListener("abort", stop);
    }
  }
}
