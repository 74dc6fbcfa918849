/**
 * The channel contract on WhatsApp, against a server that speaks the Cloud API and posts to the real hook.
 */
import { whatsappChannel } from "../../../../src/adapters/channels/whatsapp/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { channelContract } from "../../../../src/testing/channel-contract.ts";
import { whatsappWorld } from "../../../support/whatsapp/whatsapp-world.ts";

channelContract({
  name: "whatsapp",
  definition: whatsappChannel as ChannelDefinition,
  // https://developers.facebook.com/docs/whatsapp/cloud-api/messages/text-messages.
  longest: 4_096,
  world: whatsappWorld,
  can: [
    ...(["split", "edit", "react", "reactions"] as const),
    ...(["limitNext", "refuseNext", "loseAnswer"] as const),
    ...(["line", "redeliver", "garbage", "revoke"] as const),
  ],
});
