/** WhatsApp in the storm: a person a room, each in a direct chat, posted to the daemon's hook. */
import {
  accessToken,
  appSecret,
  phoneNumberId,
  startWhatsAppServer,
  verifyToken,
} from "../whatsapp/whatsapp-server.ts";
import { readFaults, type StormPlatform } from "./platform.ts";

export async function whatsappPlatform(rooms: number): Promise<StormPlatform> {
  const server = await startWhatsAppServer();
  const { faults } = server;
  const people = Array.from({ length: rooms }, (_, n) => String(16_505_550_000 + n));
  const account = { phoneNumberId, accessToken, appSecret, verifyToken, apiRoot: server.apiRoot };
  return {
    id: "whatsapp",
    rooms,
    section: { accounts: { default: account } },
    reach(base) {
      server.callback = `${base}/hooks/whatsapp/default`;
    },
    say(room, body) {
      const from = people[room] as string;
      server.post({
        contacts: [{ wa_id: from, profile: { name: `Ann ${room}` } }],
        messages: [
          {
            from,
            id: server.wamid(),
            timestamp: String(Math.floor(Date.now() / 1_000)),
            type: "text",
            text: { body },
          },
        ],
      });
    },
    answers: () =>
      server.sent.flatMap(({ body }) =>
        body.type === "text"
          ? [{ room: people.indexOf(body.to ?? ""), text: (body.text as { body: string }).body }]
          : [],
      ),
    trouble(pick) {
      if (pick(3) === 0) server.twice = true;
      else if (pick(4) === 0) faults.add("messages", { kind: "reset", done: pick(2) === 0 });
      else faults.add("messages", readFaults[pick(readFaults.length)] as never);
    },
    calm: () => faults.clear(),
    close: () => server.close(),
  };
}
