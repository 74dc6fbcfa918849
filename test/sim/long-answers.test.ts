/** An answer in many pieces ends when its agent does, not when time has run out for it. */
import { expect, test } from "vitest";
import { play, sends } from "../support/replay/replay.ts";

const pieces = 500;
const message = {
  channel: "telegram",
  chat: { id: "room", kind: "group" },
  id: "a",
  author: { id: "ann" },
  text: "hello",
  mentions: [{ id: "bot", isSelf: true }],
};
const run = { afterMs: 10, steps: Array.from({ length: pieces }, (_, n) => ({ text: `${n} ` })) };

test("an answer in 500 pieces takes no time of its own", async () => {
  const lines = await play([
    { t: 0, agent: { runs: [run] } },
    { t: 0, in: message },
  ]);
  const ended = lines.find((line) => "event" in line && line.event === "agent_end");
  expect(ended).toMatchObject({ t: 510, outcome: "replied" });
  const said = sends(lines).map(({ text }) => text);
  expect(said.join(" ").trim().split(/\s+/)).toEqual(run.steps.map(({ text }) => text.trim()));
});
