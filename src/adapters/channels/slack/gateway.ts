/**
 * The life of a Slack account
 * ===========================
 * Signs in, reads what was said while it was away, listens, and connects again when the socket ends.
 * Slack closes each socket once in a while and says so before: then it connects again at once. After
 * failures the pause grows to a minute. An account that Slack posts to has no socket; it signs in and
 * reads what it has missed.
 */
import { ZodError } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { backOff } from "../../../domain/ports/pause.ts";
import { loadPackage } from "../shared/optional-package.ts";
import { pressEvent, slashEvent } from "./choices.ts";
import type { SlackClient } from "./client.ts";
import type { SlackAccountConfig } from "./config.ts";
import type { SlackDirectory, SlackSelf } from "./directory.ts";
import { SlackInbox, type SlackSocket, type SocketDelivery } from "./inbox.ts";
import { eventsOf, type Receiver } from "./normalise.ts";
import { SlackRecovery } from "./recovery.ts";
import {
  anyEventSchema,
  authSchema,
  type EventCallback,
  eventCallbackSchema,
  movedEventSchema,
  renamedEventSchema,
  userEventSchema,
} from "./wire.ts";

type Context = ChannelContext<SlackAccountConfig>;
type Fields = Readonly<Record<string, unknown>>;

const backoff = { msMin: 500, msMax: 60_000 };
/** A connection that lasted so long was a good one. */
const goodMsMin = 10_000;
const tickMs = 60_000;
/** Between two readings because of repeated posts. */
const catchUpMsMin = 300_000;
/** A dead connection is noticed within this time. */
const deadMsMax = 30_000;

/** The bot behind the token, and the scopes of the token where Slack says them. */
export async function whoAmI(
  client: SlackClient,
  signal: AbortSignal,
): Promise<{ readonly self: SlackSelf; readonly scopes: readonly string[] | null }> {
  const options = { kind: "connect", signal } as const;
  const auth = await client.call("auth.test", {}, options, authSchema);
  const { user_id: id, user, bot_id, team_id: teamId, response_metadata } = auth;
  const self = { id, botId: bot_id ?? null, teamId, name: user || id };
  return { self, scopes: response_metadata?.scopes ?? null };
}

/** One run of an account. */
export class SlackGateway {
  readonly #client: SlackClient;
  readonly #context: Context;
  readonly #signal: AbortSignal;
  readonly #directory: SlackDirectory;
  readonly #ignored = new Set<string>();
  readonly #recovery: SlackRecovery;
  readonly inbox: SlackInbox;
  #receiver: Receiver | null = null;
  #socket: SlackSocket | null = null;
  #isLive = false;
  #reading: AbortSignal | null = null;
  /** When the last post was taken, and when the histories were read because of a repeated one. */
  #postedAt = 0;
  #caughtUpAt = 0;

  constructor(
    client: SlackClient,
    context: Context,
    directory: SlackDirectory,
    signal: AbortSignal,
  ) {
    this.#client = client;
    this.#context = context;
    this.#directory = directory;
    this.#signal = signal;
    this.inbox = new SlackInbox(context, directory, signal);
    this.#recovery = new SlackRecovery({
      client,
      context,
      directory,
      inbox: this.inbox,
      signal,
    });
    this.inbox.before = (chat) => this.#recovery.before(chat);
  }

  /** Listens until the signal aborts. Rejects only when the login is refused for good. */
  async run(): Promise<void> {
    const { context, signal } = { context: this.#context, signal: this.#signal };
    let failures = 0;
    while (!signal.aborted) {
      const began = context.clock.monotonic();
      try {
        await this.#listen();
      } catch (error) {
        if (signal.aborted) break;
        if (!(error instanceof EarshotError) || error.disposition === "terminal") throw error;
        context.reportState("backing-off", error.message);
        await backOff(context, backoff, failures, signal, error.retryAfterMs);
        failures += 1;
        if (!signal.aborted)
          context.reportState(this.#receiver === null ? "connecting" : "resuming");
        continue;
      }
      if (signal.aborted) break;
      if (context.clock.monotonic() - began > goodMsMin) failures = 0;
      else if (failures > 0) await backOff(context, backoff, failures, signal);
      failures += 1;
      context.reportState("resuming");
    }
  }

  /** From signing in to the end of the connection. */
  async #listen(): Promise<void> {
    const { context, inbox } = { context: this.#context, inbox: this.inbox };
    const { self } = await whoAmI(this.#client, this.#signal);
    if (this.#receiver === null) {
      const stored = await context.loadCursor(self.id);
      inbox.unheardSince = inbox.load(stored);
      this.#receiver = {
        account: context.accountId,
        self,
        directory: this.#directory,
        signal: this.#signal,
      };
    }
    const recovering = new AbortController();
    const stop = () => recovering.abort();
    this.#signal.addEventListener("abort", stop);
    const ticks = this.#tick();
    try {
      this.#recovery.expect();
      const socket = await this.#connect();
      this.#socket = socket;
      inbox.heardUntil = null;
      this.#isLive = true;
      this.#reading = recovering.signal;
      this.#postedAt = context.clock.now();
      this.#recovery.begin(this.#receiver, recovering.signal);
      context.reportState("live");
      await this.#untilClosed(socket);
    } finally {
      this.#isLive = false;
      this.#socket = null;
      ticks.stop();
      stop();
      this.#signal.removeEventListener("abort", stop);
      await this.#recovery.ended();
      this.#deafen();
    }
  }

  /** From here on nothing is heard. */
  #deafen(): void {
    const now = this.#context.clock.now() - deadMsMax;
    if (this.inbox.heardUntil !== null) return;
    this.inbox.heardUntil = now;
    this.inbox.unheardSince ??= now;
  }

  async #connect(): Promise<SlackSocket> {
    const { config, clock } = this.#context;
    const { appToken } = config;
    if (appToken === undefined) return posted(this.#signal);
    const library = { platform: "Slack", name: "@slack/socket-mode", version: "^3.1.0" };
    const { openSocket } = await loadPackage(library, () => import("./socket.ts"));
    const options = {
      config,
      clock,
      onDelivery: (delivery: SocketDelivery) => this.#onDelivery(delivery),
      onUnreadable: (why: string) => this.#unreadable(why),
    };
    return openSocket(options, appToken, this.#signal);
  }

  async #untilClosed(socket: SlackSocket): Promise<void> {
    const stop = () => socket.close();
    this.#signal.addEventListener("abort", stop);
    if (this.#signal.aborted) stop();
    await socket.closed;
    this.#signal.removeEventListener("abort", stop);
  }

  /** Stores until when the account has listened, also when nothing is said. */
  #tick(): { stop(): void } {
    const { clock } = this.#context;
    const onTick = () => {
      if (this.#isLive) void this.inbox.deliver([], true).catch(() => undefined);
      timer = clock.setTimer(clock.now() + tickMs, onTick);
    };
    let timer = clock.setTimer(clock.now() + tickMs, onTick);
    return { stop: () => clock.clearTimer(timer) };
  }

  #onDelivery({ type, body, ack }: SocketDelivery): void {
    if (this.inbox.isFull) {
      // It is read from the history when the account has connected again.
      this.#context.log("warn", "slack.intake-full", {});
      this.#socket?.close();
      return;
    }
    void this.take(type, body).then(ack, () => undefined);
  }

  /** Takes what Slack has posted; rejects while the store accepts nothing. */
  async takePosted(type: string, body: Fields, isRepeated: boolean): Promise<void> {
    if (isRepeated) this.#catchUp();
    await this.take(type, body, true);
    this.#postedAt = this.#context.clock.now();
  }

  /**
   * Slack repeats a post three times and then drops it: where one is repeated, others may have been
   * dropped, so everything since the last one that was taken is read back.
   */
  #catchUp(): void {
    const { inbox } = this;
    const now = this.#context.clock.now();
    const isRecent = now - this.#caughtUpAt < catchUpMsMin;
    if (!this.#isLive || this.#receiver === null || this.#reading === null) return;
    if (isRecent || inbox.unheardSince !== null) return;
    this.#caughtUpAt = now;
    inbox.unheardSince = this.#postedAt;
    this.#recovery.expect();
    this.#recovery.begin(this.#receiver, this.#reading);
  }

  /**
   * Takes a delivery of the socket or a posted one; resolves when it is durable or of no interest.
   * With `once` it rejects while the store accepts nothing.
   */
  async take(type: string, body: Fields, once = false): Promise<void> {
    const receiver = this.#receiver;
    if (receiver === null)
      throw new EarshotError(
        "EAR_CHANNEL_UNAVAILABLE",
        "Cannot accept events: the bot's identity is not known yet. Send them again",
      );
    const read = this.#reader(type, body, receiver);
    if (read !== null) await this.inbox.take(read, once);
  }

  /** What a delivery means; null: nothing. */
  #reader(type: string, body: Fields, receiver: Receiver) {
    if (type === "slash_commands" || type === "interactive") {
      const made = () =>
        type === "interactive"
          ? pressEvent(body, receiver)
          : slashEvent(body, receiver, this.#context);
      return { chat: chatIn(body), read: () => this.#readable(async () => made()) };
    }
    if (type !== "events_api") {
      this.#ignore(type);
      return null;
    }
    const callback = eventCallbackSchema.safeParse(body);
    if (!callback.success) {
      this.#unreadable(`payload.${callback.error.issues[0]?.path.join(".")}`);
      return null;
    }
    const shown = shownTo(callback.data, receiver.self);
    if (shown === "others") return null;
    const { event } = callback.data;
    const chat = chatIn(event);
    const read = () => this.#readable(() => this.#read(event, receiver));
    if (shown === "us") return { chat, read };
    return {
      chat,
      read: async () =>
        chat !== null && (await this.#directory.isIn(chat, this.#signal)) ? await read() : [],
    };
  }

  async #read(event: Fields, receiver: Receiver): Promise<readonly ChannelEvent[]> {
    const { type, subtype } = anyEventSchema.parse(event);
    const directory = this.#directory;
    switch (type) {
      case "app_mention":
        // An app that hears all messages is sent each mention twice.
        if (this.inbox.hasSeen(String(event.channel), String(event.ts))) return [];
        return eventsOf(event, receiver);
      case "message":
      case "reaction_added":
      case "reaction_removed":
        return eventsOf(event, receiver);
      case "channel_rename":
      case "group_rename": {
        const { channel } = renamedEventSchema.parse(event);
        directory.rename(channel.id, channel.name);
        return [];
      }
      case "channel_id_changed": {
        const { old_channel_id: from, new_channel_id: to } = movedEventSchema.parse(event);
        directory.move(from, to);
        this.#context.log("warn", "slack.chat-moved", { from, to });
        await this.inbox.deliver([]);
        return [];
      }
      case "user_change":
      case "user_profile_changed":
        directory.forgetPerson(userEventSchema.parse(event).user.id);
        return [];
      default:
        this.#ignore(subtype == null ? type : `${type}.${subtype}`);
        return [];
    }
  }

  async #readable(read: () => Promise<readonly ChannelEvent[]>): Promise<readonly ChannelEvent[]> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ZodError)) throw error;
      this.#unreadable(error.issues[0]?.path.join(".") ?? "");
      return [];
    }
  }

  #unreadable(at: string): void {
    this.#context.log("warn", "slack.event-unreadable", { at: at.slice(0, 200) });
  }

  /** Kinds that say nothing here; each is logged once. */
  #ignore(kind: string): void {
    if (this.#ignored.has(kind) || this.#ignored.size >= 100 || !/^[a-z_.]{1,64}$/.test(kind))
      return;
    this.#ignored.add(kind);
    this.#context.log("info", "slack.event-ignored", { kind });
  }
}

/** In place of a socket, for an account that Slack posts to. */
function posted(signal: AbortSignal): SlackSocket {
  let close: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  if (signal.aborted) close();
  return { closed, close };
}

/**
 * An app that is installed in several workspaces gets the events of all of them. An event names one of those
 * who may see it, and no particular one: where that is a person of our workspace, it may be the bot as well.
 */
function shownTo({ authorizations }: EventCallback, self: SlackSelf): "us" | "others" | "unknown" {
  if (authorizations == null || authorizations.length === 0) return "us";
  const isUs = authorizations.some(
    ({ team_id, user_id }) => user_id === self.id || (user_id == null && team_id === self.teamId),
  );
  if (isUs) return "us";
  return authorizations.some(({ team_id }) => team_id === self.teamId) ? "unknown" : "others";
}

/** The conversation of a delivery, wherever its kind has it. */
function chatIn(fields: Fields): string | null {
  const named = (value: unknown): string | null => {
    if (typeof value === "string") return value;
    const id = (value as { id?: unknown } | null)?.id;
    return typeof id === "string" ? id : null;
  };
  const item = fields.item as { channel?: unknown } | null | undefined;
  return named(fields.channel) ?? named(fields.channel_id) ?? named(item?.channel) ?? null;
}
