/**
 * The texts of what was sent lately, by the platform's message ids: who reacts to a message names it by
 * its id alone. In memory and bounded; what was sent by an earlier process is not known.
 */
import { limits } from "../../domain/limits.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import { cut } from "../../domain/sanitize.ts";
import type { TextBody } from "./row-body.ts";

/** A message in its chat. */
export interface SentMessage {
  readonly channel: string;
  readonly account: string;
  readonly chat: { readonly id: string };
  readonly id: string;
}

export interface SentTexts {
  note(row: OutboxRow, body: TextBody): void;
  /** Null: not known. */
  find(message: SentMessage): string | null;
}

const nameOf = ({ channel, account, chat, id }: SentMessage): string =>
  JSON.stringify([channel, account, chat.id, id]);

export function createSentTexts(): SentTexts {
  const texts = new Map<string, string>();
  return {
    note({ state, messageIds }, { route, text }) {
      if (state !== "sent" || messageIds === null) return;
      for (const id of JSON.parse(messageIds) as string[]) {
        texts.set(nameOf({ ...route, id }), cut(text, limits.sentTextUnitsMax));
        const [oldest] = texts.keys();
        if (texts.size > limits.sentTextsMax && oldest !== undefined) texts.delete(oldest);
      }
    },
    find: (message) => texts.get(nameOf(message)) ?? null,
  };
}
