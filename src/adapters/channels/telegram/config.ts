/**
 * The config of a Telegram account
 * ================================
 */
import { z } from "zod";
import type { ChannelFacts } from "../../../domain/ports/index.ts";

export interface TelegramAccountConfig {
  readonly botToken: string;
  readonly apiRoot: string;
  readonly pollSeconds: number;
  readonly allowedUpdates: readonly string[];
  /** Whether the chats of business accounts that the bot is connected to are heard. */
  readonly business: boolean;
  /** Telegram posts updates; absent: earshot polls. */
  readonly webhook?: TelegramWebhookConfig | undefined;
}

export interface TelegramWebhookConfig {
  /** The public URL of the account's hook. */
  readonly url: string;
  readonly secret: string;
  /** Concurrent posts. */
  readonly connections: number;
}

export const telegramAccountSchema = z.strictObject({
  botToken: z
    .string()
    .regex(/^[A-Za-z0-9:_-]{1,256}$/, "a bot token looks like 123456789:AAbb..., from @BotFather")
    .meta({
      description: "The bot's token from @BotFather, preferably from an environment variable.",
    }),
  apiRoot: z
    .url({ protocol: /^https?$/ })
    .default("https://api.telegram.org")
    .transform((url) => url.replace(/\/+$/, ""))
    .meta({ description: "Another Bot API server (a local one, a test one)." }),
  pollSeconds: z
    .number()
    .int()
    .min(0)
    .max(50)
    .default(30)
    .meta({ description: "How long one getUpdates call waits for updates, seconds." }),
  allowedUpdates: z
    .array(z.string().min(1).max(64))
    .max(64)
    .default([
      "message",
      "edited_message",
      "channel_post",
      "edited_channel_post",
      "message_reaction",
      "callback_query",
    ])
    .meta({ description: "Kinds of updates to request; unknown kinds are ignored." }),
  business: z
    .boolean()
    .default(false)
    .meta({
      description:
        "Hear and answer the chats of business accounts that the bot is connected to, in the name " +
        "of their owners.",
    }),
  webhook: z
    .strictObject({
      url: z
        .url({ protocol: /^https?$/ })
        .meta({ description: "Public URL of /hooks/telegram/<account> of this daemon." }),
      secret: z
        .string()
        .regex(/^[A-Za-z0-9_-]{16,256}$/, "a secret has 16 to 256 of A-Z a-z 0-9 _ -")
        .meta({ description: "Sent with every update; without it anyone could post updates." }),
      connections: z
        .number()
        .int()
        .min(1)
        .max(100)
        .default(1)
        .meta({ description: "Concurrent posts. Above 1, messages may arrive out of order." }),
    })
    .optional()
    .meta({ description: "Telegram posts its updates. Left out: polling." }),
});

/** UTF-16 units after entities parsing (Bot API: sendMessage.text). */
export const telegramTextLimit = 4_096;

/** All of the channel but what connects, which is loaded when an account needs it. */
export const telegramFacts: ChannelFacts<TelegramAccountConfig> = {
  id: "telegram",
  meta: { name: "Telegram", description: "A Telegram bot, by long polling or by webhook" },
  capabilities: {
    edits: true,
    deletes: false,
    reactions: true,
    typing: true,
    threads: true,
    membership: true,
    history: false,
    media: true,
    mentions: "structured",
    replyAuthor: true,
    botFlag: true,
  },
  textLimit: telegramTextLimit,
  typingIntervalMs: 5_000,
  accountSchema: telegramAccountSchema as z.ZodType<TelegramAccountConfig>,
  setup: {
    steps: [
      "In Telegram, write /newbot to @BotFather, and choose a name and a user name.",
      "Copy the token that it answers with.",
    ],
    fields: [
      { name: "botToken", label: "Bot token", secret: "TELEGRAM_BOT_TOKEN", isOptional: false },
      { name: "apiRoot", label: "Bot API server", secret: null, isOptional: true },
    ],
  },
  local: false,
  connectsOnce: ({ webhook }) => webhook === undefined,
  // Ids of people are positive. Supergroups and channels share one form.
  chatKind: (id) =>
    /^[1-9]\d*$/u.test(id) ? "direct" : /^-(?!100)\d+$/u.test(id) ? "group" : null,
};
