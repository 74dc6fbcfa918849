/** Turns that lose their hosts at one instant are tried again in an order that no host count changes. */
import { expect, test } from "vitest";
import { play, printed, sends } from "../support/replay/replay.ts";

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

test("six rooms, one crash: the same lines from one host in-process and from two threads", async () => {
  const lines = [
    { earshot: 1, config: { agents: { defaults: { maxConcurrent: 6 } } } },
    { t: 0, agent: { runs: rooms.map(() => slow) } },
    ...rooms.map(say),
    { t: 1_000, crash: "host" },
  ];
  const alone = await play(lines, { workers: 0 });
  expect(sends(alone).map(({ t, text }) => `${t} ${text}`)).toEqual(rooms.map(() => "4000 late"));
  expect(printed(await play(lines, { workers: 2 }))).toBe(printed(alone));
}, 30_000);
