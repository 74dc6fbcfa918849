/**
 * The channel contract on Slack, over Socket Mode against a server that speaks its wire protocol.
 */
import { slackChannel } from "../../../../src/adapters/channels/slack/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import { slackWorld } from "../../../support/slack/slack-world.ts";

channelContract({
  name: "slack",
  definition: slackChannel as ChannelDefinition,
  // https://docs.slack.dev/reference/methods/chat.postMessage: Slack truncates behind that.
  longest: 40_000,
  world: slackWorld,
  can: [
    ...(["split", "echo", "edit", "react", "pings", "reactions"] as const),
    ...(["limitNext", "refuseNext", "loseAnswer"] as const),
    ...(["line", "redeliver", "garbage", "revoke"] as const),
  ],
});
