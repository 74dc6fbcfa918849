/** Telegram keeps the channel contract, over a real socket to a Bot API server. */
import { telegramChannel } from "../../../../src/adapters/channels/telegram/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import { telegramWorld } from "../../../support/telegram/telegram-rig.ts";

channelContract({
  name: "telegram",
  definition: telegramChannel as ChannelDefinition,
  // https://core.telegram.org/bots/api#message.
  longest: 4_096,
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
