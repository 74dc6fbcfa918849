/** A linked WhatsApp device keeps the channel contract, over a real socket to a server of WhatsApp Web. */
import { whatsappLinkedChannel } from "../../../../src/adapters/channels/whatsapp-linked/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import { linkedWorld } from "../../../support/whatsapp-linked/linked-world.ts";

channelContract({
  name: "whatsapp-linked",
  definition: whatsappLinkedChannel as ChannelDefinition,
  longest: 65_535,
  world: linkedWorld,
  // No "loseAnswer": a repeat of a send is the same message. No "limitNext": WhatsApp names no time. No
  // "redeliver": what comes again while it is being delivered is delivered once (recovery.test.ts).
  can: [
    ...(["split", "echo", "edit", "react", "pings", "reactions"] as const),
    ...(["refuseNext", "line", "garbage", "revoke"] as const),
  ],
});
