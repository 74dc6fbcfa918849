/**
 * The config of a Discord account
 * ===============================
 */
import { z } from "zod";
import type { ChannelFacts } from "../../../domain/ports/index.ts";

export interface DiscordAccountConfig {
  readonly token: string;
  readonly apiRoot: string;
  /** Whether the privileged intent MESSAGE CONTENT is asked for. */
  readonly messageContent: boolean;
  /** Ids of the servers that are heard; absent: every one that the bot is in. */
  readonly guilds?: readonly string[] | undefined;
  /** Whether the bot's commands are offered after typing `/`. */
  readonly slashCommands: boolean;
}

export const discordAccountSchema = z.strictObject({
  token: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,256}$/, "a bot token has three parts with dots between them")
    .meta({
      description:
        "The bot's token from the Developer Portal, preferably from an environment variable.",
    }),
  apiRoot: z
    .url({ protocol: /^https?$/ })
    .default("https://discord.com/api")
    .transform((url) => url.replace(/\/+$/, ""))
    .meta({ description: "Another API server (a proxy, a test one), without the version." }),
  messageContent: z
    .boolean()
    .default(true)
    .meta({
      description:
        "Ask for the intent MESSAGE CONTENT. Without it, only mentions of the bot and direct messages " +
        "come with their text.",
    }),
  guilds: z
    .array(z.string().regex(/^\d{1,20}$/, "a server's id has digits only"))
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "Ids of the servers to hear. Left out: every one that the bot is in." }),
  slashCommands: z.boolean().default(true).meta({
    description: "Offer the bot's commands after typing `/`. Commands of other programs stay.",
  }),
});

/** Characters of a message's content (docs: Create Message). */
export const discordTextLimit = 2_000;

/** All of the channel but what connects, which is loaded when an account needs it. */
export const discordFacts: ChannelFacts<DiscordAccountConfig> = {
  id: "discord",
  meta: { name: "Discord", description: "A Discord bot, over the gateway" },
  capabilities: {
    edits: true,
    deletes: true,
    reactions: true,
    typing: true,
    threads: true,
    membership: true,
    history: true,
    media: true,
    mentions: "structured",
    replyAuthor: true,
    botFlag: true,
  },
  textLimit: discordTextLimit,
  textUnit: "codepoints",
  typingIntervalMs: 10_000,
  accountSchema: discordAccountSchema as z.ZodType<DiscordAccountConfig>,
  setup: {
    steps: [
      "At https://discord.com/developers/applications, choose New Application.",
      "Under Bot, turn on Message Content Intent, then choose Reset Token and copy the token.",
      "Under OAuth2, URL Generator, choose the scopes bot and applications.commands and the permissions " +
        "View Channels, Send Messages, Send Messages in Threads, Read Message History, Add Reactions, " +
        "Attach Files and Embed Links; open the address and add the bot to your server.",
    ],
    fields: [{ name: "token", label: "Bot token", secret: "DISCORD_TOKEN", isOptional: false }],
  },
  local: false,
};
