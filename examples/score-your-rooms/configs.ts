/** The part of `earshot.json5` that decides who is answered in the rooms of a repair café. */
import type { EarshotConfigInput } from "earshot";

/** The config of the café. */
export const cafe: EarshotConfigInput = {
  agents: { list: [{ id: "main", name: "Fixit", aliases: ["workbench"] }] },
  engagement: { stickiness: { mode: "one-shot", windowMs: 120_000 } },
};

/**
 * The same with a plausible mistake: a person who was answered may go on for an hour, so that nobody
 * has to say the name twice. In these rooms people turn to each other much sooner.
 */
export const mistaken: EarshotConfigInput = {
  ...cafe,
  engagement: { stickiness: { mode: "sliding", windowMs: 3_600_000 } },
};
