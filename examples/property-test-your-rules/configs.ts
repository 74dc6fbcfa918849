/**
 * The part of `earshot.json5` that decides who is answered in the help room of a village library.
 * Ann and Bo work there; Rex is the bot that reports what was returned.
 */
import type { EarshotConfigInput } from "earshot";

const agents = { list: [{ id: "main", name: "Scout", aliases: ["help desk"] }] };

/** The config of the library. */
export const library: EarshotConfigInput = {
  agents,
  engagement: { stickiness: { windowMs: 300_000 } },
  // Three answers to bots in a row are enough; from then on they are only observed.
  loopGuard: { maxConsecutive: 2, hardLimit: 3 },
  commands: { allowFrom: { irc: ["ann"] } },
};

/**
 * The same with a plausible mistake: "at most three in a row". But `maxConsecutive` only makes the
 * prompt say that the agent may stay silent. Nothing stops it before `hardLimit`, which is 20 by default.
 */
export const mistaken: EarshotConfigInput = {
  ...library,
  loopGuard: { maxConsecutive: 3 },
};
