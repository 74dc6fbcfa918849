/**
 * The floor
 * =========
 * What is remembered of the people we talk with, where `stickiness.mode` is "floor": enough to judge
 * whether a line that calls nobody goes on with that talk (docs/guide/engagement.md). Kept beside an
 * author's credit and removed with it.
 */
import type { AuthorId, Millis } from "./message.ts";

/** What an author's last line was: engaged, aimed at somebody else, or neither. */
export const lastLines = ["engaged", "elsewhere", "open"] as const;
export type LastLine = (typeof lastLines)[number];

/** Our talk with one author. At most 1 kB as JSON. */
export interface Floor {
  /** When we last answered them; before the first answer: when they called us. */
  readonly since: Millis;
  readonly answered: boolean;
  /** The room's count of lines at `since`. */
  readonly heard: number;
  /** Times that we answered after they had spoken. */
  readonly exchanges: number;
  /** Our answer ended with a question. */
  readonly asked: boolean;
  /** Our answer named them. */
  readonly named: boolean;
  /** Hashes of words of our answer, 16 bits each. */
  readonly words: readonly number[];
  /** Their lines since then, and how many of those were aimed at somebody else. */
  readonly own: number;
  readonly elsewhere: number;
  /** How often others addressed them since then. */
  readonly addressed: number;
  /** When somebody else last addressed them; 0: never. */
  readonly addressedAt: Millis;
  /** Their last line; 0: none yet. */
  readonly lastAt: Millis;
  readonly last: LastLine;
  /** Their lines that engaged us, with our name and without. */
  readonly calls: number;
  readonly plain: number;
}

/** All floors of a conversation, with what they are counted from. */
export interface FloorLedger {
  /** Lines of others heard so far. */
  readonly heard: number;
  /** When we last spoke; 0: never. */
  readonly spokeAt: Millis;
  readonly rows: Readonly<Record<AuthorId, Floor>>;
}

/** How sure to be by default; chosen on rooms that the weights were not fitted on (docs/quality.md). */
export const floorThreshold = 0.4;

/** Nothing was said yet. */
export const emptyFloors: FloorLedger = {
  heard: 0,
  spokeAt: 0,
  rows: {},
};

/** One fact with its share of the judgement. */
export interface FloorFact {
  readonly fact: string;
  /** Log-odds: above 0 it speaks for an engagement, below 0 against it. */
  readonly share: number;
}

/** A share as it is shown: "+2.04", "−0.40". */
export const signedShare = (share: number): string =>
  `${share < 0 ? "−" : "+"}${Math.abs(share).toFixed(2)}`;
