/**
 * A bot by long polling, which needs no public address, or by webhook. docs/channels/telegram.md
 * describes how to create one. This file assembles the parts, one file each (wire format,
 * normalising, the poll loop, the webhook, sending, markup, errors).
 */
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import {
  type ChannelAccount,
  type ChannelContext,
  defineChannel,
} from "../../../domain/ports/index.ts";
import { createHttpClient } from "../../http/http-client.ts";
import type { TelegramApi } from "./api.ts";
import { businessHint } from "./business.ts";
import { TelegramChats } from "./chats.ts";
import { answerPresses, isOwnPress } from "./choices.ts";
import { createTelegramClient, type TelegramClient, target } from "./client.ts";
import { type TelegramAccountConfig, telegramFacts } from "./config.ts";
import { pause, readUpdate, receive, whoAmI } from "./gateway.ts";
import type { TelegramSelf } from "./normalise.ts";
import { createTelegramOutbound } from "./outbound.ts";
import { createUpdateIntake } from "./update-intake.ts";
import { createTelegramWebhook } from "./webhook.ts";

/** Telegram's documentation of bots, "Privacy mode". */
const privacyNote =
  "Privacy mode is on: in groups, Telegram sends the bot only commands, mentions and replies to it. " +
  "Write /setprivacy to @BotFather, choose Disable, then remove the bot from its groups and add it again.";
const askMsMax = 10_000;
const fileMsMax = 30_000;

export const telegramChannel = defineChannel<TelegramAccountConfig>({
  ...telegramFacts,
  open(context) {
    const chats = chatsOf(context);
    const client = createTelegramClient(context.config, chats);
    const { webhook } = context.config;
    const posted = webhook && createTelegramWebhook(client, context, webhook, chats);
    return {
      start: (signal) => (posted ? posted.start(signal) : receive(client, context, chats, signal)),
      ...(posted && { hook: posted.hook }),
      ...callsOf(client, context.config, chats),
    };
  },
});

/**
 * An account that gets its updates from a bot's own client, and calls the Bot API through it. `take`
 * is there once it has started; it resolves when an update is durable.
 * @throws EarshotError with the disposition `retry` from `take` while nothing is accepted
 */
export function openFedTelegram(
  context: ChannelContext<TelegramAccountConfig>,
  open: () => Promise<TelegramApi>,
  onStart: (take: (update: unknown) => Promise<void>, signal: AbortSignal) => void,
): ChannelAccount {
  const chats = chatsOf(context);
  const client = createTelegramClient(context.config, chats, open);
  const intake = createUpdateIntake(context, chats);
  return {
    async start(signal) {
      const self = await whoAmIAtLast(client, context, signal);
      if (self === null) return;
      intake.load(await context.loadCursor(self.id));
      intake.releaseUntil(signal);
      const receiver = { account: context.accountId, self, chats };
      context.reportState("live", businessHint(context.config, self));
      onStart(async (update) => {
        await intake.take(readUpdate(update, receiver, context));
        if (isOwnPress(update)) void answerPresses(client, context, [update], signal);
      }, signal);
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve());
        if (signal.aborted) resolve();
      });
    },
    ...callsOf(client, context.config, chats),
  };
}

/** Who the bot is, asked until there is an answer; null: it was stopped before. */
async function whoAmIAtLast(
  client: TelegramClient,
  context: ChannelContext<TelegramAccountConfig>,
  signal: AbortSignal,
): Promise<TelegramSelf | null> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await whoAmI(client, signal);
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof EarshotError) || error.disposition === "terminal") throw error;
      context.reportState("backing-off", error.message);
      await pause(context, error, failures, signal);
      context.reportState("connecting");
    }
  }
  return null;
}

const chatsOf = ({ log }: ChannelContext<TelegramAccountConfig>) =>
  new TelegramChats((from, to) => log("warn", "telegram.group-migrated", { from, to }));

/** What an account asks of the Bot API. */
function callsOf(
  client: TelegramClient,
  config: TelegramAccountConfig,
  chats: TelegramChats,
): Omit<ChannelAccount, "start" | "hook"> {
  const http = createHttpClient({ allowPrivate: [new URL(config.apiRoot).origin] });
  return {
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
}
