/** Matrix in the storm: rooms of a homeserver with Ann in each. */
import { botToken, startBot } from "../matrix/matrix-world.ts";
import { readFaults, type StormPlatform, sendFaults } from "./platform.ts";

export async function matrixPlatform(rooms: number): Promise<StormPlatform> {
  const { server, rooms: world, scout } = await startBot();
  const ann = world.person("ann", "Ann");
  const places = Array.from({ length: rooms }, (_, n) => world.room(`room-${n}`, [ann, scout]));
  return {
    id: "matrix",
    rooms,
    section: { accounts: { default: { homeserver: server.url, accessToken: botToken } } },
    say: (room, text) =>
      world.send(places[room] as string, ann, "m.room.message", {
        msgtype: "m.text",
        body: `Scout ${text}`,
        "m.mentions": { user_ids: [scout] },
      }),
    answers: () =>
      world.events().flatMap(({ room, type, sender, content }) => {
        if (type !== "m.room.message" || sender !== scout) return [];
        return [{ room: places.indexOf(room), text: String(content.body) }];
      }),
    trouble(pick) {
      const what = pick(8);
      if (what < 3) server.faults.add("send", sendFaults[pick(sendFaults.length)] as never);
      else if (what < 6) server.faults.add("sync", readFaults[pick(readFaults.length)] as never);
      else if (what < 7) server.faults.add("sync", { kind: "duplicate" });
      else server.faults.add("messages", readFaults[pick(readFaults.length)] as never);
    },
    calm: () => server.faults.clear(),
    close: () => server.down(),
  };
}
