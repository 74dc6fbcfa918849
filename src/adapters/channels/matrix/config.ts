/**
 * The config of a Matrix account
 * ==============================
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";

export interface MatrixAccountConfig {
  /** The homeserver's address for clients, without a slash at its end. */
  readonly homeserver: string;
  readonly accessToken: string;
  /** How the bot's messages are marked: as those of a program, or as those of a person. */
  readonly sendAs: "notice" | "text";
  readonly invites: "accept" | "ignore";
}

export const matrixAccountSchema = z.strictObject({
  homeserver: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ""))
    .meta({
      description:
        "The homeserver's address for clients, such as https://matrix-client.matrix.org.",
    }),
  accessToken: z.string().min(1).max(limits.labelUnitsMax).meta({
    description: "The access token of the bot's login, preferably from an environment variable.",
  }),
  sendAs: z.enum(["notice", "text"]).default("notice").meta({
    description: "notice: other bots do not answer it; text: as a person writes.",
  }),
  invites: z.enum(["accept", "ignore"]).default("accept").meta({
    description: "Whether the bot enters a room when somebody invites it.",
  }),
});
