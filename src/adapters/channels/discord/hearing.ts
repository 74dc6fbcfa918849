/**
 * What is made of dispatches
 * ==========================
 * They are handled one by one, in order; while the intake is full, they wait here. The session and its
 * sequence number are stored with each message, so that a restart goes on behind the last durable one. Where
 * the session was lost, messages are fetched by REST before anything newer. Who connects, an account of its
 * own or a bot's client, is not known here.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { ChannelContext, TimerHandle } from "../../../domain/ports/index.ts";
import { backOff } from "../../../domain/ports/pause.ts";
import { within } from "../../../domain/ports/within.ts";
import { createIntake, type Intake } from "../shared/intake.ts";
import type { DiscordChats, DiscordSelf } from "./chats.ts";
import type { DiscordClient } from "./client.ts";
import type { DiscordAccountConfig } from "./config.ts";
import { type EventsOptions, eventsOf, isHeard, readAs } from "./events.ts";
import { answerInteraction, offerCommands } from "./interactions.ts";
import type { Session } from "./line.ts";
import { atMessage, cursorOf, type Progress, readCursor, withDirect } from "./progress.ts";
import { caughtUp, directs, Recovery } from "./recovery.ts";
import { type Dispatch, guildSchema, interactionSchema, readySchema, snowflakeAt } from "./wire.ts";

type Context = ChannelContext<DiscordAccountConfig>;

const backoff = { msMin: 1_000, msMax: 60_000 };
const tickMs = 60_000;
/** For what waits, when the account stops. */
const settleMsMax = 500;
/** Dispatches that wait; a bot's servers all come at once. */
export const waitingMax = 20 * limits.waitingEventsMax;

export interface HearingOptions {
  readonly client: DiscordClient;
  readonly context: Context;
  readonly chats: DiscordChats;
  readonly signal: AbortSignal;
  readonly onLive?: () => void;
  /** It cannot go on. */
  readonly onFailed: (error: EarshotError) => void;
}

export class Hearing {
  readonly #options: HearingOptions;
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
  /** What was handled; null: the account has never been live. */
  #progress: Progress | null = null;
  #applicationId = "";
  #hasOffered = false;
  #tick: TimerHandle | null = null;

  constructor(options: HearingOptions) {
    const { client, context, chats, signal } = options;
    this.#options = options;
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

  /** How many dispatches wait. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Up to where it was handled; null: it has never been live, or its session is gone. */
  get session(): Session | null {
    return this.#progress?.session ?? null;
  }

  get hasEntered(): boolean {
    return this.#tick !== null;
  }

  get isNew(): boolean {
    return this.#progress === null;
  }

  /** Who the bot is, before anything is taken. */
  async enter(self: DiscordSelf, applicationId: string): Promise<void> {
    const { context, chats } = this.#options;
    chats.self = self;
    this.#applicationId = applicationId;
    this.#progress ??= readCursor(await context.loadCursor(self.id), context.log);
    if (this.#tick === null && !this.#delivering.signal.aborted) this.#setTick();
  }

  take(dispatch: Dispatch): void {
    if (dispatch.t === "INTERACTION_CREATE") this.#answer(dispatch);
    this.#queue.push(dispatch);
    void this.#pump();
  }

  /** Stores what is left; what cannot be stored in time comes again when the session is resumed. */
  async end(): Promise<void> {
    const { clock } = this.#options.context;
    if (this.#tick !== null) clock.clearTimer(this.#tick);
    this.#mark();
    await within(clock, settleMsMax, this.#intake.settled());
    this.#delivering.abort();
  }

  #setTick(): void {
    const { clock } = this.#options.context;
    this.#tick = clock.setTimer(clock.now() + tickMs, () => {
      this.#mark();
      this.#setTick();
    });
  }

  /** At once: Discord waits 3 s. */
  #answer(dispatch: Dispatch): void {
    const { client, context, chats, signal } = this.#options;
    const read = interactionSchema.safeParse(dispatch.d);
    if (!read.success || !isHeard(context.config, read.data.guild_id)) return;
    void answerInteraction(client, context, read.data, chats.self.id, signal);
  }

  /** Handles what waits, one by one. */
  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    const { context, signal, onFailed } = this.#options;
    try {
      while (this.#queue.length > 0 && !this.#isFull && !signal.aborted) {
        const dispatch = this.#queue[0] as Dispatch;
        await insist(() => this.#handle(dispatch), context, signal);
        this.#queue.shift();
      }
    } catch (error) {
      const why = error instanceof EarshotError ? error : null;
      onFailed(
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
    const ready = readAs(readySchema, dispatch, this.#options.context);
    if (ready === null) return;
    const now = this.#options.context.clock.now();
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
    const heard = guilds.filter((id) => isHeard(this.#options.context.config, id));
    const repeated = earlier.session?.id === session.id;
    this.#progress = repeated ? earlier : this.#recovery.begin({ ...earlier, session }, heard, now);
    await this.#recovery.ofDirects(this.#progress);
    this.#progress = caughtUp(this.#progress, directs);
  }

  #isLive(): void {
    const { client, context, signal, onLive } = this.#options;
    const { config, reportState } = context;
    const note = config.messageContent
      ? undefined
      : "without MESSAGE CONTENT: hears only mentions and direct messages";
    reportState("live", note);
    onLive?.();
    if (this.#hasOffered) return;
    this.#hasOffered = true;
    void offerCommands(client, context, this.#applicationId, signal);
  }

  #advance(seq: number): void {
    const progress = this.#progress;
    if (progress === null) return;
    const { session } = progress;
    const at = session === null || session.seq >= seq ? session : { ...session, seq };
    this.#progress = { ...progress, session: at, heard: this.#options.context.clock.now() };
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

/**
 * Does it until it works, with a growing pause. Null: it was stopped.
 * @param isLogin whether that is a state of the account
 */
export async function insist<Result>(
  work: () => Promise<Result>,
  { clock, random, reportState, log }: Context,
  signal: AbortSignal,
  isLogin = false,
): Promise<Result | null> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof EarshotError) || error.disposition !== "retry") throw error;
      if (isLogin) reportState("backing-off", error.message);
      else if (failures === 0) log("warn", "discord.lookup-failed", { error: error.code });
      await backOff({ clock, random }, backoff, failures, signal, error.retryAfterMs);
      if (isLogin && !signal.aborted) reportState("connecting");
    }
  }
  return null;
}
