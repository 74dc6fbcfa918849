/** What a message is found by besides its text. */
import { outcomes } from "../stream.ts";

/**
 * What became of a message: the outcome of its turn. Of a part of an answer, what became of it.
 * `in-doubt`: the platform did not confirm a part.
 */
export const foundOutcomes = [...outcomes, "in-doubt"] as const;
export type FoundOutcome = (typeof foundOutcomes)[number];
