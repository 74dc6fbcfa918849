/**
 * The channel contract on iMessage, with each of the two programs on the Mac.
 */
import { imessageChannel } from "../../../../src/adapters/channels/imessage/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import { blueBubblesWorld, imsgWorld } from "../../../support/imessage/imessage-world.ts";

const definition = imessageChannel as ChannelDefinition;
/** Apple states no limit; this is five times what we send. */
const longest = 20_000;
const both = ["split", "echo", "react", "pings", "refuseNext", "loseAnswer", "line"] as const;

channelContract({
  name: "imessage, imsg",
  longest,
  definition,
  world: imsgWorld,
  can: [...both, "reactions", "redeliver", "garbage", "revoke"],
});

channelContract({
  name: "imessage, BlueBubbles",
  longest,
  definition,
  world: blueBubblesWorld,
  can: [...both, "edit", "limitNext", "garbage", "revoke"],
});
