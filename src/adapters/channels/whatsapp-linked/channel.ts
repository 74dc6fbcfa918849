/**
 * A WhatsApp account with earshot as one of its linked devices. docs/channels/whatsapp-linked.md describes
 * how to set one up, and what speaks against it. This file assembles the parts, one file each (the library,
 * the store, the inbox, connections, normalising, groups, sending, errors).
 */
import type { z } from "zod";
import { type ChannelAccount, defineChannel } from "../../../domain/ports/index.ts";
import { whatsappTextLimit } from "../shared/whatsapp-marks.ts";
import { type LinkedAccountConfig, linkedAccountSchema } from "./config.ts";
import { receive } from "./gateway.ts";
import { identityOf, linkAccount } from "./link.ts";
import type { LinkedLink } from "./live.ts";
import { downloadOf } from "./media.ts";
import { channelId } from "./normalise.ts";
import { createLinkedOutbound } from "./outbound.ts";
import { groupServer, jidOf } from "./people.ts";

export const whatsappLinkedChannel = defineChannel<LinkedAccountConfig>({
  id: channelId,
  meta: {
    name: "WhatsApp (linked device)",
    description: "An ordinary WhatsApp account, with earshot as a linked device; unofficial",
  },
  capabilities: {
    edits: true,
    deletes: true,
    reactions: true,
    typing: true,
    threads: false,
    membership: true,
    history: false,
    media: true,
    mentions: "structured",
    replyAuthor: true,
    botFlag: false,
  },
  textLimit: whatsappTextLimit,
  typingIntervalMs: 10_000,
  accountSchema: linkedAccountSchema as unknown as z.ZodType<LinkedAccountConfig>,
  local: false,
  setup: {
    steps: [
      "Read docs/channels/whatsapp-linked.md: the protocol is unofficial, and WhatsApp may block the number.",
      "Install the library beside earshot: npm install baileys@7.0.0-rc14",
      "When the account is in the config, link it: earshot channels link whatsapp-linked",
    ],
    fields: [
      {
        name: "number",
        label: "Number of the account",
        secret: null,
        isOptional: false,
        hint: "With the country's code, such as +1 555 010 9999.",
      },
    ],
  },
  chatKind: (id) => (jidOf(id).server === groupServer ? "group" : "direct"),
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
