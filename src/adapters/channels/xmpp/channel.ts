/**
 * A bot on an XMPP server. docs/channels/xmpp.md describes how to set one up. This file assembles the
 * parts, one file each (wire format, connection, rooms, normalising, sending, styling).
 */
import type { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { defineChannel } from "../../../domain/ports/index.ts";
import { XmppChats } from "./chats.ts";
import { openConnection } from "./client.ts";
import { type XmppAccountConfig, xmppAccountSchema } from "./config.ts";
import { receive, type XmppLink } from "./gateway.ts";
import { createXmppOutbound, xmppTextLimit } from "./outbound.ts";

export const xmppChannel = defineChannel<XmppAccountConfig>({
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
