/**
 * Telegram
 * ========
 * A bot by long polling, which needs no public address, or by webhook. docs/channels/telegram.md
 * tells how to make one. Its rooms are here; each part has a file beside this one (wire form,
 * normalising, the poll loop, the webhook, sending, markup, errors).
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { defineChannel } from "../../../domain/ports/index.ts";
import { createHttpClient } from "../../http/http-client.ts";
import { createTelegramClient, type TelegramAccountConfig, target } from "./client.ts";
import { receive, whoAmI } from "./gateway.ts";
import { createTelegramOutbound, telegramTextLimit } from "./outbound.ts";
import { createTelegramWebhook } from "./webhook.ts";

const askMsMax = 10_000;
const fileMsMax = 30_000;

const accountSchema = z.strictObject({
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

export const telegramChannel = defineChannel<TelegramAccountConfig>({
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
  accountSchema: accountSchema as z.ZodType<TelegramAccountConfig>,
  local: false,
  open(context) {
    const client = createTelegramClient(context.config);
    const http = createHttpClient({ allowPrivate: [new URL(context.config.apiRoot).origin] });
    const { webhook } = context.config;
    const posted = webhook && createTelegramWebhook(client, context, webhook);
    return {
      start: (signal) => (posted ? posted.start(signal) : receive(client, context, signal)),
      ...(posted && { hook: posted.hook }),
      outbound: createTelegramOutbound(client),
      async membership(route, signal) {
        const { chat_id } = target(route);
        const options = { kind: "ask", signal, msMax: askMsMax } as const;
        const count = await client.call("getChatMemberCount", { chat_id }, options);
        // Bots are counted too, us among them. Who they are is told only up to one other member.
        const others = Math.max(0, count - 1);
        return { humans: others, bots: Math.min(1, count), truncated: others > 1 };
      },
      async downloadMedia(attachmentId, signal) {
        const options = { kind: "ask", signal, msMax: askMsMax } as const;
        const file = await client.call("getFile", { file_id: attachmentId }, options);
        if (file.file_path === undefined)
          throw new EarshotError(
            "EAR_CHANNEL_REJECTED",
            "Cannot fetch a file as Telegram does not say where it is",
          );
        const url = client.fileUrl(file.file_path);
        return http.stream(url, {
          signal,
          bytesMax: limits.platformFileBytesMax,
          msMax: fileMsMax,
        });
      },
      async identify(signal) {
        const self = await whoAmI(client, signal);
        return { id: self.id, name: self.username === "" ? self.name : `@${self.username}` };
      },
    };
  },
});
