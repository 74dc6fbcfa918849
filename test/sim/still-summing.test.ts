/** A turn that waits for a summary asked for by hand waits on the simulated clock, and not for ever. */
import { expect, test } from "vitest";
import { play, sends } from "../support/replay/replay.ts";

const said = (t: number, id: string, text: string) => ({
  t,
  in: { channel: "irc", chat: { id: "d1", kind: "direct" }, id, author: { id: "ann" }, text },
});
const lines = [
  { t: 0, approve: { channel: "irc", id: "ann", as: "owner" } },
  {
    t: 0,
    agent: {
      runs: [
        { steps: [{ text: "one" }] },
        { afterMs: 5_000, steps: [{ text: "what there was" }] },
        { steps: [{ text: "two" }] },
      ],
    },
  },
  said(0, "a", "hello"),
  said(10_000, "b", "/compact"),
  said(11_000, "c", "go on"),
];

test("the answer comes after the summary", async () => {
  const reported = await play(lines);
  const answers = sends(reported).filter(({ text }) => text === "one" || text === "two");
  expect(answers.map(({ text }) => text)).toEqual(["one", "two"]);
  expect(answers.at(-1)?.t).toBe(15_000);
});
