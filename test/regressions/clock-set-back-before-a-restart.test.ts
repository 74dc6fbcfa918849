/**
 * A message waits for its batch to close, half a second. Somebody sets the machine's clock back by an
 * hour, and the process is killed: the next one had a time before that of the journal, and the message
 * waited an hour for its turn.
 *
 * Found by the campaign (`npm run sim -- --seed 14` at its first commit).
 */
import { expect, test } from "vitest";
import { violations } from "../sim/campaign/checks.ts";
import { runPlan } from "../sim/campaign/run.ts";

test.each([
  ["between two processes", 1_200, 0],
  ["while one runs", 1_100, 20_000],
])("a clock that is set back %s lets nobody wait", async (_, at, downMs) => {
  const said = {
    chat: 0,
    text: "hello",
    author: "ann",
    calls: true,
    lost: 0,
    copies: [],
    lateMs: 0,
  };
  const history = await runPlan({
    seed: 1,
    steps: [
      { at: 1_000, does: "say", id: "1", ...said },
      { at: 1_100, does: "kill", calls: 1, downMs, next: [] },
      { at, does: "step clock", ms: -3_600_000 },
      { at: 150_000, does: "say", id: "2", ...said },
    ],
  });
  const answers = history.entries.filter(({ what }) => what === "shown");
  expect(answers.map(({ at: shownAt }) => shownAt)).toEqual([
    expect.toSatisfy((ms: number) => ms < downMs + 5_000),
    expect.toSatisfy((ms: number) => ms < 155_000),
  ]);
  expect(violations(history)).toEqual([]);
});
