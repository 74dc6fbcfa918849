/**
 * The connection to the gateway
 * =============================
 * One shard of discord.js. The library connects, beats, resumes and connects again by itself; each time
 * it asks here what session to go on from, and waits for the answer: that is where pauses are made, and
 * where the account decides. What arrives is handed on in the order of its sequence numbers.
 */
import type { IContextFetchingStrategy, SessionInfo, WebSocketShard } from "@discordjs/ws";
import type { Log } from "../../../domain/ports/index.ts";
import { loadGateway } from "./client.ts";
import type { DiscordAccountConfig } from "./config.ts";
import { type Dispatch, dispatchSchema, type WireGateway } from "./wire.ts";

/** What the gateway is asked to go on from. */
export interface Session {
  readonly id: string;
  readonly url: string;
  readonly seq: number;
}

export interface LineOptions {
  readonly config: DiscordAccountConfig;
  readonly gateway: WireGateway;
  readonly log: Log;
  /** Asked before each connection; it may take its time. Null: begin a new session. */
  nextSession(): Promise<Session | null>;
  /** The gateway does not know the session any more. */
  onForgotten(): void;
  onDispatch(dispatch: Dispatch): void;
  /** With a close code of https://discord.com/developers/docs/topics/opcodes-and-status-codes. */
  onClosed(code: number): void;
}

export interface Line {
  /** Ends the connection; the session can be resumed. `again`: and then does. */
  close(again: boolean): Promise<void>;
}

/** Not 1000 or 1001, with which the session would be over. */
const resumableCode = 4_200;
/**
 * What is heard (docs: Gateway, List of Intents): servers, their messages and reactions, direct messages
 * and reactions.
 */
const heardIntents = (1 << 0) | (1 << 9) | (1 << 10) | (1 << 12) | (1 << 13);
/** MESSAGE CONTENT, which is privileged. */
const contentIntent = 1 << 15;
const identifyWindowMs = 5_000;

/** Connects, and stays connected until it is closed. */
export async function openLine(options: LineOptions): Promise<Line> {
  const library = await loadGateway();
  const intents = heardIntents | (options.config.messageContent ? contentIntent : 0);
  // Known from READY on; what is received after it is counted by the library.
  let session: SessionInfo | null = null;
  let isClosed = false;
  let shard: WebSocketShard;
  const identified: number[] = [];
  const strategy: IContextFetchingStrategy = {
    options: {
      ...library.DefaultWebSocketManagerOptions,
      token: options.config.token,
      intents,
      shardCount: 1,
      gatewayInformation: options.gateway,
    },
    async retrieveSessionInfo() {
      if (isClosed) return new Promise<never>(() => undefined);
      // Idle: it is about to connect. Else it wants the number for a heartbeat.
      if (shard.status !== library.WebSocketShardStatus.Idle) return session;
      const next = await options.nextSession();
      if (isClosed) return new Promise<never>(() => undefined);
      session =
        next === null
          ? null
          : {
              sessionId: next.id,
              resumeURL: next.url,
              sequence: next.seq,
              shardId: 0,
              shardCount: 1,
            };
      return session;
    },
    updateSessionInfo(_shard, info) {
      if (isClosed) return;
      // Also said of a connection that could not be made, which says nothing of the session.
      const isUnknown = info === null && shard.status !== library.WebSocketShardStatus.Connecting;
      if (isUnknown) options.onForgotten();
      if (info !== null || isUnknown) session = info;
    },
    async waitForIdentify(_shard, signal) {
      const most = options.gateway.session_start_limit.max_concurrency;
      const oldest = identified.at(-most) ?? Number.NEGATIVE_INFINITY;
      const wait = oldest + identifyWindowMs - performance.now();
      if (wait > 0) await sleep(wait, signal);
      identified.push(performance.now());
      identified.splice(0, identified.length - most);
    },
  };
  shard = new library.WebSocketShard(strategy, 0);
  const hand = inOrder((dispatch) => {
    if (!isClosed) options.onDispatch(dispatch);
  });
  shard.on(library.WebSocketShardEvents.Dispatch, ({ data }) => {
    if (!hand(data)) options.log("warn", "discord.event-unreadable", { kind: "dispatch" });
  });
  shard.on(library.WebSocketShardEvents.Closed, ({ code }) => {
    if (!isClosed) options.onClosed(code);
  });
  shard.on(library.WebSocketShardEvents.Error, ({ error }) => {
    const { code } = error as Error & { readonly code?: unknown };
    const why = typeof code === "string" ? code : error.name;
    if (!isClosed) options.log("warn", "discord.gateway-error", { error: why });
  });
  shard.connect().catch(() => undefined);
  return {
    async close(again) {
      if (!again) isClosed = true;
      const recover = library.WebSocketShardDestroyRecovery.Resume;
      await shard.destroy(again ? { recover } : { code: resumableCode });
    },
  };
}

/**
 * Hands dispatches on in the order of their numbers, as the library reads several frames of one packet
 * side by side. What it returns takes them; false: it is no dispatch.
 */
export function inOrder(onDispatch: (dispatch: Dispatch) => void): (data: unknown) => boolean {
  const arrived: Dispatch[] = [];
  return (data) => {
    const read = dispatchSchema.safeParse(data);
    if (!read.success) return false;
    if (arrived.push(read.data) > 1) return true;
    setImmediate(() => {
      for (const dispatch of arrived.splice(0).sort((a, b) => a.s - b.s)) onDispatch(dispatch);
    });
    return true;
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
