/**
 * A package that observes events, may change outgoing text, and may bring channels and commands.
 * Hooks run on the daemon's main thread in the order of `plugins` in the config, each with a time
 * limit; they receive copies, so changing them has no effect. A hook that fails or takes too long
 * is logged, and processing continues without it.
 *
 * Text from a room appears in these events unchanged: it is data, never to be executed, used as a
 * pattern or rendered as markup (docs/guide/plugins.md).
 */
import type { Decision, Rule } from "../decision.ts";
import type { Inbound, Millis, Route } from "../message.ts";
import type { AgentEndLine } from "../stream.ts";
import type { ChannelDefinition } from "./channel.ts";

/** Fields of all events. */
interface HookEvent {
  /** ms since the epoch. */
  readonly at: Millis;
  /** Session key of the conversation. */
  readonly key: string;
  readonly agentId: string;
}

/** A conversation received a message; it is durable and decided. */
export interface MessageHeard extends HookEvent {
  readonly message: Inbound;
  readonly decision: Decision;
  readonly rule: Rule;
}
/** A turn got its slot and starts. */
export interface TurnStarted extends HookEvent {
  readonly turnId: string;
  readonly turn: number;
  /** Platform ids of the messages it answers; empty for a heartbeat. */
  readonly batch: readonly string[];
}
/** A turn ended; parts of its answer may still be in the outbox. */
export interface TurnEnded extends HookEvent {
  readonly turnId: string;
  readonly turn: number;
  readonly outcome: AgentEndLine["outcome"];
  readonly reason?: string;
}
/** A text is about to be sent. */
export interface MessageSending extends HookEvent {
  /** `turnId:index`. */
  readonly id: string;
  readonly route: Route;
  /** Markdown. */
  readonly text: string;
  readonly replyTo: string | null;
  /** `notice`: a message of earshot itself, about an error. */
  readonly kind: "reply" | "notice";
}

/** A replacement text (not empty), or a refusal. Undefined: unchanged. */
export type SendingChange =
  | { readonly text: string }
  | { readonly refuse: string }
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that looks only returns nothing.
  | void;

/** The second argument of a hook. */
export interface HookContext {
  /** Aborts at the time limit. */
  readonly signal: AbortSignal;
}

type Hook<Event, Answer = unknown> = (
  event: Event,
  context: HookContext,
) => Answer | Promise<Answer>;

/** The hooks of a plugin. Observing hooks are called in order and not awaited by the message. */
export interface Hooks {
  readonly "message.received"?: Hook<MessageHeard>;
  readonly "turn.started"?: Hook<TurnStarted>;
  readonly "turn.ended"?: Hook<TurnEnded>;
  /**
   * May change the text or refuse it. The result is stored before the text is sent, so the hook
   * runs once for each text; after a crash in between, once more.
   */
  readonly "message.sending"?: Hook<MessageSending, SendingChange>;
}
export type HookName = keyof Hooks;
export const hookNames = [
  "message.received",
  "turn.started",
  "turn.ended",
  "message.sending",
] as const satisfies readonly HookName[];

/** A call of a plugin's command. */
export interface CommandCalled extends HookEvent {
  /** The text after the command, unchanged. */
  readonly text: string;
  readonly route: Route;
  readonly messageId: string;
  /** The platform's id of the author. */
  readonly author: string;
  readonly owner: boolean;
}

/** A command of a plugin: `/<plugin>:<name>`, or `/<name>` where the name is unique. */
export interface PluginCommand {
  /** One line, at most 100 units. */
  readonly help: string;
  /** Its arguments, as help shows them. @default none */
  readonly usage?: string;
  /** Who may use it: owners, or everyone authorised to use commands. @default "owner" */
  readonly who?: "owner" | "authorised";
  /** Whether platform menus list it. @default false */
  readonly menu?: boolean;
  /** Returns the answer as Markdown. Has 10 s and is called at most once per command. */
  readonly run: (called: CommandCalled, context: HookContext) => string | Promise<string>;
}

export interface Plugin {
  /** Its name in the log. */
  readonly name: string;
  readonly hooks?: Hooks;
  /**
   * By name: lower-case letters, digits, `-` and `_`; the plugin's own name must then follow the
   * same rule.
   */
  readonly commands?: Readonly<Record<string, PluginCommand>>;
  /** Channels that the config may name. */
  readonly channels?: readonly ChannelDefinition[];
}

/** Declares a plugin: the default export of a module named in `plugins`. */
export function definePlugin(plugin: Plugin): Plugin {
  return plugin;
}
