/** What a node reports to the others of its conversations, where nobody answers. */
import { expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { createPublisher } from "../../../src/engines/restate/feed/publisher.ts";

test("the last node that stops does not wait for an answer that nobody can give", async () => {
  const clock = new SimulatedClock();
  const calls: string[] = [];
  const publisher = createPublisher({
    clock,
    log: () => undefined,
    boot: "one",
    onTick: () => undefined,
    call: (path, _input, { signal } = {}) =>
      new Promise((_, failed) => {
        calls.push(path);
        signal?.addEventListener("abort", () => failed(new Error("it was not waited for")));
      }),
  });
  publisher.news({ key: "agent:main:main", revision: 1, rows: null });
  const stopped = publisher.stop();
  for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
  expect(calls).toHaveLength(1);
  clock.advanceTo(2_000);
  await stopped;
  expect(calls).toHaveLength(1);
});
