/** The journal: one commit for many callers, order, and what happens while the store fails. */

import { expect, test } from "vitest";
import { conversationOf, decodeEvent, newEvent } from "../../../src/actors/protocol/event-codec.ts";
import type { HostEntry } from "../../../src/actors/protocol/host-protocol.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import type { EarshotError } from "../../../src/domain/errors.ts";
import { limits } from "../../../src/domain/limits.ts";
import { createTestJournal } from "../../support/runtime/test-journal.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const room = conversationOf("agent:main:telegram:group:1");
const event = (name: string) =>
  newEvent(room, 1, { type: "deadline.due", at: 5, id: name }, { identity: name });
const used = {
  sessionId: "s",
  at: 5,
  used: { turns: 1, inputTokens: 0, outputTokens: 0, costUsd: 0 },
  aborted: null,
} as const;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function world() {
  const store = createTestStore();
  const clock = new SimulatedClock();
  const committed: HostEntry[] = [];
  const health: (string | null)[] = [];
  const journal = createTestJournal({
    clock,
    store,
    startGate: { pass: (entries) => void committed.push(...entries) },
    onHealth: (error: EarshotError | null) => health.push(error?.code ?? null),
  });
  return { store, clock, committed, health, journal };
}

test("writes of one tick share a commit, and every caller gets its own numbers", async () => {
  const { store, journal, committed } = world();
  const answers = await Promise.all([
    journal.offer([event("a"), event("b")]),
    journal.keep([{ kind: "meta", name: "x", value: "1" }]),
    journal.offer([event("a"), event("c")]),
    journal.append([event("d")], [{ kind: "meta", name: "y", value: "2" }]),
  ]);
  expect(answers).toEqual([[1, 2], undefined, [0, 3], [4]]);
  expect(store.commits()).toBe(1);
  expect(committed.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
});

test("a commit is bounded, and order holds across commits", async () => {
  const { store, journal, committed } = world();
  const count = limits.commitRowsMax * 2 + 1;
  const calls = Array.from({ length: count }, (_, index) => journal.offer([event(`e${index}`)]));
  const numbers = (await Promise.all(calls)).flat();
  expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  expect(store.commits()).toBe(3);
  expect(committed.map(({ seq }) => seq)).toEqual(numbers);
});

test("a group of writes larger than a commit still goes in one piece", async () => {
  const { store, journal } = world();
  const count = limits.commitRowsMax + 200;
  await journal.offer(Array.from({ length: count }, (_, index) => event(`e${index}`)));
  expect(store.commits()).toBe(1);
});

test("a commit that fails although it was made counts as made, and its events go on", async () => {
  const { store, journal, committed, health } = world();
  await journal.offer([event("known")]);
  store.fail({ at: 1, unanswered: true });
  const answers = await Promise.all([
    journal.offer([event("a"), event("known")]),
    journal.append([event("b")], [{ kind: "session", op: "used", ...used }]),
  ]);
  expect(answers).toEqual([[2, 0], [3]]);
  expect(committed.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(health).toEqual([]);
  expect(await store.scan(0, 10)).toHaveLength(3);
  expect(await journal.offer([event("c")])).toEqual([4]);
});

test("while the store fails the intake is refused and consequences wait, in order", async () => {
  const { store, clock, journal, committed, health } = world();
  store.fail({ at: 1, forever: true, code: "EAR_STORE_FULL" });
  const offered = journal.offer([event("offered")]);
  const kept = journal.append([event("kept 1")]);
  await expect(offered).rejects.toMatchObject({ code: "EAR_STORE_FULL" });
  const later = journal.append([event("kept 2")]);
  await expect(journal.offer([event("refused")])).rejects.toMatchObject({ code: "EAR_STORE_FULL" });
  expect(journal.failing()?.code).toBe("EAR_STORE_FULL");
  expect(committed).toEqual([]);

  store.heal();
  clock.advanceTo(clock.nextDue() as number);
  await Promise.all([kept, later]);
  expect(journal.failing()).toBeNull();
  expect(health).toEqual(["EAR_STORE_FULL", null]);
  expect(committed.map(({ event: one }) => (one as { id: string }).id)).toEqual([
    "kept 1",
    "kept 2",
  ]);
  expect(await journal.offer([event("offered")])).toEqual([3]);
});

test("a store that fails for long is asked again at growing distances, not in a loop", async () => {
  const { store, clock, journal } = world();
  store.fail({ at: 1, forever: true });
  const kept = journal.keep([{ kind: "meta", name: "x", value: "1" }]);
  kept.catch(() => undefined);
  await turn();
  const gaps: number[] = [];
  for (let tries = 0; tries < 8; tries += 1) {
    const due = clock.nextDue() as number;
    gaps.push(due - clock.now());
    clock.advanceTo(due);
    await turn();
  }
  expect(gaps).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  await journal.stop();
  await expect(kept).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
});

test("a damaged store is not asked again: it says so, and nothing more is accepted", async () => {
  const { store, clock, journal, health } = world();
  store.fail({ at: 1, forever: true, code: "EAR_STORE_DAMAGED" });
  const kept = journal.append([event("kept")]);
  kept.catch(() => undefined);
  await expect(journal.offer([event("offered")])).rejects.toMatchObject({
    code: "EAR_STORE_DAMAGED",
  });
  clock.advanceTo(clock.nextDue() as number);
  await turn();
  expect(clock.nextDue()).toBeNull();
  expect(journal.failing()?.code).toBe("EAR_STORE_DAMAGED");
  expect(health).toEqual(["EAR_STORE_DAMAGED"]);
  await journal.stop();
  await expect(kept).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
});

test("what was decided at the door is stored and never dispatched", async () => {
  const { store, journal, committed } = world();
  const denied = { type: "deadline.due", at: 5, id: "x" } as const;
  await journal.offer([newEvent(room, 1, denied, { identity: "d", code: 9 })]);
  expect(committed).toEqual([]);
  expect(await store.events([1])).toMatchObject([{ code: 9 }]);
});

test("an event reads back with its number, and other text is refused", () => {
  const { write } = newEvent(
    room,
    1,
    { type: "message.deleted", at: 5, seq: 0, deletion: {} as never },
    { identity: "x" },
  );
  expect(decodeEvent({ seq: 12, body: write.body })).toMatchObject({ seq: 12, at: 5 });
  for (const body of ["", "{", "null", "[]", '{"type":"x"}']) {
    expect(() => decodeEvent({ seq: 1, body })).toThrow(/EAR_RECORD_INVALID|no event/);
  }
});
