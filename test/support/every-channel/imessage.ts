/** iMessage in the storm: a group a room, Ann in each, through a BlueBubbles server. */
import { BlueBubblesServer, serverPassword } from "../imessage/bluebubbles-server.ts";
import { ann, bob } from "../imessage/imessage-world.ts";
import { Mac } from "../imessage/mac.ts";
import { readFaults, type StormPlatform, sendFaults } from "./platform.ts";

export async function imessagePlatform(rooms: number): Promise<StormPlatform> {
  const mac = new Mac();
  const groups = Array.from({ length: rooms }, (_, n) =>
    mac.chat(`iMessage;+;chat${n}`, `room-${n}`, [ann, bob]),
  );
  const server = new BlueBubblesServer(mac);
  await server.up();
  const account = {
    backend: "bluebubbles",
    url: server.url,
    password: serverPassword,
    pollMs: 100,
    privateApi: true,
  };
  return {
    id: "imessage",
    rooms,
    section: { accounts: { default: account } },
    say: (room, text) => {
      const group = groups[room];
      if (group !== undefined) mac.write(group, ann, `@Scout ${text}`);
    },
    answers: () => mac.sent.map(({ chat, text }) => ({ room: groups.indexOf(chat), text })),
    trouble(pick) {
      const what = pick(8);
      if (what < 3) server.faults.add("message/text", sendFaults[pick(sendFaults.length)] as never);
      else if (what < 6)
        server.faults.add("message/query", readFaults[pick(readFaults.length)] as never);
      else server.faults.add("event", { kind: "duplicate" });
    },
    calm: () => server.faults.clear(),
    close: () => server.down(),
  };
}
