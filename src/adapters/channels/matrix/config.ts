/**
 * The config of a Matrix account
 * ==============================
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { ChannelFacts } from "../../../domain/ports/index.ts";

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

/** UTF-16 units. An event has 65,536 bytes at most, with the text in it twice. */
export const matrixTextLimit = 8_000;

/** All of the channel but what connects, which is loaded when an account needs it. */
export const matrixFacts: ChannelFacts<MatrixAccountConfig> = {
  id: "matrix",
  meta: {
    name: "Matrix",
    description: "A bot on a Matrix homeserver, in rooms that are not encrypted",
  },
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
  textLimit: matrixTextLimit,
  typingIntervalMs: 20_000,
  accountSchema: matrixAccountSchema as z.ZodType<MatrixAccountConfig>,
  local: false,
  setup: {
    steps: [
      "Install the client library beside earshot: npm install matrix-js-sdk@~37.5.0",
      "Register an account for the bot on a homeserver, and log in as the bot with a client such as Element.",
      "Take the access token from Settings, Help & About, Advanced; then close that client without logging out.",
    ],
    fields: [
      {
        name: "homeserver",
        label: "Homeserver",
        secret: null,
        isOptional: false,
        hint: "Its address for clients, such as https://matrix-client.matrix.org.",
      },
      {
        name: "accessToken",
        label: "Access token of the bot",
        secret: "MATRIX_ACCESS_TOKEN",
        isOptional: false,
      },
      {
        name: "sendAs",
        label: "How its messages are marked",
        secret: null,
        isOptional: true,
        options: ["notice", "text"],
        initial: "notice",
        hint: "notice: other bots do not answer it.",
      },
    ],
  },
};
