/**
 * The config of an iMessage account: which program on the Mac speaks for it. `imsg` runs on the Mac
 * itself, as a child process; a BlueBubbles server is reached over HTTP.
 */
import { z } from "zod";
import type { ChannelFacts } from "../../../domain/ports/index.ts";

export interface ImessageAccountConfig {
  readonly backend: "imsg" | "bluebubbles";
  /** imsg: the program and its arguments. */
  readonly command: string;
  readonly args: readonly string[];
  /** imsg: the folder that Messages keeps files in; `~` is the home. */
  readonly attachmentsDir: string;
  /** BlueBubbles: its address, ending with a slash. */
  readonly url?: string | undefined;
  readonly password?: string | undefined;
  /** BlueBubbles: how often new messages are asked for, ms. */
  readonly pollMs: number;
  /** BlueBubbles: the password in the address of the webhook. */
  readonly webhookSecret?: string | undefined;
  /** imsg's bridge, or BlueBubbles' Private API, is set up. */
  readonly privateApi: boolean;
}

export const imessageAccountSchema = z
  .strictObject({
    backend: z.enum(["imsg", "bluebubbles"]).default("imsg").meta({
      description: "The program that speaks for the account: imsg, or a BlueBubbles server.",
    }),
    command: z.string().min(1).max(4_096).default("imsg").meta({
      description: "imsg: the program.",
    }),
    args: z
      .array(z.string().max(4_096))
      .max(64)
      .default(["rpc"])
      .meta({ description: "imsg: its arguments." }),
    attachmentsDir: z
      .string()
      .min(1)
      .max(4_096)
      .default("~/Library/Messages/Attachments")
      .meta({ description: "imsg: where Messages keeps files; no other file is read." }),
    url: z
      .url({ protocol: /^https?$/ })
      .transform((url) => `${url.replace(/\/+$/, "")}/`)
      .optional()
      .meta({ description: "BlueBubbles: the address of its server." }),
    password: z.string().min(1).max(1_024).optional().meta({
      description: "BlueBubbles: the server's password.",
    }),
    pollMs: z.number().int().min(100).max(60_000).default(2_000).meta({
      description: "BlueBubbles: how often new messages are asked for, ms.",
    }),
    webhookSecret: z.string().min(8).max(256).optional().meta({
      description: "BlueBubbles: the password in the webhook's address, for edits and unsends.",
    }),
    privateApi: z.boolean().default(false).meta({
      description:
        "imsg's bridge or BlueBubbles' Private API is set up: replies, tapbacks, edits, typing.",
    }),
  })
  .refine(
    ({ backend, url, password }) =>
      backend === "imsg" || (url !== undefined && password !== undefined),
    { error: "a BlueBubbles account needs url and password" },
  );

/** Messages takes far more; longer answers are hard to read on a phone. */
export const imessageTextLimit = 4_000;

export const isGroupGuid = (guid: string): boolean => guid.includes(";+;");

const isBlueBubbles = { field: "backend", is: "bluebubbles" } as const;

/** All of the channel but what connects, which is loaded when an account needs it. */
export const imessageFacts: ChannelFacts<ImessageAccountConfig> = {
  id: "imessage",
  meta: { name: "iMessage", description: "iMessage on a Mac, through imsg or BlueBubbles" },
  capabilities: {
    edits: true,
    deletes: true,
    reactions: true,
    typing: true,
    threads: false,
    membership: true,
    history: false,
    media: true,
    mentions: "text",
    replyAuthor: true,
    botFlag: false,
  },
  textLimit: imessageTextLimit,
  typingIntervalMs: 30_000,
  needsMachine: ({ backend }) =>
    backend === "imsg" ? "imsg runs on one Mac; with bluebubbles any node reaches it" : null,
  accountSchema: imessageAccountSchema as unknown as z.ZodType<ImessageAccountConfig>,
  setup: {
    steps: [
      "On a Mac with an Apple account of the bot's own, sign in to Messages.",
      "Either install imsg there, and run earshot on that Mac (https://github.com/steipete/imsg);",
      "or install the BlueBubbles server there, and copy its address and password (https://bluebubbles.app).",
    ],
    fields: [
      {
        name: "backend",
        label: "Program on the Mac",
        secret: null,
        isOptional: false,
        options: ["imsg", "bluebubbles"],
        initial: "imsg",
      },
      {
        name: "url",
        label: "Address of the BlueBubbles server",
        secret: null,
        isOptional: false,
        when: isBlueBubbles,
      },
      {
        name: "password",
        label: "Its password",
        secret: "BLUEBUBBLES_PASSWORD",
        isOptional: false,
        when: isBlueBubbles,
      },
      {
        name: "privateApi",
        label: "The bridge or the Private API is set up",
        secret: null,
        isOptional: true,
        type: "flag",
        initial: "false",
      },
    ],
  },
  local: false,
  chatKind: (id) => (isGroupGuid(id) ? "group" : id.includes(";-;") ? "direct" : null),
};
