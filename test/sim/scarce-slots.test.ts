/** Where turns wait for each other, a simulation has the slots that the config gives one worker. */
import { expect, test } from "vitest";
import { play } from "../support/replay/replay.ts";

const rooms = ["a", "b", "c", "d"];
const run = { steps: [{ waitMs: 5_000 }, { text: "yes" }] };
const call = (id: string) => ({
  t: 0,
  in: {
    channel: "irc",
    chat: { id, kind: "group" },
    id: `m-${id}`,
    author: { id: "ann" },
    text: "you?",
    mentions: [{ id: "bot", isSelf: true }],
  },
});

test("one slot is one turn at a time", async () => {
  const lines = [
    { earshot: 1, config: { turn: { maxConcurrentTurns: 1 } } },
    { t: 0, agent: { runs: rooms.map(() => run) } },
    ...rooms.map(call),
  ];
  const starts = (await play(lines)).filter(
    (line) => "event" in line && line.event === "agent_start",
  );
  expect(starts.map(({ t }) => t)).toEqual([500, 5_500, 10_500, 15_500]);
});
