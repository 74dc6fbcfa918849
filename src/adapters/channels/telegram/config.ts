/**
 * The config of a Telegram account
 * ================================
 */
import { z } from "zod";

export interface TelegramAccountConfig {
  readonly botToken: string;
  readonly apiRoot: string;
  readonly pollSeconds: number;
  readonly allowedUpdates: readonly string[];
  /** Updates are posted to us; absent: we ask for them. */
  readonly webhook?: TelegramWebhookConfig | undefined;
}

export interface TelegramWebhookConfig {
  /** Where Telegram finds the account's hook. */
  readonly url: string;
  readonly secret: string;
  /** Posts at the same time. */
  readonly connections: number;
}

export const telegramAccountSchema = z.strictObject({
  botToken: z
    .string()
    .regex(/^[A-Za-z0-9:_-]{1,256}$/, "a bot token looks like 123456789:AAbb..., from @BotFather")
    .meta({ description: "The bot's token from @BotFather, better as the name of a variable." }),
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
    .meta({ description: "How long one getUpdates call waits for news, seconds." }),
  allowedUpdates: z
    .array(z.string().min(1).max(64))
    .max(64)
    .default(["message", "edited_message", "channel_post", "edited_channel_post"])
    .meta({ description: "Kinds of updates asked for; kinds earshot does not know are ignored." }),
  webhook: z
    .strictObject({
      url: z
        .url({ protocol: /^https?$/ })
        .meta({ description: "Where Telegram finds /hooks/telegram/<account> of this daemon." }),
      secret: z
        .string()
        .regex(/^[A-Za-z0-9_-]{16,256}$/, "a secret has 16 to 256 of A-Z a-z 0-9 _ -")
        .meta({ description: "Sent with every update; without it anybody could post some." }),
      connections: z
        .number()
        .int()
        .min(1)
        .max(100)
        .default(1)
        .meta({ description: "Posts at the same time. Over 1 messages may change places." }),
    })
    .optional()
    .meta({ description: "Telegram posts its updates instead of being asked. Left out: polling." }),
});
