/** Turns that lose their host at one instant are all tried again, in the order in which they began. */
import { expect, test } from "vitest";
import { play, sends } from "../support/replay/replay.ts";

const rooms = Array.from({ length: 6 }, (_, index) => `#room-${index}`);
const say = (chat: string, index: number) => ({
  t: 0,
  in: {
    channel: "irc",
    chat: { id: chat, kind: "group" },
    id: `m${index}`,
    author: { id: "ann" },
    text: "hello",
    mentions: [{ id: "bot", isSelf: true }],
  },
});
const slow = { steps: [{ waitMs: 3_000 }, { text: "late" }] };

test("six rooms, one crash: six answers, in the order of their turns", async () => {
  const lines = await play([
    { earshot: 1, config: { agents: { defaults: { maxConcurrent: 6 } } } },
    { t: 0, agent: { runs: rooms.map(() => slow) } },
    ...rooms.map(say),
    { t: 1_000, crash: "host" },
  ]);
  expect(sends(lines).map(({ t, chat, text }) => `${t} ${chat} ${text}`)).toEqual(
    rooms.map((room) => `4000 ${room} late`),
  );
});
