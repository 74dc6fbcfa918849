/**
 * The index of messages
 * =====================
 * What people and agents wrote, with the facts by which it is found. It is derived from the journal
 * and follows it: the number of the last row that it has is stored with what that row added, so
 * whatever happens in between, it goes on where it was. It may be deleted at any time.
 */
import type { Decision, Rule } from "../decision.ts";
import type { Millis } from "../message.ts";
import type { SearchTerm } from "../search/query.ts";
import type { FoundOutcome } from "../search/values.ts";

export interface IndexedMessage {
  /** Number of its journal row. */
  readonly seq: number;
  readonly conv: number;
  /** Session key; empty: no conversation heard it. */
  readonly key: string;
  readonly at: Millis;
  readonly kind: "heard" | "said" | "history";
  /** Id at the platform; of a part of an answer, its id in the outbox. */
  readonly id: string;
  /** Its chat, where the session may hold several: ids are unique in a chat only. */
  readonly chat?: string;
  readonly author: { readonly id: string; readonly name: string; readonly isBot: boolean };
  readonly decision: Decision | null;
  readonly rule: Rule | null;
  readonly outcome: FoundOutcome | null;
  readonly turnId: string | null;
  /** Where no conversation heard it: channel and chat, for people. */
  readonly place: string;
  readonly text: string;
}

export type IndexChange =
  | { readonly op: "add"; readonly message: IndexedMessage }
  /** A message has a new text; null: it was deleted. `grows`: the old one is its beginning. */
  | {
      readonly op: "text";
      readonly conv: number;
      readonly id: string;
      readonly chat?: string;
      readonly text: string | null;
      readonly grows?: true;
    }
  | {
      readonly op: "decided";
      readonly conv: number;
      readonly id: string;
      readonly chat?: string;
      readonly decision: Decision;
      readonly rule: Rule;
    }
  /** A turn ended; `messages`: those it answers. */
  | {
      readonly op: "ended";
      readonly conv: number;
      readonly turnId: string;
      readonly messages: readonly string[];
      readonly outcome: FoundOutcome;
    }
  /** More is known of what a turn delivered; changes a turn that has ended with an answer. */
  | { readonly op: "delivered"; readonly turnId: string; readonly outcome: FoundOutcome }
  /** A command that no conversation heard took effect in this one. */
  | {
      readonly op: "command";
      readonly conv: number;
      readonly key: string;
      readonly seq: number;
      readonly id: string;
    }
  /** The row is not applied yet: it is looked at again. */
  | { readonly op: "wait"; readonly seq: number }
  | { readonly op: "waited"; readonly seq: number };

/** The last journal row that the index has. */
export interface IndexPosition {
  readonly seq: number;
  /** Of that row: another journal has another row under the number. Null: not known. */
  readonly conv: number | null;
}

export interface MessageQuery {
  readonly terms: readonly SearchTerm[];
  readonly conv?: number | undefined;
  /** Part of a name, folded, or a whole id. */
  readonly author?: string | undefined;
  readonly decisions?: readonly Decision[] | undefined;
  readonly rules?: readonly Rule[] | undefined;
  readonly outcomes?: readonly FoundOutcome[] | undefined;
  readonly since?: Millis | undefined;
  /** Exclusive. */
  readonly until?: Millis | undefined;
  /** Only messages that came before this one: the cursor of a page. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface FoundMessage extends IndexedMessage {
  /** Number in the index; grows with each message. */
  readonly entry: number;
}
export interface FoundPage {
  /** The newest first. */
  readonly found: readonly FoundMessage[];
  /** `before` of the next page; null: there is none. */
  readonly next: number | null;
  /** Older messages than this number of them were not looked at; null: all were. */
  readonly lookedAt: number | null;
}

export interface SearchIndex {
  /** Whether words are found by a full-text index; otherwise messages are read one by one. */
  readonly fullText: boolean;
  position(): IndexPosition;
  size(): number;
  /** Rows that were not applied when they were read, from `after` on. */
  waiting(after: number, limit: number): readonly number[];
  /** Stores the changes and the position, all or nothing. */
  write(changes: readonly IndexChange[], position: IndexPosition): void;
  /** Deletes at most `limit` messages of journal rows before `seq`. How many. */
  prune(seq: number, limit: number): number;
  /** Writes to the file what was deleted since: its log has no text of that any more. */
  flush(): void;
  clear(): void;
  find(query: MessageQuery): Promise<FoundPage>;
  close(): void;
}
