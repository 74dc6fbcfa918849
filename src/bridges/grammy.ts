/**
 * earshot for a bot of grammY
 * ===========================
 * `earshot/grammy`: the bot keeps its token, its polling or webhook, and its handlers. Its updates go
 * through an earshot of the same process, which decides and answers through the bot's own `api`, with
 * whatever transformers (throttling, retries) that has. docs/guide/bridges.md describes it.
 */
import type { Bot, Context, MiddlewareFn } from "grammy";
import { z } from "zod";
import type { TelegramApi } from "../adapters/channels/telegram/api.ts";
import { openFedTelegram, telegramChannel } from "../adapters/channels/telegram/channel.ts";
import { isOwnPress } from "../adapters/channels/telegram/choices.ts";
import { telegramAccountSchema } from "../adapters/channels/telegram/config.ts";
import { telegramError } from "../adapters/channels/telegram/errors.ts";
import type { ChannelDefinition } from "../domain/ports/index.ts";
import { Feed } from "./shared.ts";

export interface GrammyBridge {
  /** For `createEarshot({ channels })`: the channel `telegram`, with this bot as its account. */
  readonly channel: ChannelDefinition;
  /**
   * For `bot.use(bridge)`: every update that passes goes to earshot, and on to the next handler, except
   * presses of buttons that earshot has sent.
   */
  middleware(): MiddlewareFn;
}

/** The account's config: the token and the rest are the bot's. */
const accountSchema = z.strictObject({
  business: z.boolean().default(false),
});

/**
 * Adds earshot to a bot of grammY.
 *
 * @example
 * ```ts
 * const bridge = createBridge(bot);
 * bot.use(bridge);
 * await createEarshot({ channels: [bridge.channel] });
 * await bot.start();
 * ```
 */
export function createBridge<C extends Context>(bot: Bot<C>): GrammyBridge {
  const feed = new Feed<unknown>();
  const apiRoot = (bot.api.options?.apiRoot ?? "https://api.telegram.org").replace(/\/+$/, "");
  const channel: ChannelDefinition<{ readonly business: boolean }> = {
    ...withoutSetup,
    accountSchema,
    open: ({ config: { business }, ...context }) => {
      const config = telegramAccountSchema.parse({ botToken: bot.token, apiRoot, business });
      return openFedTelegram(
        { ...context, config },
        () => openApi(bot),
        (take, signal) => feed.open(context, take, signal),
      );
    },
  };
  return {
    channel: channel as ChannelDefinition,
    middleware: () => async (context, next) => {
      await feed.push(context.update);
      if (!isOwnPress(context.update)) await next();
    },
  };
}

const { setup: _, ...withoutSetup } = telegramChannel;

/** The bot's own `api`, methods by name. */
async function openApi<C extends Context>({ api, token }: Bot<C>): Promise<TelegramApi> {
  // The bot's own copy of the library, not the one inside earshot: its api knows files by their class.
  const library = "grammy";
  const { InputFile } = (await import(/* @vite-ignore */ library)) as typeof import("grammy");
  const methods = api.raw as unknown as Readonly<
    Record<string, (...args: readonly unknown[]) => Promise<never>>
  >;
  return {
    call: (method, args) =>
      (methods[method] as (...args: readonly unknown[]) => Promise<never>)(...args),
    file: (data, name) => new InputFile(data, name),
    errorOf: (error, method, kind) => telegramError(error, method, kind, token),
  };
}
