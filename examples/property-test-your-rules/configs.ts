/**
 * What stands in `earshot.json5`, as far as it decides who is answered: the help desk of a village
 * library. Ann and Bo work there; Rex is the bot that tells about returned books.
 */
import type { EarshotConfigInput } from "earshot";

const agents = { list: [{ id: "main", name: "Scout", aliases: ["help desk"] }] };

/** The config of the house. */
export const house: EarshotConfigInput = {
  agents,
  engagement: { stickiness: { windowMs: 300_000 } },
  // Three answers to bots in a row are enough; from then on they are only watched.
  loopGuard: { maxConsecutive: 2, hardLimit: 3 },
  commands: { allowFrom: { irc: ["ann"] } },
};

/**
 * The same as somebody else wrote it, and it looks right: "at most three in a row". But
 * `maxConsecutive` only tells the agent that it may stay silent. Nothing stops it before
 * `hardLimit`, which is 20 where nobody says otherwise.
 */
export const mistaken: EarshotConfigInput = {
  ...house,
  loopGuard: { maxConsecutive: 3 },
};
