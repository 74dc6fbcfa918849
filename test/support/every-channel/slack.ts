/** Slack in the storm: a channel a room, Ann in each, over Socket Mode. */
import { shownText } from "../slack/slack-methods.ts";
import { appToken, botToken, startSlackServer } from "../slack/slack-server.ts";
import { readFaults, type StormPlatform, sendFaults } from "./platform.ts";

export async function slackPlatform(rooms: number): Promise<StormPlatform> {
  const server = await startSlackServer();
  const { workspace, faults } = server;
  const ann = workspace.user("Ann");
  const places = Array.from({ length: rooms }, (_, n) =>
    workspace.room("channel", `room-${n}`, [ann]),
  );
  return {
    id: "slack",
    rooms,
    section: { accounts: { default: { botToken, appToken, apiRoot: server.apiRoot } } },
    say: (room, text) => {
      const place = places[room];
      if (place !== undefined) workspace.say(place, ann, `<@${workspace.bot.id}> ${text}`);
    },
    answers: () =>
      places.flatMap(({ messages }, room) =>
        [...messages.values()]
          .filter(({ user }) => user === workspace.bot.id)
          .map((message) => ({ room, text: shownText(message) })),
      ),
    trouble(pick) {
      const what = pick(8);
      if (what < 3) faults.add("chat.postMessage", sendFaults[pick(sendFaults.length)] as never);
      else if (what < 5)
        faults.add("conversations.history", readFaults[pick(readFaults.length)] as never);
      else if (what < 7) faults.add("event", { kind: "duplicate" });
      else server.breakSockets();
    },
    calm: () => faults.clear(),
    close: () => server.down(),
  };
}
