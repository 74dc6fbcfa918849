/**
 * The config of an IRC account
 * ============================
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { ChannelFacts } from "../../../domain/ports/index.ts";
import { isRoom } from "./names.ts";

export interface IrcAccountConfig {
  readonly host: string;
  readonly port?: number | undefined;
  readonly tls: boolean;
  readonly verifyCertificate: boolean;
  readonly nick: string;
  readonly username: string;
  readonly realName: string;
  readonly serverPassword?: string | undefined;
  readonly login?: IrcLogin | undefined;
  readonly join: readonly IrcJoin[];
  readonly pingSeconds: number;
  readonly lineBurst: number;
  readonly lineIntervalMs: number;
}

export interface IrcLogin {
  readonly account: string;
  readonly password: string;
  readonly by: "sasl" | "nickserv";
}

/** A room to be in. */
export interface IrcJoin {
  readonly channel: string;
  readonly password?: string | undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a name may not have them
const channelName = /^[#&+!][^\s,:\u0000-\u001f]{1,199}$/;
const channel = z.string().regex(channelName, "a room looks like #name");
// biome-ignore lint/suspicious/noControlCharactersInRegex: they would end the command
const oneLine = /^[^\r\n\u0000]+$/;
const word = /^[^\s:][^\s]*$/;
const password = (text: string) =>
  z.string().min(1).max(400).regex(oneLine, "one line").meta({ description: text });

export const ircAccountSchema = z.strictObject({
  host: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]{1,253}$/, "a host name or an IP address, without a port")
    .meta({ description: "The server: a host name or an IP address." }),
  port: z
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .meta({ description: "Left out: 6697, or 6667 without TLS." }),
  tls: z.boolean().default(true).meta({ description: "Connect with TLS." }),
  verifyCertificate: z.boolean().default(true).meta({
    description: "Refuse a server whose certificate is not valid for its name (self-signed).",
  }),
  nick: z
    .string()
    .regex(/^[A-Za-z[\]\\`_^{|}][A-Za-z0-9[\]\\`_^{|}-]{0,29}$/, "a nick has letters and digits")
    .meta({
      description: "The bot's nick. In use: it gets another, and takes this one when free.",
    }),
  username: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,16}$/, "a user name has at most 16 letters and digits")
    .default("earshot")
    .meta({ description: "The part before @ of the bot's host mask." }),
  realName: z
    .string()
    .min(1)
    .max(128)
    .regex(oneLine, "one line")
    .default("earshot")
    .meta({ description: "What WHOIS shows: whose bot it is." }),
  serverPassword: password("The server's own password, where it has one (PASS).").optional(),
  login: z
    .strictObject({
      account: z.string().max(64).regex(word, "one word").meta({ description: "Of the services." }),
      password: password("The account's password, preferably from an environment variable."),
      by: z.enum(["sasl", "nickserv"]).default("sasl").meta({
        description: "sasl: before connecting is complete; nickserv: by a message to NickServ.",
      }),
    })
    .optional()
    .meta({ description: "The bot's account at the network's services." }),
  join: z
    .array(
      z.union([
        channel.transform((name): IrcJoin => ({ channel: name })),
        z.strictObject({
          channel: channel.meta({ description: "The room, such as #name." }),
          password: password("The room's key (mode k).").optional(),
        }),
      ]),
    )
    .max(limits.ircRoomsMax)
    .default([])
    .meta({ description: 'Rooms to join, as "#name" or with a password.' }),
  pingSeconds: z.number().int().min(1).max(120).default(30).meta({
    description:
      "How often a server is asked for a sign of life; silent for 2.5 times as long: gone.",
  }),
  lineBurst: z.number().int().min(1).max(50).default(5).meta({
    description: "Lines that are sent at once after a pause.",
  }),
  lineIntervalMs: z.number().int().min(0).max(60_000).default(2_000).meta({
    description:
      "Time for each further line. Servers disconnect who writes faster than they allow.",
  }),
});

/** UTF-16 units of an answer's part: about one line, as each line is a message of its own. */
export const ircTextLimit = 400;

/** All of the channel but what connects, which is loaded when an account needs it. */
export const ircFacts: ChannelFacts<IrcAccountConfig> = {
  id: "irc",
  meta: { name: "IRC", description: "A bot on an IRC network, with TLS and SASL" },
  capabilities: {
    edits: false,
    deletes: false,
    reactions: false,
    typing: false,
    threads: false,
    membership: true,
    history: false,
    media: false,
    mentions: "text",
    replyAuthor: false,
    botFlag: true,
  },
  textLimit: ircTextLimit,
  textUnit: "bytes",
  typingIntervalMs: 60_000,
  accountSchema: ircAccountSchema as z.ZodType<IrcAccountConfig>,
  setup: {
    steps: [
      "Choose a network and a nick. On most networks, register the nick: connect with any client, and write " +
        "/msg NickServ REGISTER <password> <email>.",
      "If the room is for registered people only, or by invitation, have an operator of it let the nick in.",
    ],
    fields: [
      {
        name: "host",
        label: "Server",
        secret: null,
        isOptional: false,
        hint: "Such as irc.libera.chat.",
      },
      {
        name: "port",
        label: "Port",
        secret: null,
        isOptional: true,
        type: "number",
        hint: "Left out: 6697, or 6667 without TLS.",
      },
      { name: "tls", label: "TLS", secret: null, isOptional: true, type: "flag", initial: "true" },
      { name: "nick", label: "Nick", secret: null, isOptional: false },
      {
        name: "join",
        label: "Rooms to join",
        secret: null,
        isOptional: true,
        type: "list",
        hint: "Such as #tea, #coffee.",
      },
      {
        name: "login.account",
        label: "Account at the network's services",
        secret: null,
        isOptional: true,
      },
      { name: "login.password", label: "Its password", secret: "IRC_PASSWORD", isOptional: true },
    ],
  },
  local: false,
  chatKind: (id) => (isRoom(id) ? "group" : "direct"),
};
