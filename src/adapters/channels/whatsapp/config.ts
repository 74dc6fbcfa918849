/**
 * The config of a WhatsApp account
 * ================================
 * One business phone number of the Cloud API.
 */
import { z } from "zod";

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
