/**
 * The life of a Discord account
 * =============================
 * Finds out who the bot is, connects to the gateway, and hands on what comes (hearing.ts). When too much
 * waits there, the connection is closed and resumed later.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { backOff, pauseFor } from "../../../domain/ports/pause.ts";
import { within } from "../../../domain/ports/within.ts";
import type { DiscordChats, DiscordSelf } from "./chats.ts";
import { nameOf } from "./chats.ts";
import type { DiscordClient } from "./client.ts";
import type { DiscordAccountConfig } from "./config.ts";
import { refusalOf } from "./errors.ts";
import { readAs } from "./events.ts";
import { Hearing, insist, waitingMax } from "./hearing.ts";
import { type Line, openLine, type Session } from "./line.ts";
import {
  applicationSchema,
  type Dispatch,
  gatewaySchema,
  readySchema,
  selfSchema,
  type WireGateway,
} from "./wire.ts";

type Context = ChannelContext<DiscordAccountConfig>;

const connectMsMax = 10_000;
const backoff = { msMin: 1_000, msMax: 60_000 };
/** A connection that lasted so long was a good one. */
const goodMsMin = 60_000;
/** For the end of the connection. */
const closeMsMax = 1_000;

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
  readonly #signal: AbortSignal;
  readonly #hearing: Hearing;
  #line: Line | null = null;
  /** What was received; the rest of it waits to be handled. */
  #received: Session | null = null;
  #failures = 0;
  #connections = 0;
  #liveSince: number | null = null;
  #fail: (error: EarshotError) => void = () => undefined;

  constructor(client: DiscordClient, context: Context, chats: DiscordChats, signal: AbortSignal) {
    this.#client = client;
    this.#context = context;
    this.#signal = signal;
    this.#hearing = new Hearing({
      client,
      context,
      chats,
      signal,
      onLive: () => {
        this.#liveSince = context.clock.monotonic();
      },
      onFailed: (error) => this.#fail(error),
    });
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
      const line = this.#line;
      this.#line = null;
      if (line !== null)
        await within(
          clock,
          closeMsMax,
          line.close(false).catch(() => undefined),
        );
    }
  }

  end(): Promise<void> {
    return this.#hearing.end();
  }

  /** Null: it was stopped. */
  async #logIn(): Promise<WireGateway | null> {
    const signal = this.#signal;
    const logIn = async () => {
      const { self, application } = await whoAmI(this.#client, signal);
      await this.#hearing.enter(self, application.id);
      this.#received ??= this.#hearing.session;
      const options = { what: "connect", kind: "connect", signal, msMax: connectMsMax } as const;
      const gateway = await this.#client.ask("GET", "/gateway/bot", gatewaySchema, options);
      const { remaining, reset_after: retryAfterMs } = gateway.session_start_limit;
      if (remaining > 0 || this.#received !== null) return gateway;
      throw new EarshotError(
        "EAR_CHANNEL_RATE",
        "Cannot connect at Discord: the bot has logged in too often today",
        { retryAfterMs },
      );
    };
    return insist(logIn, this.#context, signal, true);
  }

  async #nextSession(): Promise<Session | null> {
    const { clock, reportState } = this.#context;
    this.#connections += 1;
    if (this.#connections > 1) {
      if (this.#failures > 0)
        await backOff(this.#context, backoff, this.#failures - 1, this.#signal);
      this.#failures += 1;
      while (this.#hearing.waiting > waitingMax / 2 && !this.#signal.aborted)
        await pauseFor(clock, backoff.msMin, this.#signal);
      if (!this.#signal.aborted) reportState(this.#hearing.isNew ? "connecting" : "resuming");
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
    this.#hearing.take(dispatch);
    if (this.#hearing.waiting === waitingMax) void this.#line?.close(true).catch(() => undefined);
  }
}
