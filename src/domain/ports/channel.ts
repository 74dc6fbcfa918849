/**
 * The channel port
 * ================
 * Three adapters in one definition: `config` (which accounts there are), the gateway (`start`:
 * receive) and outbound (send, reply, react, type). One `ChannelAccount` is one login. Adapters
 * supply facts (mentions, reply author, bot flag, member counts) and never decide; what the
 * platform cannot tell is left absent.
 */
import type { z } from "zod";
import type {
  Deletion,
  Edit,
  HistoryReport,
  Inbound,
  MembershipReport,
  Route,
} from "../message.ts";
import type { ChannelHook } from "./hook.ts";
import type { Clock, Log, Random } from "./system.ts";

export type ChannelEvent =
  | { readonly type: "message"; readonly message: Inbound }
  | { readonly type: "edit"; readonly edit: Edit }
  | { readonly type: "delete"; readonly deletion: Deletion }
  | { readonly type: "membership"; readonly membership: MembershipReport }
  | { readonly type: "history"; readonly history: HistoryReport };

/** A command as the menu of a platform shows it. */
export interface MenuCommand {
  /** a to z, digits and _, at most 32. */
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
}

export type ConnectionState = "connecting" | "live" | "resuming" | "backing-off" | "halted";

/** What an account may use. Everything here is scoped to that account. */
export interface ChannelContext<AccountConfig> {
  readonly accountId: string;
  readonly config: AccountConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** For the platform's own menu of commands, where it has one. @default none */
  readonly commands?: readonly MenuCommand[];
  /**
   * Hands events over. Resolves when every one of them is durable and, if given, `cursor` was
   * stored in the same commit. Only then may the platform be told. Rejects with a `retry` error
   * when the store or the intake is full: nothing was taken, try again later.
   */
  deliver(events: readonly ChannelEvent[], cursor?: string): Promise<void>;
  /**
   * The cursor of the last commit, or null. `identity` is the bot's own platform id: a new token
   * must not resume an old bot's cursor. Later `deliver` cursors are stored under it.
   */
  loadCursor(identity: string): Promise<string | null>;
  /** Tells the connection machine where the connection stands. */
  reportState(state: ConnectionState, detail?: string): void;
}

export interface SendRequest {
  readonly route: Route;
  /** Markdown; the adapter turns it into the platform's dialect. */
  readonly text: string;
  /** `turnId:index`; platforms with an idempotency key use it. */
  readonly id: string;
  readonly signal: AbortSignal;
}
export interface EditRequest extends SendRequest {
  readonly messageId: string;
  /** The message grows: a later edit replaces this text, so it may be left out. */
  readonly growing?: true;
}
/** The platform ids of what was sent (more than one where the adapter had to split). */
export interface SendReceipt {
  readonly messageIds: readonly string[];
}

/** A file of ours on its way to a room: an answer said aloud. */
export interface MediaRequest {
  readonly route: Route;
  readonly id: string;
  readonly mime: string;
  /** Ours, with the ending that fits. */
  readonly name: string;
  readonly data: Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * Throws EarshotError: `retry` (with `retryAfterMs` on a 429), `terminal` (never works) or
 * `in-doubt` (the request went out, the answer never came).
 */
export interface ChannelOutbound {
  sendText(request: SendRequest): Promise<SendReceipt>;
  replyText(
    request: SendRequest & { readonly replyTo: string; readonly quote: boolean },
  ): Promise<SendReceipt>;
  /** Left out: the room gets text only. */
  sendMedia?(request: MediaRequest): Promise<SendReceipt>;
  sendTyping?(route: Route, on: boolean, signal: AbortSignal): Promise<void>;
  addReaction?(route: Route, messageId: string, emoji: string, signal: AbortSignal): Promise<void>;
  removeReaction?(
    route: Route,
    messageId: string,
    emoji: string,
    signal: AbortSignal,
  ): Promise<void>;
  /** Doing it twice is doing it once. */
  editText?(request: EditRequest): Promise<void>;
}

export interface ChannelAccount {
  /**
   * Connects and receives until the signal aborts; resolves within 2 s of that. Rejects only with a
   * `terminal` error (a refused token); everything else it retries itself, reporting its state.
   */
  start(signal: AbortSignal): Promise<void>;
  readonly outbound: ChannelOutbound;
  membership?(
    route: Route,
    signal: AbortSignal,
  ): Promise<Omit<MembershipReport, "channel" | "account" | "chat" | "thread">>;
  history?(route: Route, limit: number, signal: AbortSignal): Promise<readonly Inbound[]>;
  downloadMedia?(attachmentId: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** What the platform posts to `/hooks/<channel>/<account>` of the daemon, where it does. */
  readonly hook?: ChannelHook;
  /** A live check for `earshot doctor` and `init`: who are we there? */
  identify?(signal: AbortSignal): Promise<{ readonly id: string; readonly name: string }>;
}

/** Printed by `earshot channels` and in the docs. */
export interface ChannelCapabilities {
  readonly edits: boolean;
  readonly deletes: boolean;
  readonly reactions: boolean;
  readonly typing: boolean;
  readonly threads: boolean;
  readonly membership: boolean;
  readonly history: boolean;
  readonly media: boolean;
  readonly mentions: "structured" | "text" | "unknown";
  readonly replyAuthor: boolean;
  readonly botFlag: boolean;
}

export interface ChannelDefinition<AccountConfig = unknown> {
  readonly id: string;
  readonly meta: { readonly name: string; readonly description: string };
  readonly capabilities: ChannelCapabilities;
  /** UTF-16 units of one message on the platform. */
  readonly textLimit: number;
  /** How often typing must be refreshed, ms. */
  readonly typingIntervalMs: number;
  /** Schema of one account; joins the config file's schema under `channels.<id>.accounts`. */
  readonly accountSchema: z.ZodType<AccountConfig>;
  /** The sender of a local channel is the operator himself (terminal, webchat with its token). */
  readonly local: boolean;
  open(context: ChannelContext<AccountConfig>): ChannelAccount;
}

/** Declares a channel (for packages named in the config). */
export function defineChannel<AccountConfig>(
  definition: ChannelDefinition<AccountConfig>,
): ChannelDefinition<AccountConfig> {
  return definition;
}
