/**
 * The config of a Signal account: where signal-cli's daemon listens, and which of its accounts this is.
 */
import { z } from "zod";

export interface SignalAccountConfig {
  /** Phone number (`+49…`) or ACI (a UUID), as signal-cli lists it. */
  readonly account: string;
  /** The daemon's address, ending with a slash. */
  readonly url: string;
  /** What people see where the account is mentioned. */
  readonly name?: string | undefined;
  /** For a proxy in front of the daemon, which has no login of its own. */
  readonly token?: string | undefined;
  /** The daemon's `--receive-mode`: it says whether messages wait at Signal while nobody listens. */
  readonly receiveMode: "on-start" | "on-connection";
}

export const numberPattern = /^\+[1-9]\d{4,14}$/;
export const aciPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const signalAccountSchema = z.strictObject({
  account: z
    .string()
    .refine((text) => numberPattern.test(text) || aciPattern.test(text), {
      error: "a phone number with country code, such as +4930123456, or an account id (ACI)",
    })
    .meta({ description: "The bot's phone number with country code, or its account id (ACI)." }),
  url: z
    .url({ protocol: /^https?$/ })
    .default("http://127.0.0.1:8080/")
    .transform((url) => `${url.replace(/\/+$/, "")}/`)
    .meta({ description: "Where signal-cli's daemon listens (its --http)." }),
  name: z.string().trim().min(1).max(64).optional().meta({
    description: "The bot's name in Signal, shown where somebody mentions it.",
  }),
  token: z.string().min(1).max(1_024).optional().meta({
    description: "Bearer token for a proxy in front of the daemon, which itself asks for none.",
  }),
  receiveMode: z.enum(["on-start", "on-connection"]).default("on-start").meta({
    description:
      "The daemon's --receive-mode. With on-connection, messages wait at Signal while earshot is away.",
  }),
});
