/**
 * A WhatsApp account with earshot as one of its linked devices. docs/channels/whatsapp-linked.md describes
 * how to set one up, and what speaks against it. This file assembles the parts, one file each (the library,
 * the store, the inbox, connections, normalising, groups, sending, errors).
 */
import { type ChannelAccount, defineChannel } from "../../../domain/ports/index.ts";
import { type LinkedAccountConfig, whatsappLinkedFacts } from "./config.ts";
import { receive } from "./gateway.ts";
import { identityOf, linkAccount } from "./link.ts";
import type { LinkedLink } from "./live.ts";
import { downloadOf } from "./media.ts";
import { createLinkedOutbound } from "./outbound.ts";

export const whatsappLinkedChannel = defineChannel<LinkedAccountConfig>({
  ...whatsappLinkedFacts,
  open(context): ChannelAccount {
    const link: LinkedLink = { live: null };
    return {
      start: (signal) => receive(context, link, signal),
      outbound: createLinkedOutbound(context, link),
      link: (request) => linkAccount(context, request),
      identify: () => identityOf(context),
      downloadMedia: (id, signal) => downloadOf(link.live, context.config, id, signal),
      async membership({ chat }) {
        const group = await link.live?.groups.of(chat.id);
        if (group === null || group === undefined)
          return { humans: 1, bots: 1, truncated: chat.kind !== "direct" };
        // Nobody says which of the others are bots.
        const others = Math.max(0, group.participants.length - 1);
        return { humans: others, bots: 1, truncated: others > 1 };
      },
    };
  },
});
