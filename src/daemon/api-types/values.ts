/**
 * Values that the API and the pages share. They are separate from the schemas, of which pages import
 * only types, so that a page contains no schema library.
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

/** Maximum rows of a view. */
export const lookRowsMax = 200;
/** Maximum UTF-16 units of the search words and keys of a view. */
export const lookUnitsMax = 2_048;
