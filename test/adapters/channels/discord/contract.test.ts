/** Discord keeps the channel contract, over real sockets to a gateway and an API server. */
import { discordChannel } from "../../../../src/adapters/channels/discord/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import { discordWorld } from "../../../support/discord/discord-rig.ts";

channelContract({
  name: "discord",
  definition: discordChannel as ChannelDefinition,
  // With Nitro: https://support.discord.com/hc/en-us/articles/115000435108.
  longest: 4_000,
  world: discordWorld,
  can: [
    "split",
    "echo",
    "edit",
    "react",
    "pings",
    "reactions",
    "limitNext",
    "refuseNext",
    "line",
    "redeliver",
    "garbage",
    "revoke",
  ],
});
