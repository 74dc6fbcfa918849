/**
 * The channel contract on Signal, against a server that speaks as signal-cli's daemon does.
 */
import { signalChannel } from "../../../../src/adapters/channels/signal/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import { signalWorld } from "../../../support/signal/signal-world.ts";

channelContract({
  name: "signal",
  definition: signalChannel as ChannelDefinition,
  // Signal sends it as an attachment of the message, which signal-cli puts back.
  longest: 64_000,
  world: signalWorld,
  can: [
    ...(["split", "echo", "edit", "react", "pings", "reactions"] as const),
    ...(["limitNext", "refuseNext", "loseAnswer"] as const),
    ...(["line", "redeliver", "garbage", "revoke"] as const),
  ],
});
