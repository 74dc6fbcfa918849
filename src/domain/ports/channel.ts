/**
 * One definition holds three parts: the account schema, the gateway (`start`: receive) and outbound
 * (send, reply, react, type). One `ChannelAccount` is one login. Adapters report facts (mentions,
 * reply author, bot flag, member counts) and never decide; what the platform does not report stays
 * absent.
 */
import type { z } from "zod";
import type {
  ChatKind,
  Deletion,
  Edit,
  HistoryReport,
  Inbound,
  MembershipReport,
  Millis,
  Reaction,
  Route,
} from "../message.ts";
import type { OutgoingChoices, OutgoingKind } from "../outgoing.ts";
import type { Lease } from "./engine/connection-leases.ts";
import type { ChannelHook } from "./hook.ts";
import type { Clock, Log, Random } from "./system.ts";

export type ChannelEvent =
  | { readonly type: "message"; readonly message: Inbound }
  | { readonly type: "edit"; readonly edit: Edit }
  | { readonly type: "delete"; readonly deletion: Deletion }
  | { readonly type: "reaction"; readonly reaction: Reaction }
  | { readonly type: "membership"; readonly membership: MembershipReport }
  | { readonly type: "history"; readonly history: HistoryReport };

/** Where an event happened. */
export function placeOf(event: ChannelEvent) {
  switch (event.type) {
    case "message":
      return event.message;
    case "edit":
      return event.edit;
    case "delete":
      return event.deletion;
    case "reaction":
      return event.reaction;
    case "membership":
      return event.membership;
    case "history":
      return event.history;
  }
}

/** A command in a platform's menu. */
export interface MenuCommand {
  /** a to z, digits and _, at most 32. */
  readonly name: string;
  /** At most 100 characters. */
  readonly description: string;
}

export type ConnectionState = "connecting" | "live" | "resuming" | "backing-off" | "halted";

/** What an account may use, scoped to that account. */
export interface ChannelContext<AccountConfig> {
  readonly accountId: string;
  readonly config: AccountConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /**
   * A folder of this account's own, for what a platform needs besides the cursor (keys of a device); it may
   * not exist yet. @default none: nothing is kept
   */
  readonly folder?: string;
  /** For the platform's own command menu, where it has one. @default none */
  readonly commands?: readonly MenuCommand[];
  /** Whether a line such as `/approve K7QM` is a command and nothing else, in a menu or not. @default none is */
  isCommand?(line: string): boolean;
  /**
   * Delivers events. Resolves when all of them are durable and, if given, `cursor` is stored in the
   * same commit; acknowledge to the platform only then. Rejects with a `retry` error when the store
   * or the intake is full: nothing was accepted, try again later.
   */
  deliver(events: readonly ChannelEvent[], cursor?: string): Promise<void>;
  /**
   * The cursor of the last commit, or null. `identity` is the bot's platform id: a new token must
   * not resume another bot's cursor. Later `deliver` cursors are stored under it, or under `name`, where that id
   * is another one on another machine.
   */
  loadCursor(identity: string, name?: string): Promise<string | null>;
  /** Reports the state of the connection. */
  reportState(state: ConnectionState, detail?: string): void;
  /**
   * Reports what cannot be recovered of the time that the account was away: once, when it is known.
   * The runtime writes it to the log and shows it; nothing else becomes of it.
   */
  reportGap(gap: Gap): void;
}

/** Of a send whose call another node makes; an adapter need not know of it. */
interface Carried {
  /** The call is made once for an attempt, however often and from wherever it is asked for. */
  readonly attempt?: string;
  /** ms since the epoch; it is not made from then on. @default it may always be */
  readonly expiresAt?: Millis;
}

export interface SendRequest extends Carried {
  readonly route: Route;
  /** Markdown; the adapter renders the platform's format. */
  readonly text: string;
  /** `turnId:index`; platforms with an idempotency key use it. */
  readonly id: string;
  readonly signal: AbortSignal;
}
export interface EditRequest extends SendRequest {
  readonly messageId: string;
  /** The message is still growing: a later edit replaces this one, so it may be skipped. */
  readonly growing?: true;
}
/** The platform ids of the sent messages; several where the adapter had to split. */
export interface SendReceipt {
  readonly messageIds: readonly string[];
}

/** A file to send to a room: a spoken answer, or a file of an agent. */
export interface MediaRequest extends Carried {
  readonly route: Route;
  /** `turnId:index`; of a spoken answer with `:speech`. */
  readonly id: string;
  readonly mime: string;
  readonly name: string;
  readonly data: Uint8Array;
  readonly signal: AbortSignal;
  /** How it is shown. @default by `mime` */
  readonly kind?: OutgoingKind;
  /** Markdown. @default none */
  readonly caption?: string;
  /** The message to reply to. @default a plain send */
  readonly replyTo?: string;
  /** The address that the file was fetched from. */
  readonly url?: string;
}

/** A question with labelled options, as buttons or as a poll. */
export interface ChoicesRequest extends SendRequest {
  /** `text` has the options too, numbered: for a platform that cannot show these. */
  readonly choices: OutgoingChoices;
  readonly replyTo?: string;
}

/**
 * Throws EarshotError: `retry` (with `retryAfterMs` on a 429), `terminal` (can never work) or
 * `in-doubt` (the request was sent, the response never arrived).
 */
export interface ChannelOutbound {
  sendText(request: SendRequest): Promise<SendReceipt>;
  replyText(
    request: SendRequest & { readonly replyTo: string; readonly quote: boolean },
  ): Promise<SendReceipt>;
  /** Absent: the room gets text only, for a file its caption and its address or name. */
  sendMedia?(request: MediaRequest): Promise<SendReceipt>;
  /**
   * Absent: the options are sent as a numbered list. A press comes back as a message of the person who
   * pressed: its text is the label, and it replies to this message.
   */
  sendChoices?(request: ChoicesRequest): Promise<SendReceipt>;
  sendTyping?(route: Route, on: boolean, signal: AbortSignal): Promise<void>;
  addReaction?(route: Route, messageId: string, emoji: string, signal: AbortSignal): Promise<void>;
  removeReaction?(
    route: Route,
    messageId: string,
    emoji: string,
    signal: AbortSignal,
  ): Promise<void>;
  /** Idempotent. */
  editText?(request: EditRequest): Promise<void>;
}

/** The account on its platform. */
export interface ChannelIdentity {
  readonly id: string;
  readonly name: string;
  /** Settings of the platform that keep messages from it, each with what to do. */
  readonly notes?: readonly string[];
}

/**
 * What a person enters to connect an account. `earshot init`, `earshot channels add` and the Setup page
 * ask for it, call `identify` with it, and write it to the config. docs/channels/writing.md explains it.
 */
export interface ChannelSetup {
  /** What to do on the platform first, in order. */
  readonly steps: readonly string[];
  readonly fields: readonly SetupField[];
}

export interface SetupField {
  /** Its path in the account's config, such as `botToken` or `login.password`. */
  readonly name: string;
  readonly label: string;
  /** The variable that a secret is stored under; null: it is no secret. */
  readonly secret: string | null;
  readonly isOptional: boolean;
  /** How the entered text is written. A list is entered with commas. @default "text" */
  readonly type?: "text" | "number" | "flag" | "list";
  /** The values that can be chosen. @default any text */
  readonly options?: readonly string[];
  /** Asked only while another field has this value. */
  readonly when?: { readonly field: string; readonly is: string };
  /** What is offered for a new account. @default nothing */
  readonly initial?: string;
  /** One line: where to find it, or its form. */
  readonly hint?: string;
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
  /** Handles what the platform posts to `/hooks/<channel>/<account>`, where it does. */
  readonly hook?: ChannelHook;
  /**
   * Makes this account a device of an account of the platform, which a person confirms there; may take
   * minutes. A gateway that waits for it connects by itself. Absent: there is nothing to confirm.
   */
  link?(request: LinkRequest): Promise<ChannelIdentity>;
  /** A live check for `earshot doctor` and for setting up: the bot's own identity. */
  identify?(signal: AbortSignal): Promise<ChannelIdentity>;
}

/** What a person types or scans on the platform to confirm a device. A secret: only the caller shows it. */
export interface LinkSecret {
  readonly kind: "code" | "picture";
  /** The code as it is typed, or what the picture says. */
  readonly text: string;
}

export interface LinkRequest {
  readonly way: LinkSecret["kind"];
  /** Called again when a new one takes the place of an old one. */
  show(secret: LinkSecret): void;
  /** Link it although it is linked: no gateway of this account may run. */
  readonly again: boolean;
  readonly signal: AbortSignal;
}

/** How a platform counts a text: in UTF-16 units, in code points, or in bytes of UTF-8. */
export type TextUnit = "utf16" | "codepoints" | "bytes";

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
  /** The longest message, in UTF-16 units: answers are split by it. */
  readonly textLimit: number;
  /**
   * What the platform itself counts; a channel whose unit is another one splits further while sending.
   * @default "utf16"
   */
  readonly textUnit?: TextUnit;
  /** Interval at which the typing indicator must be refreshed, ms. */
  readonly typingIntervalMs: number;
  /** Schema of one account; joins the config file's schema under `channels.<id>.accounts`. */
  readonly accountSchema: z.ZodType<AccountConfig>;
  /** Absent: it has nothing to enter, or its guide says how. */
  readonly setup?: ChannelSetup;
  /**
   * Whether the connection of an account may exist once only, so that one of several nodes has it: a long poll, a
   * socket, a linked device. False where the platform posts what happens, to any node. @default true
   */
  connectsOnce?(config: AccountConfig): boolean;
  /**
   * What of one machine the account rests on, for a person, so that no other node can take it over: a program there,
   * keys that are nowhere else. Null: nothing. @default nothing
   */
  needsMachine?(config: AccountConfig): string | null;
  /** The author on a local channel is the operator (terminal, webchat with its token). */
  readonly local: boolean;
  /** What kind of chat an id names, where ids show it; null: this one does not. @default null */
  chatKind?(chatId: string): ChatKind | null;
  /**
   * For the channels that ship with earshot: loads what `open` needs; awaited before the first `open`, so
   * one that nobody uses costs neither time nor memory. Never rejects: `open` throws what went wrong.
   * @default everything is loaded
   */
  load?(): Promise<void>;
  open(context: ChannelContext<AccountConfig>): ChannelAccount;
}

/** What is known of a channel before it is loaded. */
export type ChannelFacts<AccountConfig = unknown> = Omit<
  ChannelDefinition<AccountConfig>,
  "load" | "open"
>;

/** Declares a channel, for packages named in the config. */
export function defineChannel<AccountConfig>(
  definition: ChannelDefinition<AccountConfig>,
): ChannelDefinition<AccountConfig> {
  return definition;
}

/** Of an account: carries each call to the node that has its connection, whichever that is by then. */
export interface CarriedOutbound extends ChannelOutbound {
  /** A new id for `SendRequest.attempt`. */
  newAttempt(): string;
}

export interface Outlets {
  /** The calls that `like` has. */
  outbound(channel: string, account: string, like: ChannelOutbound): CarriedOutbound;
  /** Who is in a room is read again where the connection is. Best effort. */
  refreshMembers(route: Route): void;
  /** Makes the calls that others ask for, from now on: this node has the lease, and the connection is live. */
  serve(served: ServedAccount): ServedOutlet;
}

export interface ServedAccount {
  readonly channel: string;
  readonly account: string;
  /** Asked right before each call. */
  readonly lease: Lease;
  readonly outbound: ChannelOutbound;
  /** How often the platform must hear that somebody types, ms. */
  readonly typingIntervalMs: number;
  readonly refreshMembers: (route: Route) => void;
}

export interface ServedOutlet {
  /** Takes no more calls; resolves when those that were taken have ended and their callers know. Never rejects. */
  stop(): Promise<void>;
}

/**
 * A span of time of which an account cannot get everything back from its platform: it was away, and
 * the platform keeps no history, or less than that.
 */
export interface Gap {
  /** Until then everything was heard, ms since the epoch. */
  readonly from: Millis;
  /** From then on everything is heard again, ms since the epoch. */
  readonly to: Millis;
  /** Ids of the chats that it concerns; empty: any of the account's. */
  readonly rooms: readonly string[];
  /**
   * `messages`: people may have said something that nobody here knows. `edits`: all messages came
   * back, but what happened to earlier ones (edits, deletions, reactions) did not.
   */
  readonly lost: "messages" | "edits";
}
