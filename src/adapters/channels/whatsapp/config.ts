/**
 * The config of a WhatsApp account
 * ================================
 * One business phone number of the Cloud API.
 */
import { z } from "zod";
import type { ChannelFacts } from "../../../domain/ports/index.ts";
import { whatsappTextLimit } from "../shared/whatsapp-limit.ts";

export interface WhatsAppAccountConfig {
  readonly phoneNumberId: string;
  readonly accessToken: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  /** With the version, without a slash at its end. */
  readonly apiRoot: string;
}

export const whatsappAccountSchema = z.strictObject({
  phoneNumberId: z
    .string()
    .regex(/^\d{5,32}$/, "a phone number id is a number, under WhatsApp, API Setup")
    .meta({ description: "The id of the business phone number (not the number itself)." }),
  accessToken: z
    .string()
    .regex(/^[\w.|-]{8,1024}$/, "an access token of a system user")
    .meta({ description: "Access token with whatsapp_business_messaging." }),
  appSecret: z
    .string()
    .min(8)
    .max(256)
    .meta({ description: "The app's secret, which signs what Meta posts." }),
  verifyToken: z
    .string()
    .min(8)
    .max(256)
    .meta({ description: "Any text of yours, entered at Meta with the callback URL." }),
  apiRoot: z
    .url({ protocol: /^https?$/ })
    .default("https://graph.facebook.com/v23.0")
    .transform((url) => url.replace(/\/+$/, ""))
    .meta({ description: "The Graph API with its version, or another server." }),
});

/** All of the channel but what connects, which is loaded when an account needs it. */
export const whatsappFacts: ChannelFacts<WhatsAppAccountConfig> = {
  id: "whatsapp",
  meta: { name: "WhatsApp", description: "A WhatsApp number of a business (Cloud API)" },
  capabilities: {
    edits: false,
    deletes: false,
    reactions: true,
    typing: true,
    threads: false,
    membership: false,
    history: false,
    media: true,
    mentions: "text",
    replyAuthor: true,
    botFlag: false,
  },
  textLimit: whatsappTextLimit,
  // It ends after 25 s.
  typingIntervalMs: 20_000,
  accountSchema: whatsappAccountSchema as z.ZodType<WhatsAppAccountConfig>,
  setup: {
    steps: [
      "At https://developers.facebook.com/apps, create a business app and add WhatsApp to it.",
      "Under WhatsApp, API Setup, copy the phone number id. Under App settings, Basic, copy the app secret.",
      "In the Business settings, create a system user, give it the app and the account, and generate a token with whatsapp_business_messaging.",
      "After earshot has started: under WhatsApp, Configuration, enter https://<address>/hooks/whatsapp/<account> and the verify token, and subscribe to messages.",
    ],
    fields: [
      { name: "phoneNumberId", label: "Phone number id", secret: null, isOptional: false },
      {
        name: "accessToken",
        label: "Access token",
        secret: "WHATSAPP_ACCESS_TOKEN",
        isOptional: false,
      },
      { name: "appSecret", label: "App secret", secret: "WHATSAPP_APP_SECRET", isOptional: false },
      {
        name: "verifyToken",
        label: "Verify token",
        secret: "WHATSAPP_VERIFY_TOKEN",
        isOptional: false,
        hint: "any text of yours, entered at Meta as well",
      },
    ],
  },
  local: false,
  connectsOnce: () => false,
  chatKind: (id) =>
    /^(\d{5,20}|[A-Z]{2}\.(ENT\.)?\w{1,128})(\/next)?$/.test(id) ? "direct" : null,
};
