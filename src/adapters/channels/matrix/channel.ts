/**
 * A bot on a Matrix homeserver. docs/channels/matrix.md describes how to set one up. This file assembles
 * the parts, one file each (wire format, requests, syncs, rooms, normalising, sending, rendering, errors).
 */
import { defineChannel } from "../../../domain/ports/index.ts";
import { createMatrixClient, type MatrixClient, pathOf } from "./client.ts";
import { type MatrixAccountConfig, matrixFacts } from "./config.ts";
import { identityOf, type MatrixLink, receive } from "./gateway.ts";
import { createLookup, newestOf } from "./history.ts";
import { fetchFile } from "./media.ts";
import { inboundOf } from "./normalise.ts";
import { createMatrixOutbound } from "./outbound.ts";
import { MatrixRooms } from "./rooms.ts";
import { membersSchema, messageTypes } from "./wire.ts";

export const matrixChannel = defineChannel<MatrixAccountConfig>({
  ...matrixFacts,
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
        const fetch = createLookup(client, log, signal);
        const receiver = { account: accountId, rooms, fetch };
        const events = await newestOf(client, room, limit, log, signal);
        const messages = [];
        for (const event of events) {
          if (!messageTypes.has(event.type)) continue;
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
