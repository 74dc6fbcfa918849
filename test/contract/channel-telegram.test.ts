/** Telegram keeps the channel contract, over a real socket to a Bot API server. */
import { telegramChannel } from "../../src/adapters/channels/telegram.ts";
import type { ChannelDefinition } from "../../src/domain/ports.ts";
import { channelContract } from "../../src/testing/channel-contract.ts";
import { telegramWorld } from "../support/telegram-rig.ts";

channelContract({
  name: "telegram",
  definition: telegramChannel as ChannelDefinition,
  world: telegramWorld,
  can: [
    "split",
    "echo",
    "edit",
    "pings",
    "reactions",
    "limitNext",
    "refuseNext",
    "loseAnswer",
    "line",
    "redeliver",
    "garbage",
    "revoke",
  ],
});
