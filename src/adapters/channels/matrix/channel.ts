/**
 * A bot on a Matrix homeserver. docs/channels/matrix.md describes how to set one up. This file assembles
 * the parts, one file each (wire format, requests, syncs, rooms, normalising, sending, rendering, errors).
 */
import type { z } from "zod";
import { defineChannel } from "../../../domain/ports/index.ts";
import { createMatrixClient, type MatrixClient, pathOf } from "./client.ts";
import { type MatrixAccountConfig, matrixAccountSchema } from "./config.ts";
import { identityOf, type MatrixLink, receive } from "./gateway.ts";
import { newestOf, oneEvent } from "./history.ts";
import { fetchFile } from "./media.ts";
import { inboundOf } from "./normalise.ts";
import { createMatrixOutbound } from "./outbound.ts";
import { matrixTextLimit } from "./rendering.ts";
import { MatrixRooms } from "./rooms.ts";
import { membersSchema } from "./wire.ts";

export const matrixChannel = defineChannel<MatrixAccountConfig>({
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
  open(context) {
    const { config, accountId, log } = context;
    const client = createMatrixClient(config);
    const rooms = new MatrixRooms();
    const link: MatrixLink = { isReady: false };
    return {
      start: (signal) => receive(client, context, rooms, link, signal),
      outbound: createMatrixOutbound({ client, context, rooms, link }),
      membership: ({ chat }, signal) => membersIn(client, rooms.currentOf(chat.id), signal),
      async history({ chat }, limit, signal) {
        const room = rooms.currentOf(chat.id);
        const fetch = (of: string, id: string) => oneEvent(client, of, id, signal);
        const receiver = { account: accountId, rooms, fetch };
        const events = await newestOf(client, room, limit, log, signal);
        const messages = [];
        for (const event of events) {
          if (event.type !== "m.room.message" && event.type !== "m.sticker") continue;
          const message = await inboundOf(event, room, receiver);
          if (message !== null) messages.push(message);
        }
        return messages;
      },
      downloadMedia: (id, signal) => fetchFile(config, id, signal),
      identify: (signal) => identityOf(client, signal),
    };
  },
});

/** Nobody says which of the others are bots. */
async function membersIn(client: MatrixClient, room: string, signal: AbortSignal) {
  const path = pathOf("rooms", room, "joined_members");
  const options = { what: "count the members of a room", signal };
  const { joined } = await client.call("GET", path, options, membersSchema);
  const others = Math.max(0, Object.keys(joined).length - 1);
  return { humans: others, bots: 1, truncated: others > 1 };
}
