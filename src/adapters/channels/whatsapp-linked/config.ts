/**
 * The config of a linked WhatsApp account
 * =======================================
 * One number; earshot is one of its linked devices.
 */
import { z } from "zod";

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
