/**
 * The config of a Discord account
 * ===============================
 */
import { z } from "zod";

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
