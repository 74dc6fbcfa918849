/** Results become durable one commit at a time, in order, and again until they are. */

import { expect, test } from "vitest";
import type { HostEntry } from "../../../src/actors/protocol/host-protocol.ts";
import type { Effects } from "../../../src/actors/protocol/supervisor.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { type Answer, merge, ResultQueue } from "../../../src/actors/supervisor/result-queue.ts";

const answer = (id: number, host: number, seqs: readonly number[]): Answer => ({
  host,
  entries: seqs.map(
    (seq): HostEntry => ({
      conv: seq % 3,
      key: "k",
      seq,
      cfg: 1,
      event: { type: "host.recovered", at: 0 },
    }),
  ),
  result: {
    id,
    epoch: host + 1,
    codes: seqs.map((seq) => seq * 10),
    steps: seqs.map((seq) => ({ seq, conv: seq % 3, key: "k", at: 0, code: 0, effects: [] })),
    checkpoints: [],
    passivated: [],
    rejected: [],
    unreadable: [],
    forgotten: [],
    live: 1,
  },
});

const ticks = async (): Promise<void> => {
  for (let n = 0; n < 5; n += 1) await new Promise(setImmediate);
};

function rig() {
  const clock = new SimulatedClock();
  const committed: number[][] = [];
  const durable: number[] = [];
  let fail = 0;
  const handle: Effects["handle"] = async (_result, entries) => {
    await new Promise(setImmediate);
    if (fail > 0) {
      fail -= 1;
      throw new Error("full");
    }
    committed.push(entries.map(({ seq }) => seq));
  };
  const line = new ResultQueue({
    clock,
    log: () => undefined,
    effects: () => ({ handle }),
    onStalled: () => undefined,
    onDurable: (answers) => void durable.push(...answers.map(({ result }) => result.id)),
  });
  const failNext = (count: number) => {
    fail = count;
  };
  return { clock, line, committed, durable, failNext };
}

test("what arrives during a commit is merged into the next, in the order it came", async () => {
  const { line, committed, durable } = rig();
  line.push(answer(1, 0, [1, 2]));
  line.push(answer(2, 0, [5]));
  line.push(answer(3, 0, [3, 4]));
  await ticks();
  expect(committed).toEqual([
    [1, 2],
    [5, 3, 4],
  ]);
  expect(durable).toEqual([1, 2, 3]);
  expect(line.empty).toBe(true);
});

test("a failed commit is tried again with the same events before anything later", async () => {
  const { clock, line, committed, failNext } = rig();
  failNext(2);
  line.push(answer(1, 0, [1]));
  line.push(answer(2, 0, [2]));
  await ticks();
  expect(committed).toEqual([]);
  expect(line.stalled).toBe("full");
  for (let n = 1; n <= 4; n += 1) {
    clock.advanceTo(n * 250);
    await ticks();
  }
  expect(committed).toEqual([[1], [2]]);
  expect(line.stalled).toBeNull();
});

test("merged answers keep their codes with their events", () => {
  const { result, entries } = merge([answer(1, 0, [1, 4]), answer(2, 0, [2, 3])]);
  expect(entries.map(({ seq }) => seq)).toEqual([1, 4, 2, 3]);
  expect(result.codes).toEqual([10, 40, 20, 30]);
  expect(result.steps.map(({ seq }) => seq)).toEqual([1, 4, 2, 3]);
  expect(result.id).toBe(2);
});
