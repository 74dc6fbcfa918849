/**
 * Plugins
 * =======
 * A package that is told what happens and may have a word on what is sent, and that may bring
 * channels of its own. Hooks run on the daemon's main thread, in the order of `plugins` in the
 * config, each with a time limit; they are given copies, so what they do to them changes nothing.
 * One that fails, or takes too long, is logged, and things go on without it.
 *
 * Everything a room said is in these events as it was said: data, never to be run, matched as a
 * pattern or shown as markup (docs/guide/plugins.md).
 */
import type { Decision, Rule } from "../decision.ts";
import type { Inbound, Millis, Route } from "../message.ts";
import type { AgentEndLine } from "../stream.ts";
import type { ChannelDefinition } from "./channel.ts";

/** What all events have. */
interface HookEvent {
  /** ms since the epoch. */
  readonly at: Millis;
  /** Session key of the conversation. */
  readonly key: string;
  readonly agentId: string;
}

/** A message was heard by a conversation, is durable, and was decided on. */
export interface MessageHeard extends HookEvent {
  readonly message: Inbound;
  readonly decision: Decision;
  readonly rule: Rule;
}
/** A turn has its lane. */
export interface TurnStarted extends HookEvent {
  readonly turnId: string;
  readonly turn: number;
  /** Platform ids of the messages it answers; empty for a heartbeat. */
  readonly batch: readonly string[];
}
/** A turn has its outcome; parts of its answer may still be on their way. */
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
  /** `notice`: a line of earshot's own, about an error. */
  readonly kind: "reply" | "notice";
}

/** Another text instead (not empty), or that nothing is sent. Nothing: as it is. */
export type SendingChange =
  | { readonly text: string }
  | { readonly refuse: string }
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that looks only returns nothing.
  | void;

/** What a hook is given besides the event. */
export interface HookContext {
  /** Aborts when the time limit is over. */
  readonly signal: AbortSignal;
}

type Hook<Event, Answer = unknown> = (
  event: Event,
  context: HookContext,
) => Answer | Promise<Answer>;

/** The hooks of a plugin. Those that only look are told one after the other, not waited for. */
export interface Hooks {
  readonly "message.received"?: Hook<MessageHeard>;
  readonly "turn.started"?: Hook<TurnStarted>;
  readonly "turn.ended"?: Hook<TurnEnded>;
  /**
   * May change the text or refuse it. The answer is stored before the text is sent, so it is asked
   * once for each text; after a crash in between, once more.
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

/** Somebody gave one of a plugin's commands. */
export interface CommandCalled extends HookEvent {
  /** The words behind it, as they were said. */
  readonly text: string;
  readonly route: Route;
  readonly messageId: string;
  /** The platform's id of who gave it. */
  readonly author: string;
  readonly owner: boolean;
}

/** A command that a plugin answers: `/<plugin>:<name>`, or `/<name>` where nobody else has it. */
export interface PluginCommand {
  /** One line, at most 100 units. */
  readonly help: string;
  /** The words that may follow. @default none */
  readonly usage?: string;
  /** Who may give it: owners, or whoever may give commands at all. @default "owner" */
  readonly who?: "owner" | "authorised";
  /** Offered in the menus of platforms that have one. @default false */
  readonly menu?: boolean;
  /** What is answered, Markdown. Has 10 s, and is called at most once for a command. */
  readonly run: (called: CommandCalled, context: HookContext) => string | Promise<string>;
}

export interface Plugin {
  /** Names it in the log. */
  readonly name: string;
  readonly hooks?: Hooks;
  /** By name: lower-case letters, digits, `-` and `_`; then the plugin's own name has to be such. */
  readonly commands?: Readonly<Record<string, PluginCommand>>;
  /** Channels that the config may name. */
  readonly channels?: readonly ChannelDefinition[];
}

/** Declares a plugin: the default export of a module named in `plugins`. */
export function definePlugin(plugin: Plugin): Plugin {
  return plugin;
}
