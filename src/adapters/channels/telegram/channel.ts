/**
 * A bot by long polling, which needs no public address, or by webhook. docs/channels/telegram.md
 * describes how to create one. This file assembles the parts, one file each (wire format,
 * normalising, the poll loop, the webhook, sending, markup, errors).
 */
import type { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { defineChannel } from "../../../domain/ports/index.ts";
import { createHttpClient } from "../../http/http-client.ts";
import { TelegramChats } from "./chats.ts";
import { createTelegramClient, target } from "./client.ts";
import { type TelegramAccountConfig, telegramAccountSchema } from "./config.ts";
import { receive, whoAmI } from "./gateway.ts";
import { createTelegramOutbound, telegramTextLimit } from "./outbound.ts";
import { createTelegramWebhook } from "./webhook.ts";

/** Telegram's documentation of bots, "Privacy mode". */
const privacyNote =
  "Privacy mode is on: in groups, Telegram sends the bot only commands, mentions and replies to it. " +
  "Write /setprivacy to @BotFather, choose Disable, then remove the bot from its groups and add it again.";
const askMsMax = 10_000;
const fileMsMax = 30_000;

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
  // Ids of people are positive. Supergroups and channels share one form.
  chatKind: (id) =>
    /^[1-9]\d*$/u.test(id) ? "direct" : /^-(?!100)\d+$/u.test(id) ? "group" : null,
  open(context) {
    const chats = new TelegramChats((from, to) =>
      context.log("warn", "telegram.group-migrated", { from, to }),
    );
    const client = createTelegramClient(context.config, chats);
    const http = createHttpClient({ allowPrivate: [new URL(context.config.apiRoot).origin] });
    const { webhook } = context.config;
    const posted = webhook && createTelegramWebhook(client, context, webhook, chats);
    return {
      start: (signal) => (posted ? posted.start(signal) : receive(client, context, chats, signal)),
      ...(posted && { hook: posted.hook }),
      outbound: createTelegramOutbound(client, chats),
      async membership(route, signal) {
        const { chat_id } = target(route);
        const options = { kind: "ask", signal, msMax: askMsMax } as const;
        const count = await client.call("getChatMemberCount", { chat_id }, options);
        // The count includes bots, this one among them; which members are bots is known only with
        // at most one other member.
        const others = Math.max(0, count - 1);
        return { humans: others, bots: Math.min(1, count), truncated: others > 1 };
      },
      async downloadMedia(attachmentId, signal) {
        const options = { kind: "ask", signal, msMax: askMsMax } as const;
        const file = await client.call("getFile", { file_id: attachmentId }, options);
        if (file.file_path === undefined)
          throw new EarshotError(
            "EAR_CHANNEL_REJECTED",
            "Cannot fetch a file: Telegram reports no path for it",
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
        const name = self.username === "" ? self.name : `@${self.username}`;
        return { id: self.id, name, ...(self.hearsAll === false && { notes: [privacyNote] }) };
      },
    };
  },
});
