/**
 * How an answer is addressed
 * ==========================
 * Whether a block is sent as a reply, and whether the reply is a quote that shows what it answers
 * because others have spoken in between. Pure look-ups on the settings and the turn.
 */
import type { ChatKind } from "../../domain/message.ts";
import { oneLine } from "../../domain/sanitize.ts";
import type { ConversationSettings, ReplyToMode } from "../../domain/settings.ts";

/** What a reply tag of the agent's refers to. */
export type Target =
  | { readonly kind: "message"; readonly id: string }
  /** No message of that id was heard here lately: the tag is ignored. */
  | { readonly kind: "unknown"; readonly id: string }
  | { readonly kind: "none" };

/**
 * The message that a part of an answer is to reply to.
 * @param target as the agent wrote it; empty: the current message.
 * @param heard ids of the messages that the turn answers, and of those heard in the room lately.
 */
export function targetOf(
  target: string | undefined,
  current: string,
  heard: readonly (readonly string[])[],
): Target {
  if (target === undefined) return { kind: "none" };
  const id = target === "" ? current : target;
  const isKnown = target === "" || heard.some((ids) => ids.includes(id));
  return { kind: isKnown && id !== "" ? "message" : "unknown", id };
}

export interface Addressing {
  /** Send as a reply to the turn's newest message. */
  readonly reply: boolean;
  /** Show the message replied to. */
  readonly quote: boolean;
}

const plain: Addressing = { reply: false, quote: false };

/**
 * @param index the block's index within the turn, from 0.
 * @param several the batch holds several messages.
 * @param overtaken others have spoken since the message that is answered.
 */
export function addressBlock(
  mode: ReplyToMode,
  kind: ChatKind,
  { index, several, overtaken }: { index: number; several: boolean; overtaken: boolean },
): Addressing {
  const by = mode === "auto" ? (kind === "direct" ? "off" : "first") : mode;
  if (by === "off") return plain;
  const quote = index === 0 && overtaken;
  if (by === "all") return { reply: true, quote };
  if (index > 0) return plain;
  return { reply: quote || by === "first" || several, quote };
}

/** What `messages.responsePrefix` may name. */
export interface PrefixWords {
  readonly model: string;
  readonly agent: string;
  readonly thinkLevel: string;
}

/** The prefix of an answer, filled in and set apart from it; empty where there is none. */
export function fillPrefix(template: string, words: PrefixWords): string {
  const filled = template.replace(/\{(model|agent|thinkLevel)\}/g, (_, name: keyof PrefixWords) =>
    oneLine(words[name]),
  );
  return filled === "" || /\s$/.test(filled) ? filled : `${filled} `;
}

/** Whether the room hears of a failed turn. Elsewhere than in direct chats it would be noise. */
export function notifiesRoom(mode: ConversationSettings["notifyRoom"], kind: ChatKind): boolean {
  return mode === "always" || (mode === "direct" && kind === "direct");
}

/** What is said then: no details, those are in the log. */
export const failureNotice = "Something went wrong while I was answering. Please try again.";
