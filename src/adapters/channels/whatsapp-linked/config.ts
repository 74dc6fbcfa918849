/**
 * The config of a linked WhatsApp account
 * =======================================
 * One number; earshot is one of its linked devices.
 */
import { z } from "zod";
import type { ChannelFacts } from "../../../domain/ports/index.ts";
import { whatsappTextLimit } from "../shared/whatsapp-limit.ts";
import { groupServer, jidOf } from "./jid.ts";

export interface LinkedAccountConfig {
  /** The digits of the number, with the country's. */
  readonly number: string;
  readonly url: string;
  /** Without a slash at its end; absent: WhatsApp's. */
  readonly mediaUrl?: string | undefined;
}

export const linkedAccountSchema = z.strictObject({
  number: z
    .string()
    .regex(/^\+?[\d ()-]{7,24}$/, "a number with the country's code, such as +1 555 010 9999")
    .transform((number) => number.replace(/\D/g, ""))
    .meta({
      description: "The number of the account that earshot is linked to, with the country's code.",
    }),
  url: z
    .url({ protocol: /^wss?$/ })
    .default("wss://web.whatsapp.com/ws/chat")
    .meta({
      description: "WhatsApp's server for linked devices, or another server.",
    }),
  mediaUrl: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ""))
    .optional()
    .meta({ description: "Where files are stored. Left out: at WhatsApp." }),
});

export const channelId = "whatsapp-linked";

/** All of the channel but what connects, which is loaded when an account needs it. */
export const whatsappLinkedFacts: ChannelFacts<LinkedAccountConfig> = {
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
  needsMachine: () => "the keys of its device are on one machine",
  chatKind: (id) => (jidOf(id).server === groupServer ? "group" : "direct"),
};
