/**
 * The life of an XMPP account
 * ===========================
 * Connects, logs in, enters its rooms, listens, and connects again with a growing pause when that ends.
 * What the server sends is delivered in order; while the intake is full, the connection is read no
 * further. A server that has been silent is asked whether it is there (XEP-0199).
 */
import type { Element } from "@xmpp/client";
import { EarshotError } from "../../../domain/errors.ts";
import type { Millis } from "../../../domain/message.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { within } from "../../../domain/ports/within.ts";
import { keepListening } from "../shared/listening.ts";
import type { XmppChats } from "./chats.ts";
import { askMsMax, openConnection, type XmppConnection } from "./client.ts";
import type { XmppAccountConfig } from "./config.ts";
import { XmppLostError, XmppRefusedError } from "./errors.ts";
import { Archives } from "./history.ts";
import { XmppIntake } from "./intake.ts";
import { bareOf } from "./names.ts";
import type { Receiver } from "./normalise.ts";
import { Progress } from "./progress.ts";
import { XmppRooms } from "./rooms.ts";
import { spaces } from "./spaces.ts";
import type { XmppMessage } from "./wire.ts";

type Context = ChannelContext<XmppAccountConfig>;

/** The connection of an account; null: there is none now. */
export interface XmppLink {
  connection: XmppConnection | null;
}

/** For what waits, when the account stops. */
const settleMsMax = 1_000;

/** Listens until the signal aborts. Rejects only when the server refuses the login for good. */
export async function receive(
  link: XmppLink,
  context: Context,
  chats: XmppChats,
  signal: AbortSignal,
): Promise<void> {
  const run = new Run(link, context, chats, signal);
  await keepListening(
    { listen: (failures) => run.listen(failures), wasLive: () => run.wasLive, isLost: isOfLine },
    context,
    signal,
  );
  await run.end();
}

/** Errors after which it is tried again, unless they are terminal. */
const isOfLine = (error: unknown): error is Error =>
  error instanceof EarshotError ||
  error instanceof XmppLostError ||
  error instanceof XmppRefusedError;

class Run {
  readonly #link: XmppLink;
  readonly #context: Context;
  readonly #chats: XmppChats;
  readonly #signal: AbortSignal;
  readonly #delivering = new AbortController();
  readonly #progress = new Progress();
  readonly #archives = new Archives();
  readonly #intake: XmppIntake;
  #rooms: XmppRooms | null = null;
  #receiver: Receiver | null = null;
  /** Direct messages before those of the past; null: nothing is held. */
  #held: { readonly message: XmppMessage; readonly at: Millis }[] | null = null;
  #isIdentified = false;
  #isAsking = false;
  /** Whether this connection is in its rooms and has read what they said before. */
  #isSettled = false;
  #ids = 0;
  wasLive = false;

  constructor(link: XmppLink, context: Context, chats: XmppChats, signal: AbortSignal) {
    this.#link = link;
    this.#context = context;
    this.#chats = chats;
    this.#signal = signal;
    const onFull = (full: boolean) => this.#link.connection?.pause(full);
    this.#intake = new XmppIntake(context, this.#progress, onFull, this.#delivering.signal);
  }

  /** One connection, from its beginning to its end. */
  async listen(tries: number): Promise<void> {
    const { config, clock, log } = this.#context;
    const onStanza = (element: Element, on: XmppConnection) => this.#onStanza(element, on);
    const connection = await openConnection({ config, clock, log, tries, onStanza }, this.#signal);
    const ticks = { timer: clock.setTimer(clock.now() + config.pingIntervalMs, () => onTick()) };
    const onTick = () => {
      void this.#onTick(connection);
      ticks.timer = clock.setTimer(clock.now() + config.pingIntervalMs, onTick);
    };
    try {
      await this.#settleIn(connection);
      this.#isSettled = true;
      throw await this.#untilClosed(connection);
    } finally {
      clock.clearTimer(ticks.timer);
      this.#link.connection = null;
      this.#rooms?.leave();
      this.#rooms = null;
      // One that broke before has not listened to all of them.
      if (this.#isSettled) this.#progress.heardAt = connection.heardAt;
      this.#isSettled = false;
      if (this.#signal.aborted) connection.quit();
      else connection.destroy();
    }
  }

  /** Stores what is left; what cannot be stored in time is lost, as it would be in a crash. */
  async end(): Promise<void> {
    if (this.#progress.heardAt !== null) this.#intake.mark(this.#progress.heardAt);
    await within(this.#context.clock, settleMsMax, this.#intake.settled());
    this.#delivering.abort();
  }

  async #settleIn(connection: XmppConnection): Promise<void> {
    const { accountId } = this.#context;
    this.#chats.clear();
    this.#held = [];
    if (!this.#isIdentified) {
      this.#progress.read(await this.#context.loadCursor(connection.bare), this.#context.log);
      this.#isIdentified = true;
    }
    const since = this.#progress.heardAt;
    connection.features = await this.#featuresOf(connection);
    const receiver: Receiver = {
      account: accountId,
      self: connection.bare,
      hasStanzaIds: connection.features.has(spaces.stanzaId),
      chats: this.#chats,
      nextId: () => {
        this.#ids += 1;
        return `${this.#context.clock.now().toString(36)}-${this.#ids}`;
      },
    };
    this.#receiver = receiver;
    const rooms = new XmppRooms({
      context: this.#context,
      chats: this.#chats,
      intake: this.#intake,
      progress: this.#progress,
      archives: this.#archives,
      receiver,
      connection,
      signal: this.#signal,
      onChange: () => this.#report(connection),
      onGap: (from, room) => this.#reportGap(from, [room]),
    });
    this.#rooms = rooms;
    connection.send(connection.element("presence"));
    this.#link.connection = connection;
    const missing = await rooms.enter(since);
    const isWhole = await this.#readDirect(connection, receiver, since);
    // Of direct chats nobody knows which ones: it may concern any.
    if (since !== null && !isWhole) this.#reportGap(since, []);
    else if (since !== null && missing.length > 0) this.#reportGap(since, missing);
    this.wasLive = true;
    this.#intake.mark(connection.heardAt);
    this.#report(connection);
  }

  async #featuresOf(connection: XmppConnection): Promise<ReadonlySet<string>> {
    try {
      return await connection.featuresOf(connection.bare, this.#signal);
    } catch (error) {
      if (error instanceof XmppRefusedError) return new Set();
      throw error;
    }
  }

  /** Direct messages of the time away, then those of now; false if some may be missing. */
  async #readDirect(
    connection: XmppConnection,
    receiver: Receiver,
    since: Millis | null,
  ): Promise<boolean> {
    const archive = connection.bare;
    const known = this.#progress.lastOf(archive);
    const ids = new Set<string>();
    const hasArchive = connection.features.has(spaces.archive);
    const now = this.#context.clock.now();
    let isWhole = since === null;
    try {
      if (hasArchive && (since === null || known === null)) {
        const [last] = await this.#archives.newest(connection, archive, 1, this.#signal);
        this.#intake.push(null, now, archive, last?.id ?? "");
        isWhole = true;
      } else if (hasArchive && since !== null && known !== null)
        isWhole = await this.#archives.readBehind(
          connection,
          archive,
          { after: known, since },
          async (results) => {
            for (const result of results) {
              ids.add(result.id);
              const event = this.#intake.archived(result, receiver);
              this.#intake.push(event, now, archive, result.id);
            }
            await this.#intake.drained();
          },
          this.#signal,
        );
    } catch (error) {
      if (!(error instanceof XmppRefusedError)) throw error;
    }
    const held = this.#held ?? [];
    this.#held = null;
    for (const { message, at } of held)
      if (!message.stanzaIds.some(({ by, id }) => by === archive && ids.has(id)))
        this.#intake.live(message, receiver, at);
    return isWhole;
  }

  #onStanza(element: Element, connection: XmppConnection): void {
    const at = this.#context.clock.now();
    if (element.name === "presence") {
      this.#rooms?.onPresence(element, at);
      return;
    }
    if (this.#archives.take(element, connection.bare)) return;
    const message = this.#intake.read(element);
    if (message === null || message.type === "error" || this.#receiver === null) return;
    const isOfRoom = this.#chats.rooms.has(bareOf(message.from));
    if (message.type === "groupchat" || (isOfRoom && !message.from.includes("/")))
      this.#rooms?.onMessage(message, element, at);
    else if (this.#held === null) this.#intake.live(message, this.#receiver, at);
    else this.#held.push({ message, at });
  }

  /** Asks who has been silent, and takes a note of the time. */
  async #onTick(connection: XmppConnection): Promise<void> {
    const { clock, config } = this.#context;
    if (this.#isAsking || this.#intake.isFull || !connection.isOpen) return;
    this.#isAsking = true;
    try {
      const { pingIntervalMs } = config;
      if (clock.now() - connection.heardAt >= pingIntervalMs)
        await connection.ping(this.#signal, Math.min(pingIntervalMs, askMsMax));
      await this.#rooms?.askAll(clock.now(), config.pingIntervalMs);
      if (this.#isSettled && this.#link.connection === connection)
        this.#intake.mark(connection.heardAt);
    } catch (error) {
      if (!isOfLine(error)) throw error;
      connection.destroy("it has not answered for too long");
    } finally {
      this.#isAsking = false;
    }
  }

  #report(connection: XmppConnection): void {
    if (this.#link.connection !== connection || !connection.isOpen || !this.wasLive) return;
    const notes = this.#rooms?.notes ?? [];
    this.#context.reportState("live", notes.length === 0 ? undefined : notes.join("; "));
  }

  #reportGap(from: Millis, rooms: readonly string[]): void {
    const to = this.#context.clock.now();
    this.#context.reportGap({ from, to, rooms, lost: "messages" });
  }

  /** Why it ended. */
  async #untilClosed(connection: XmppConnection): Promise<EarshotError> {
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
