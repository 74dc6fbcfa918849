/**
 * The life of a Discord account
 * =============================
 * Finds out who the bot is, connects to the gateway, and handles what comes one by one, in order. The
 * session and its sequence number are stored with each message, so a restart goes on behind the last
 * durable one. While the intake is full, events wait here; when too many do, the connection is closed
 * and resumed later. Where the session is lost, messages are fetched by REST before anything newer.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { within } from "../../../domain/ports/within.ts";
import { createIntake, type Intake } from "../shared/intake.ts";
import type { DiscordChats, DiscordSelf } from "./chats.ts";
import { nameOf } from "./chats.ts";
import type { DiscordClient } from "./client.ts";
import type { DiscordAccountConfig } from "./config.ts";
import { refusalOf } from "./errors.ts";
import { type EventsOptions, eventsOf, isHeard, readAs } from "./events.ts";
import { answerInteraction, offerCommands } from "./interactions.ts";
import { type Line, openLine, type Session } from "./line.ts";
import { atMessage, cursorOf, type Progress, readCursor, withDirect } from "./progress.ts";
import { caughtUp, directs, Recovery } from "./recovery.ts";
import {
  applicationSchema,
  type Dispatch,
  gatewaySchema,
  guildSchema,
  interactionSchema,
  readySchema,
  selfSchema,
  snowflakeAt,
  type WireGateway,
} from "./wire.ts";

type Context = ChannelContext<DiscordAccountConfig>;

const connectMsMax = 10_000;
const pauseMsMin = 1_000;
const pauseMsMax = 60_000;
/** A connection that lasted so long was a good one. */
const goodMsMin = 60_000;
const tickMs = 60_000;
/** For what waits, when the account stops. */
const settleMsMax = 1_000;
/** Events that wait; a bot's servers all come at once. */
const waitingMax = 20 * limits.waitingEventsMax;

/** The bot, its application and what that may hear; null: Discord does not say. */
export async function whoAmI(client: DiscordClient, signal: AbortSignal) {
  const options = { what: "log in", kind: "connect", signal, msMax: connectMsMax } as const;
  const user = await client.ask("GET", "/users/@me", selfSchema, options);
  const application = await client.ask("GET", "/applications/@me", applicationSchema, options);
  const self: DiscordSelf = { id: user.id, username: user.username, name: nameOf(user) };
  return { self, application };
}

/** Listens until the signal aborts. Rejects only when Discord will not have the bot. */
export async function receive(
  client: DiscordClient,
  context: Context,
  chats: DiscordChats,
  signal: AbortSignal,
): Promise<void> {
  const run = new Run(client, context, chats, signal);
  try {
    await run.listen();
  } finally {
    await run.end();
  }
}

class Run {
  readonly #client: DiscordClient;
  readonly #context: Context;
  readonly #chats: DiscordChats;
  readonly #signal: AbortSignal;
  readonly #delivering = new AbortController();
  readonly #intake: Intake;
  readonly #events: EventsOptions;
  readonly #recovery: Recovery;
  readonly #queue: Dispatch[] = [];
  /** What the cursor is behind what was pushed, by number. */
  readonly #cursors = new Map<number, Progress>();
  #pushed = 0;
  #pumping = false;
  #isFull = false;
  #line: Line | null = null;
  /** What was received; the queue has the rest of it. */
  #received: Session | null = null;
  /** What was handled; null: the account has never been live. */
  #progress: Progress | null = null;
  #applicationId = "";
  #failures = 0;
  #connections = 0;
  #liveSince: number | null = null;
  #hasOffered = false;
  #fail: (error: EarshotError) => void = () => undefined;

  constructor(client: DiscordClient, context: Context, chats: DiscordChats, signal: AbortSignal) {
    this.#client = client;
    this.#context = context;
    this.#chats = chats;
    this.#signal = signal;
    const receiver = { account: context.accountId, chats };
    this.#events = { context, client, receiver, signal };
    this.#intake = createIntake({
      context,
      channel: "discord",
      cursorAt: (count) => this.#cursorAt(count),
      onFull: (full) => {
        this.#isFull = full;
        if (!full) void this.#pump();
      },
      signal: this.#delivering.signal,
    });
    this.#recovery = new Recovery(this.#events, (events) => this.#push(events));
  }

  async listen(): Promise<void> {
    const gateway = await this.#logIn();
    if (gateway === null) return;
    const { config, log, clock } = this.#context;
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    const stopped = new Promise<void>((resolve) => {
      if (this.#signal.aborted) resolve();
      this.#signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const tick = { timer: clock.setTimer(clock.now() + tickMs, () => onTick()) };
    const onTick = () => {
      this.#mark();
      tick.timer = clock.setTimer(clock.now() + tickMs, onTick);
    };
    try {
      this.#line = await openLine({
        config,
        gateway,
        log,
        nextSession: () => this.#nextSession(),
        onForgotten: () => {
          this.#received = null;
        },
        onDispatch: (dispatch) => this.#onDispatch(dispatch),
        onClosed: (code) => this.#onClosed(code),
      });
      await Promise.race([failed, stopped]);
    } finally {
      clock.clearTimer(tick.timer);
      const line = this.#line;
      this.#line = null;
      if (line !== null)
        await within(
          clock,
          settleMsMax,
          line.close(false).catch(() => undefined),
        );
    }
  }

  /** Stores what is left; what cannot be stored in time comes again when the session is resumed. */
  async end(): Promise<void> {
    this.#mark();
    await within(this.#context.clock, settleMsMax / 2, this.#intake.settled());
    this.#delivering.abort();
  }

  /** Null: it was stopped. */
  async #logIn(): Promise<WireGateway | null> {
    const signal = this.#signal;
    const { log } = this.#context;
    return this.#insist(async () => {
      const { self, application } = await whoAmI(this.#client, signal);
      this.#chats.self = self;
      this.#applicationId = application.id;
      this.#progress ??= readCursor(await this.#context.loadCursor(self.id), log);
      this.#received ??= this.#progress?.session ?? null;
      const options = { what: "connect", kind: "connect", signal, msMax: connectMsMax } as const;
      const gateway = await this.#client.ask("GET", "/gateway/bot", gatewaySchema, options);
      const { remaining, reset_after: retryAfterMs } = gateway.session_start_limit;
      if (remaining > 0 || this.#received !== null) return gateway;
      throw new EarshotError(
        "EAR_CHANNEL_RATE",
        "Cannot connect at Discord: the bot has logged in too often today",
        { retryAfterMs },
      );
    }, true);
  }

  /** Does it until it works, with a growing pause. Null: it was stopped. */
  async #insist<Result>(work: () => Promise<Result>, isLogin = false): Promise<Result | null> {
    const { clock, random, reportState, log } = this.#context;
    for (let failures = 0; !this.#signal.aborted; failures += 1) {
      try {
        return await work();
      } catch (error) {
        if (this.#signal.aborted) return null;
        if (!(error instanceof EarshotError) || error.disposition !== "retry") throw error;
        if (isLogin) reportState("backing-off", error.message);
        else if (failures === 0) log("warn", "discord.lookup-failed", { error: error.code });
        const grown = Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(failures, 10));
        const pause = Math.max(grown * (0.5 + random.next() / 2), error.retryAfterMs ?? 0);
        await pauseFor(clock, pause, this.#signal);
        if (isLogin && !this.#signal.aborted) reportState("connecting");
      }
    }
    return null;
  }

  async #nextSession(): Promise<Session | null> {
    const { clock, random, reportState } = this.#context;
    this.#connections += 1;
    if (this.#connections > 1) {
      if (this.#failures > 0) {
        const grown = Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(this.#failures - 1, 10));
        await pauseFor(clock, grown * (0.5 + random.next() / 2), this.#signal);
      }
      this.#failures += 1;
      while (this.#queue.length > waitingMax / 2 && !this.#signal.aborted)
        await pauseFor(clock, pauseMsMin, this.#signal);
      if (!this.#signal.aborted) reportState(this.#progress === null ? "connecting" : "resuming");
    }
    return this.#received;
  }

  #onClosed(code: number): void {
    const { clock, reportState } = this.#context;
    const refusal = refusalOf(code);
    if (refusal !== null) {
      this.#fail(refusal);
      return;
    }
    const lasted = this.#liveSince === null ? 0 : clock.monotonic() - this.#liveSince;
    if (lasted > goodMsMin) this.#failures = 0;
    this.#liveSince = null;
    reportState("backing-off", `Discord closed the connection (${code})`);
  }

  #onDispatch(dispatch: Dispatch): void {
    if (dispatch.t === "READY") {
      const ready = readAs(readySchema, dispatch, this.#context);
      if (ready === null) return;
      const { session_id: id, resume_gateway_url: url } = ready;
      this.#received = { id, url, seq: dispatch.s };
    } else if (this.#received !== null && dispatch.s > this.#received.seq)
      this.#received = { ...this.#received, seq: dispatch.s };
    if (dispatch.t === "INTERACTION_CREATE") this.#answer(dispatch);
    this.#queue.push(dispatch);
    if (this.#queue.length === waitingMax) void this.#line?.close(true).catch(() => undefined);
    void this.#pump();
  }

  /** At once: Discord waits 3 s. */
  #answer(dispatch: Dispatch): void {
    const read = interactionSchema.safeParse(dispatch.d);
    if (!read.success || !isHeard(this.#context.config, read.data.guild_id)) return;
    const { id } = this.#chats.self;
    void answerInteraction(this.#client, this.#context, read.data, id, this.#signal);
  }

  /** Handles what waits, one by one. */
  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#queue.length > 0 && !this.#isFull && !this.#signal.aborted) {
        const dispatch = this.#queue[0] as Dispatch;
        await this.#insist(() => this.#handle(dispatch));
        this.#queue.shift();
      }
    } catch (error) {
      const why = error instanceof EarshotError ? error : null;
      this.#fail(
        why?.disposition === "terminal"
          ? why
          : new EarshotError("EAR_ASSERT", "Cannot handle an event of Discord", { cause: error }),
      );
    } finally {
      this.#pumping = false;
    }
  }

  async #handle(dispatch: Dispatch): Promise<void> {
    const { context, receiver } = this.#events;
    switch (dispatch.t) {
      case "READY":
        await this.#onReady(dispatch);
        break;
      case "RESUMED":
        this.#isLive();
        break;
      case "GUILD_CREATE": {
        const guild = readAs(guildSchema, dispatch, context);
        if (guild === null || guild.unavailable === true) break;
        receiver.chats.setGuild(guild);
        if (this.#progress === null || !isHeard(context.config, guild.id)) break;
        await this.#recovery.ofGuild(guild, this.#progress);
        this.#progress = caughtUp(this.#progress, guild.id);
        break;
      }
      case "GUILD_DELETE":
        // Unavailable for some time, or left for good; its names come again.
        break;
      default: {
        const session = this.#progress?.session?.id ?? "";
        const found = await eventsOf(dispatch, session, this.#events);
        for (const event of found.slice(0, -1)) this.#push([event]);
        this.#advance(dispatch.s);
        this.#push(found.slice(-1));
        return;
      }
    }
    this.#advance(dispatch.s);
  }

  async #onReady(dispatch: Dispatch): Promise<void> {
    const ready = readAs(readySchema, dispatch, this.#context);
    if (ready === null) return;
    const now = this.#context.clock.now();
    const session = { id: ready.session_id, url: ready.resume_gateway_url, seq: dispatch.s };
    const earlier = this.#progress;
    this.#isLive();
    if (earlier === null) {
      const since = snowflakeAt(now);
      this.#progress = { session, heard: now, since, behind: null, directs: [] };
      this.#mark();
      return;
    }
    const guilds = ready.guilds.map(({ id }) => id);
    const heard = guilds.filter((id) => isHeard(this.#context.config, id));
    const repeated = earlier.session?.id === session.id;
    this.#progress = repeated ? earlier : this.#recovery.begin({ ...earlier, session }, heard, now);
    await this.#recovery.ofDirects(this.#progress);
    this.#progress = caughtUp(this.#progress, directs);
  }

  #isLive(): void {
    const { config, clock, reportState } = this.#context;
    const note = config.messageContent
      ? undefined
      : "without MESSAGE CONTENT: hears only mentions and direct messages";
    reportState("live", note);
    this.#liveSince = clock.monotonic();
    if (this.#hasOffered) return;
    this.#hasOffered = true;
    void offerCommands(this.#client, this.#context, this.#applicationId, this.#signal);
  }

  #advance(seq: number): void {
    const progress = this.#progress;
    if (progress === null) return;
    const { session } = progress;
    const at = session === null || session.seq >= seq ? session : { ...session, seq };
    this.#progress = { ...progress, session: at, heard: this.#context.clock.now() };
  }

  #push(events: Awaited<ReturnType<typeof eventsOf>>): void {
    for (const event of events) {
      if (event.type === "message" && this.#progress !== null) {
        const { id, chat } = event.message;
        if (/^\d+$/.test(id)) this.#progress = atMessage(this.#progress, id);
        if (chat.kind === "direct") this.#progress = withDirect(this.#progress, chat.id);
      }
      this.#intake.push(event, this.#count());
    }
  }

  /** A number for what the cursor is now. */
  #count(): number {
    this.#pushed += 1;
    if (this.#progress !== null) this.#cursors.set(this.#pushed, this.#progress);
    return this.#pushed;
  }

  #mark(): void {
    if (this.#progress !== null) this.#intake.mark(this.#count());
  }

  #cursorAt(count: number): string {
    const progress = this.#cursors.get(count) ?? (this.#progress as Progress);
    for (const earlier of this.#cursors.keys()) if (earlier < count) this.#cursors.delete(earlier);
    return cursorOf(progress);
  }
}
