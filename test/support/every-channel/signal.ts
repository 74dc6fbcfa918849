/** Signal in the storm: a group a room, Ann in each, through signal-cli's daemon. */
import { startSignalDaemon } from "../signal/signal-daemon.ts";
import { readFaults, type StormPlatform, sendFaults } from "./platform.ts";

export async function signalPlatform(rooms: number): Promise<StormPlatform> {
  const daemon = await startSignalDaemon();
  const { faults, rooms: world } = daemon;
  const ann = world.person("Ann");
  const groups = Array.from({ length: rooms }, (_, n) => world.group(`room-${n}`, [ann]));
  const mention = { number: world.account, uuid: world.aci, start: 0, length: 1 };
  return {
    id: "signal",
    rooms,
    section: { accounts: { default: { account: world.account, url: daemon.url, name: "Scout" } } },
    say: (room, text) => {
      const group = groups[room];
      if (group !== undefined)
        world.say(ann, group, { message: `\ufffc ${text}`, mentions: [mention] });
    },
    answers: () =>
      world.sent.map(({ target, message }) => ({
        room: groups.findIndex(({ id }) => id === target),
        text: message,
      })),
    trouble(pick) {
      const what = pick(8);
      if (what < 3) faults.add("send", sendFaults[pick(sendFaults.length)] as never);
      else if (what < 5) faults.add("listGroups", readFaults[pick(readFaults.length)] as never);
      else if (what < 7) faults.add("event", { kind: "duplicate" });
      else daemon.cut();
    },
    calm: () => faults.clear(),
    close: () => daemon.down(),
  };
}
