/** Discord in the storm: a text channel a room, Ann in each. */
import { sampleToken, startDiscordServer } from "../discord/discord-server.ts";
import { readFaults, type StormPlatform, sendFaults } from "./platform.ts";

export async function discordPlatform(rooms: number): Promise<StormPlatform> {
  const server = await startDiscordServer();
  const { world, faults, gateway } = server;
  const ann = world.user("Ann");
  const guild = world.guild("Storm");
  const places = Array.from({ length: rooms }, (_, n) => world.channel(guild, `room-${n}`));
  return {
    id: "discord",
    rooms,
    section: { accounts: { default: { token: sampleToken, apiRoot: server.apiRoot } } },
    say: (room, text) => {
      const place = places[room];
      if (place !== undefined)
        world.say(place, ann, `<@${world.bot.id}> ${text}`, { mentions: [world.bot] });
    },
    answers: () =>
      places.flatMap((place, room) =>
        world.answers(place).map(({ content }) => ({ room, text: content })),
      ),
    trouble(pick) {
      const what = pick(8);
      if (what < 4) faults.add("createMessage", sendFaults[pick(sendFaults.length)] as never);
      else if (what < 6) faults.add("messages", readFaults[pick(readFaults.length)] as never);
      else if (what === 6) gateway.cut();
      else gateway.askReconnect();
    },
    calm: () => faults.clear(),
    close: () => server.down(),
  };
}
