/**
 * The config as it applies to one conversation, resolved once per config version and conversation
 * (`resolveSettings` in domain/config): the most specific of conversation, account, channel, agent
 * and global wins. Machines see only this, never the config, and never a secret.
 */
import type { Activation, EngagementInput } from "./decision.ts";

export type QueueMode = "collect" | "followup" | "queue" | "steer" | "steer-backlog" | "interrupt";
export type DropPolicy = "summarize" | "old" | "new";
export type ReplyToMode = "auto" | "first" | "all" | "batched" | "off";
export type StreamMode = "auto" | "off" | "block" | "draft";
export type TypingMode = "auto" | "instant" | "thinking" | "message" | "never";

export interface StreamSettings {
  readonly mode: StreamMode;
  readonly break: "text_end" | "message_end";
  /** UTF-16 units. */
  readonly minChars: number;
  /** UTF-16 units; the runtime clamps it to the channel's text limit. */
  readonly maxChars: number;
  readonly prefer: "paragraph" | "newline" | "sentence";
  readonly coalesceIdleMs: number;
  /** UTF-16 units of an answer outside direct chats; 0: no limit. */
  readonly groupMaxChars: number;
  /** What follows the part that is sent of a longer answer. */
  readonly longAnswers: "continue" | "file";
  readonly humanDelay: "off" | "natural" | { readonly minMs: number; readonly maxMs: number };
}

export interface SilentSettings {
  readonly token: string;
  readonly mixed: "strip" | "drop";
}

export interface QueueSettings {
  readonly mode: QueueMode;
  readonly debounceMs: number;
  readonly cap: number;
  readonly drop: DropPolicy;
}
export type SendPolicy = "allow" | "deny";

/** Settings of a session that override the config; absent: as configured. */
export interface SessionOverride {
  readonly queue?: Partial<QueueSettings>;
  readonly send?: SendPolicy;
  readonly activation?: Activation;
}

export interface ConversationSettings {
  /** The config version this was resolved from; journalled with every event. */
  readonly version: number;
  readonly agentId: string;
  readonly agentName: string;
  /** Its session may hold several chats, so an id of a message says little without its chat. */
  readonly severalChats: boolean;
  /** Ladder rules; the aliases include the implicit ones. */
  readonly engagement: EngagementInput["rules"];
  /** `trigger` contains "everyone": @everyone counts as a mention of us. */
  readonly everyoneMentions: boolean;
  readonly context: { readonly size: number; readonly maxAgeMs: number };
  readonly loopGuard: {
    readonly maxConsecutive: number;
    readonly maxInWindow: number;
    readonly windowMs: number;
    /** 0: off. */
    readonly hardLimit: number;
  };
  readonly debounce: { readonly idleMs: number; readonly maxMs: number };
  readonly queue: QueueSettings;
  /** Whether answers are sent; with `deny` turns run silently. */
  readonly send: SendPolicy;
  /** The reaction on an engaged message while it is processed; null: none. */
  readonly ackReaction: string | null;
  readonly replyTo: ReplyToMode;
  /** Template of the prefix of an answer; empty: none. */
  readonly responsePrefix: string;
  readonly stream: StreamSettings;
  readonly typing: {
    readonly mode: TypingMode;
    readonly intervalMs: number;
    readonly ttlMs: number;
  };
  readonly silent: SilentSettings;
  readonly turn: {
    readonly idleMs: number;
    readonly maxMs: number;
    readonly replyAgeMsMax: number;
  };
  readonly notifyRoom: "direct" | "always" | "never";
  /** Prefix of every message in the agent's prompt. */
  readonly messagePrefix: string;
  readonly promptHeadings: "sections" | "brackets";
  readonly promptSystem: "default" | "own";
}

/** Applies a session's overrides to the settings. */
export function withOverride(
  settings: ConversationSettings,
  { queue, send, activation = settings.engagement.activation }: SessionOverride,
): ConversationSettings {
  const { engagement } = settings;
  const same = activation === engagement.activation;
  if (queue === undefined && send === undefined && same) return settings;
  return {
    ...settings,
    engagement: same ? engagement : { ...engagement, activation },
    queue: { ...settings.queue, ...queue },
    send: send ?? settings.send,
  };
}
