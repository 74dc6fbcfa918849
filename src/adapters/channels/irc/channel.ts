/**
 * A bot on an IRC network. docs/channels/irc.md describes how to set one up. This file assembles the
 * parts, one file each (wire format, connection, rooms, normalising, sending, formatting).
 */
import type { z } from "zod";
import { defineChannel } from "../../../domain/ports/index.ts";
import { IrcChats } from "./chats.ts";
import { openConnection } from "./client.ts";
import { type IrcAccountConfig, ircAccountSchema } from "./config.ts";
import { type IrcLink, receive } from "./gateway.ts";
import { introduce } from "./login.ts";
import { isRoom } from "./names.ts";
import { createIrcOutbound, ircTextLimit } from "./outbound.ts";

export const ircChannel = defineChannel<IrcAccountConfig>({
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
  open(context) {
    const chats = new IrcChats();
    const link: IrcLink = { connection: null };
    return {
      start: (signal) => receive(link, context, chats, signal),
      outbound: createIrcOutbound(link, context, chats),
      async membership({ chat }) {
        if (chat.kind === "direct") return { humans: 1, bots: 1, truncated: false };
        const members = chats.members(chat.id);
        const bots = members.filter(({ isBot }) => isBot).length;
        // Without a bot mode nobody says which of the others are bots.
        const isKnown = link.connection?.supports.has("BOT") === true;
        const self = members.length > 0 && bots === 0 ? 1 : 0;
        const humans = Math.max(0, members.length - bots - self);
        return { humans, bots: bots + self, truncated: !isKnown && humans > 1 };
      },
      async identify(signal) {
        const { config, clock, log } = context;
        const options = { config, clock, log, onLine: () => undefined };
        const connection = await openConnection(options, signal);
        try {
          await introduce(connection, context, signal);
          return { id: connection.id, name: connection.self.nick };
        } finally {
          connection.quit();
        }
      },
    };
  },
});
