/** Matrix keeps the channel contract, over real sockets to a homeserver. */
import { matrixChannel } from "../../../../src/adapters/channels/matrix/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import { matrixWorld } from "../../../support/matrix/matrix-world.ts";

channelContract({
  name: "matrix",
  definition: matrixChannel as ChannelDefinition,
  // An event has 65,536 bytes at most, its envelope included.
  longest: 60_000,
  world: matrixWorld,
  // No "loseAnswer": a repeat of a send is the same message (outgoing.test.ts).
  can: [
    ...(["split", "echo", "edit", "react", "pings", "reactions", "limitNext"] as const),
    ...(["refuseNext", "line", "redeliver", "garbage", "revoke"] as const),
  ],
});
