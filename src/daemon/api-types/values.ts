/**
 * Values that the API and the pages share. They stand apart from the schemas, which pages know by
 * their types only: a page carries no schema library.
 */
import type { Decision } from "../../domain/decision.ts";

/**
 * States of a room in the list. `delivering`: the agent is done, parts of its answer are being sent.
 * `asleep`: the conversation is stored and not live; the next message wakes it.
 */
export const roomStates = [
  "observing",
  "gathering",
  "waiting",
  "running",
  "delivering",
  "asleep",
] as const;
export type RoomStateName = (typeof roomStates)[number];

/** One letter for each decision, for strips. */
export const decisionLetters = {
  engage: "e",
  observe: "o",
  denied: "d",
  claim: "c",
  duplicate: "u",
  command: "m",
} as const satisfies Readonly<Record<Decision, string>>;

/** Decisions that a strip shows. */
export const stripCount = 22;

export const roomFilters = ["all", "engaged", "guarded", "direct"] as const;
export type RoomFilter = (typeof roomFilters)[number];

/** Rows that a page may look at at a time. */
export const lookRowsMax = 200;
/** UTF-16 units of the words and keys of a look. */
export const lookUnitsMax = 2_048;
