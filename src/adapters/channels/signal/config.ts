/**
 * The config of a Signal account: where signal-cli's daemon listens, and which of its accounts this is.
 */
import { z } from "zod";
import type { ChatKind } from "../../../domain/message.ts";
import type { ChannelFacts } from "../../../domain/ports/index.ts";

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

/** Longer texts are sent as a file by signal-cli, and cut in the apps with "Read more". */
export const signalTextLimit = 2_000;

function kindOfChat(id: string): ChatKind | null {
  if (aciPattern.test(id) || numberPattern.test(id)) return "direct";
  return /^[A-Za-z0-9+/]{22,43}={0,2}$/.test(id) ? "group" : null;
}

/** All of the channel but what connects, which is loaded when an account needs it. */
export const signalFacts: ChannelFacts<SignalAccountConfig> = {
  id: "signal",
  meta: { name: "Signal", description: "A Signal account, through signal-cli" },
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
  textLimit: signalTextLimit,
  typingIntervalMs: 10_000,
  accountSchema: signalAccountSchema as z.ZodType<SignalAccountConfig>,
  setup: {
    steps: [
      "Install signal-cli (https://github.com/AsamK/signal-cli), and register a number of its own with it, or link it to a phone.",
      "Start its daemon: signal-cli -a +4930123456 daemon --http 127.0.0.1:8080",
    ],
    fields: [
      {
        name: "account",
        label: "Phone number",
        secret: null,
        isOptional: false,
        hint: "With country code, such as +4930123456; or the account id (ACI).",
      },
      {
        name: "url",
        label: "Address of the daemon",
        secret: null,
        isOptional: true,
        initial: "http://127.0.0.1:8080/",
      },
      {
        name: "name",
        label: "Name",
        secret: null,
        isOptional: true,
        hint: "The bot's name in Signal.",
      },
      {
        name: "receiveMode",
        label: "Receive mode of the daemon",
        secret: null,
        isOptional: true,
        options: ["on-start", "on-connection"],
        initial: "on-start",
      },
      {
        name: "token",
        label: "Token of a proxy in front of it",
        secret: "SIGNAL_PROXY_TOKEN",
        isOptional: true,
      },
    ],
  },
  local: false,
  chatKind: kindOfChat,
};
