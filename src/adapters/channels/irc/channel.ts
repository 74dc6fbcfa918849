/**
 * A bot on an IRC network. docs/channels/irc.md describes how to set one up. This file assembles the
 * parts, one file each (wire format, connection, rooms, normalising, sending, formatting).
 */
import { defineChannel } from "../../../domain/ports/index.ts";
import { IrcChats } from "./chats.ts";
import { openConnection } from "./client.ts";
import { type IrcAccountConfig, ircFacts } from "./config.ts";
import { type IrcLink, receive } from "./gateway.ts";
import { introduce } from "./login.ts";
import { createIrcOutbound } from "./outbound.ts";

export const ircChannel = defineChannel<IrcAccountConfig>({
  ...ircFacts,
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
