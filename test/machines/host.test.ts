/** The life of a host: restarts at once, then with growing pauses, then an end. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { initialTransition, type SnapshotFrom, transition } from "xstate";
import { type HostEvent, hostMachine, pauseAfter } from "../../src/machines/host.machine.ts";

const rules = { intensityMax: 10, periodMs: 30_000, backoffMsMax: 1_000 };
type Snapshot = SnapshotFrom<typeof hostMachine>;

function run(events: readonly HostEvent[], from?: Snapshot): Snapshot {
  let snapshot = from ?? initialTransition(hostMachine, rules)[0];
  for (const event of events) [snapshot] = transition(hostMachine, snapshot, event);
  return snapshot;
}
const lifeUntil = (at: number): HostEvent[] => [
  { type: "answered" },
  { type: "lost", at },
  { type: "paused" },
];

test("a lost host starts again, the first times without a pause", () => {
  const once = run([{ type: "answered" }, { type: "lost", at: 5 }]);
  expect(once.value).toBe("restarting");
  expect(once.context.pauseMs).toBe(0);
  expect(run([{ type: "paused" }], once).value).toBe("starting");
});

test("pauses grow and stay within the time in which a host is promised back", () => {
  const pauses = Array.from({ length: 12 }, (_, n) => pauseAfter(n + 1, 1_000));
  expect(pauses.slice(0, 3)).toEqual([0, 0, 0]);
  expect([...pauses].sort((a, b) => a - b)).toEqual(pauses);
  expect(pauses.at(-1)).toBe(1_000);
});

test("more losses than allowed within the period break it, whether it answered or not", () => {
  const storm = Array.from({ length: 11 }, (_, n) => lifeUntil(n * 100)).flat();
  expect(run(storm).value).toBe("broken");
  const never = Array.from({ length: 11 }, (_, n): HostEvent[] => [
    { type: "lost", at: n },
    { type: "paused" },
  ]).flat();
  expect(run(never).value).toBe("broken");
});

test("pauses double from 50 ms on, up to the longest", () => {
  const pauses = (most: number) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => pauseAfter(n, most));
  expect(pauses(1_000)).toEqual([0, 0, 0, 50, 100, 200, 400, 800, 1_000]);
  expect(pauses(120)).toEqual([0, 0, 0, 50, 100, 120, 120, 120, 120]);
});

test("what is counted: starts again, and losses within the period, the last one among them", () => {
  const lives = (...times: number[]) => run(times.flatMap(lifeUntil));
  expect(lives(0, 1, 2, 3).context).toEqual({
    rules,
    losses: [0, 1, 2, 3],
    pauseMs: 50,
    restarts: 4,
  });
  expect(lives(0, 1, rules.periodMs).context.losses).toEqual([1, rules.periodMs]);
  expect(lives(0, rules.periodMs - 1).context.losses).toEqual([0, rules.periodMs - 1]);
  const ten = Array.from({ length: 10 }, (_, n) => n);
  expect(lives(...ten)).toMatchObject({ value: "starting", context: { restarts: 10 } });
  const broken = lives(...ten, 10);
  expect(broken.value).toBe("broken");
  expect(broken.context).toMatchObject({ losses: [...ten, 10], pauseMs: 1_000, restarts: 10 });
});

test("losses that are further apart than the period never break it", () => {
  const rare = Array.from({ length: 100 }, (_, n) => lifeUntil(n * 3_100)).flat();
  expect(run(rare).value).toBe("starting");
});

test("a broken or stopped host stays so, whatever happens", () => {
  const event = fc.constantFrom<HostEvent>(
    { type: "answered" },
    { type: "lost", at: 1 },
    { type: "paused" },
    { type: "stop" },
  );
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const stopped = run([{ type: "stop" }]);
      expect(run(events, stopped).value).toBe("stopped");
    }),
  );
});
