/**
 * What was seen from outside of the process in one run, in order: at the platforms, at the store,
 * and at the end in the journal. Checkers read nothing else.
 */
import { createHash } from "node:crypto";
import type { OutboxState, RunRow } from "../../../src/domain/ports/index.ts";

/** A message of a chat, as checkers name it. */
export const nameOf = (chat: string, id: string): string => `${chat}/${id}`;

/** Why the last process of a run ends. */
export const theEnd = "the end";

/** One write of a commit, as far as a checker reads it. `answer`: what the store said. */
export type Written =
  | {
      readonly kind: "event";
      readonly seq: number;
      readonly conv: number;
      readonly type: string;
      /** The event's own time, and the deadline that it is about. */
      readonly at: number;
      readonly about: string | null;
      /** The message that it is about, as `<chat>/<id>`. */
      readonly message: string | null;
    }
  | { readonly kind: "applied"; readonly seq: number; readonly answer: number }
  | {
      readonly kind: "checkpoint";
      readonly conv: number;
      readonly recordSeq: number;
      readonly epoch: number;
      readonly answer: number;
    }
  | {
      readonly kind: "outbox";
      readonly id: string;
      readonly state: OutboxState;
      readonly doubts: number;
      readonly rowKind: string;
      readonly expiresAt: number | null;
    }
  | {
      readonly kind: "deadline";
      readonly conv: number;
      readonly id: string;
      readonly due: number | null;
    };

export type Entry = { readonly at: number } & (
  | { readonly what: "begun"; readonly life: number }
  | { readonly what: "ended"; readonly life: number; readonly why: string }
  | { readonly what: "step"; readonly step: unknown }
  | { readonly what: "said"; readonly id: string; readonly chat: string }
  | { readonly what: "acked"; readonly id: string }
  | { readonly what: "refused"; readonly id: string; readonly code: string }
  | {
      readonly what: "committed";
      readonly life: number;
      /** The process's own time. */
      readonly now: number;
      readonly rows: readonly Written[];
    }
  /** The first so many commits survive a loss of power. */
  | { readonly what: "synced"; readonly commits: number }
  | {
      readonly what: "shown";
      readonly id: string;
      readonly chat: string;
      readonly text: string;
      /** The process's own time. */
      readonly now: number;
    }
  | {
      readonly what: "edited";
      readonly id: string;
      readonly chat: string;
      readonly text: string;
      readonly now: number;
    }
  | { readonly what: "typing"; readonly chat: string; readonly on: boolean }
  /** What the process says of its own typing. */
  | { readonly what: "typing ordered"; readonly chat: string; readonly on: boolean }
  | { readonly what: "react"; readonly message: string; readonly on: boolean }
  | { readonly what: "line"; readonly line: unknown }
);

/** What is left when all is over. */
export interface Ending {
  readonly rows: readonly {
    readonly seq: number;
    readonly conv: number;
    readonly code: number | null;
    readonly type: string;
  }[];
  readonly runs: readonly RunRow[];
  readonly outbox: readonly {
    readonly id: string;
    readonly conv: number;
    readonly kind: string;
    /** The message that a reaction is on, as `<chat>/<id>`. */
    readonly message: string | null;
    readonly state: OutboxState;
    readonly doubts: number;
    readonly error: string | null;
  }[];
  readonly problem: string | null;
  readonly quarantined: readonly string[];
  /** What the conversations' rows say, read by the machine once more. */
  readonly turns: readonly {
    readonly conv: number;
    readonly turnId: string;
    readonly begun: number;
    readonly outcomes: readonly string[];
  }[];
  /** Engaged messages: `<conv> <message>`, and what became of each. */
  readonly engaged: Readonly<Record<string, readonly string[]>>;
  /** Typing and marks that conversations believe to show. */
  readonly left: readonly string[];
}

export interface History {
  readonly entries: readonly Entry[];
  readonly ending: Ending;
}

/** What two runs of one seed have in common. */
export const hashOf = (history: History): string =>
  createHash("sha256").update(JSON.stringify(history)).digest("hex").slice(0, 16);
