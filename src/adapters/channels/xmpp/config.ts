/**
 * The config of an XMPP account
 * =============================
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { ChannelFacts } from "../../../domain/ports/index.ts";

export interface XmppAccountConfig {
  /** Without a resource, in small letters. */
  readonly jid: string;
  readonly password: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly tls: "starttls" | "direct" | "off";
  readonly verifyCertificate: boolean;
  readonly resource?: string | undefined;
  readonly nick: string;
  readonly rooms: readonly XmppRoomConfig[];
  readonly pingIntervalMs: number;
}

/** A room to be in. */
export interface XmppRoomConfig {
  /** Without a nick, in small letters. */
  readonly jid: string;
  readonly nick?: string | undefined;
  readonly password?: string | undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a name may not have them
const bareJid = /^[^\s@/"&'<>:\u0000-\u001f]{1,255}@[^\s@/"&'<>:\u0000-\u001f]{1,255}$/;
const bare = (hint: string) =>
  z
    .string()
    .regex(bareJid, hint)
    .transform((jid) => jid.toLowerCase());
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not have them
const nickPattern = /^[^\u0000-\u001f\u007f/]{1,64}$/;
const nick = z.string().regex(nickPattern, "a nick has up to 64 characters, without /");
const room = bare("a room looks like room@conference.example.org");

export const xmppAccountSchema = z.strictObject({
  jid: bare("an account looks like bot@example.org").meta({
    description: "The bot's account: name@domain.",
  }),
  password: z
    .string()
    .min(1)
    .max(limits.labelUnitsMax)
    .meta({ description: "Its password, preferably from an environment variable." }),
  host: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]{1,253}$/, "a host name or an IP address, without a port")
    .optional()
    .meta({ description: "The server. Left out: what DNS says for the domain (SRV)." }),
  port: z
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .meta({ description: "Left out: 5222, or 5223 with tls: direct." }),
  tls: z.enum(["starttls", "direct", "off"]).default("starttls").meta({
    description: "starttls: on the normal port; direct: from the first byte; off: a local server.",
  }),
  verifyCertificate: z.boolean().default(true).meta({
    description: "Refuse a server whose certificate is not valid for the domain (self-signed).",
  }),
  resource: z.string().min(1).max(128).optional().meta({
    description: "The name of this login among others of the account. Left out: the server's.",
  }),
  nick: nick.default("earshot").meta({ description: "The bot's nick in rooms." }),
  rooms: z
    .array(
      z.union([
        room.transform((jid): XmppRoomConfig => ({ jid })),
        z.strictObject({
          jid: room.meta({ description: "The room, such as room@conference.example.org." }),
          nick: nick.optional().meta({ description: "Another nick than elsewhere." }),
          password: z
            .string()
            .min(1)
            .max(limits.labelUnitsMax)
            .optional()
            .meta({ description: "The room's password." }),
        }),
      ]),
    )
    .max(200)
    .default([])
    .meta({ description: "Rooms to be in, as an address or with nick and password." }),
  pingIntervalMs: z.number().int().min(100).max(3_600_000).default(60_000).meta({
    description:
      "After so long without a word, the server and each room are asked if they hear us.",
  }),
});

/** UTF-16 units of a message: XMPP has no limit, but a screen has. */
export const xmppTextLimit = 4_000;

/** All of the channel but what connects, which is loaded when an account needs it. */
export const xmppFacts: ChannelFacts<XmppAccountConfig> = {
  id: "xmpp",
  meta: {
    name: "XMPP",
    description: "A bot on an XMPP (Jabber) server, in rooms and direct chats",
  },
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
  textLimit: xmppTextLimit,
  typingIntervalMs: 20_000,
  accountSchema: xmppAccountSchema as z.ZodType<XmppAccountConfig>,
  local: false,
  setup: {
    steps: [
      "Install the client library beside earshot: npm install @xmpp/client@^0.14.0",
      "Register an account for the bot on your server, with any XMPP client or prosodyctl adduser.",
    ],
    fields: [
      {
        name: "jid",
        label: "Address of the bot, such as bot@example.org",
        secret: null,
        isOptional: false,
      },
      { name: "password", label: "Its password", secret: "XMPP_PASSWORD", isOptional: false },
    ],
  },
  chatKind: (id) => (id.includes("/") ? "direct" : null),
};
