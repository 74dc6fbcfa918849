/**
 * A bot on an XMPP server. docs/channels/xmpp.md describes how to set one up. This file assembles the
 * parts, one file each (wire format, connection, rooms, normalising, sending, styling).
 */
import { EarshotError } from "../../../domain/errors.ts";
import { defineChannel } from "../../../domain/ports/index.ts";
import { XmppChats } from "./chats.ts";
import { openConnection } from "./client.ts";
import { type XmppAccountConfig, xmppFacts } from "./config.ts";
import { receive, type XmppLink } from "./gateway.ts";
import { createXmppOutbound } from "./outbound.ts";

export const xmppChannel = defineChannel<XmppAccountConfig>({
  ...xmppFacts,
  open(context) {
    const chats = new XmppChats();
    const link: XmppLink = { connection: null };
    return {
      start: (signal) => receive(link, context, chats, signal),
      outbound: createXmppOutbound(link, chats),
      async membership({ chat }) {
        if (chat.kind === "direct") return { humans: 1, bots: 1, truncated: false };
        const room = chats.rooms.get(chat.id);
        if (room?.isJoined === true) return room.members;
        throw new EarshotError(
          "EAR_CHANNEL_UNAVAILABLE",
          "Cannot count the members of an XMPP room: we are not in it",
        );
      },
      async identify(signal) {
        const { config, clock, log } = context;
        const options = { config, clock, log, tries: 0, onStanza: () => undefined };
        const connection = await openConnection(options, signal);
        const { bare } = connection;
        connection.quit();
        return { id: bare, name: config.nick };
      },
    };
  },
});
