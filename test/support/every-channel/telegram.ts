/** Telegram in the storm: a group a room, Ann in each. */
import { sampleToken, startTelegramServer } from "../servers/telegram.ts";
import { readFaults, type StormPlatform, sendFaults } from "./platform.ts";

export async function telegramPlatform(rooms: number): Promise<StormPlatform> {
  const server = await startTelegramServer();
  const { world, faults } = server;
  const ann = world.user("Ann");
  const groups = Array.from({ length: rooms }, (_, n) => world.group(`Room ${n}`, [ann]));
  const account = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 5 };
  return {
    id: "telegram",
    rooms,
    section: { accounts: { default: account } },
    say: (room, text) => {
      const group = groups[room];
      if (group !== undefined) world.say(group, ann, `@scout_bot ${text}`);
    },
    answers: () =>
      groups.flatMap((group, room) =>
        world.answers(group).map(({ text = "" }) => ({ room, text })),
      ),
    trouble(pick) {
      const what = pick(3);
      if (what === 0) faults.add("sendMessage", sendFaults[pick(sendFaults.length)] as never);
      else if (what === 1) faults.add("getUpdates", readFaults[pick(readFaults.length)] as never);
      else faults.add("getUpdates", { kind: pick(2) === 0 ? "duplicate" : "reset" });
    },
    calm: () => faults.clear(),
    close: () => server.close(),
  };
}
