/**
 * The parts of an answer keep their order when the process is killed between them. The mistake: at
 * the next start, parts that were journalled and not yet applied are queued while the parts in the
 * outbox still wait for their transcripts to be repaired, so the later parts are sent first.
 */
import { expect, test } from "vitest";
import { createTestStore } from "../support/runtime/test-store.ts";
import { World } from "../support/runtime/world.ts";

const config = {
  messages: { inbound: { debounceMs: 0 } },
  stream: { mode: "block", minChars: 1, coalesceIdleMs: 1 },
};
const parts = ["one", "two", "three", "four"];
const steps = parts.flatMap((text) => [{ text }, { messageEnd: true }, { waitMs: 1_000 }] as const);

/** A disk on which the search for a turn's transcript takes many turns of the event loop. */
function slowDisk() {
  const store = createTestStore();
  const { sessionOfTurn } = store;
  store.sessionOfTurn = async (turnId) => {
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    return sessionOfTurn(turnId);
  };
  return store;
}

test("parts in the outbox are sent before parts that were only journalled", async () => {
  const world = new World({ config, store: slowDisk() });
  await world.start();
  world.ready = false;
  world.runs.push({ afterMs: 0, steps });
  await world.say("hello", { direct: true });
  await world.pass(1_500);
  const waiting = (await world.store.outboxOpen()).filter(({ kind }) => kind === "reply");
  expect(waiting.map(({ body }) => JSON.parse(body).text)).toEqual(["one", "two"]);
  // The next part is journalled, and the process ends before its row is.
  world.disk.fail({ at: 2, forever: true });
  await world.pass(1_000);
  await world.runtime.stop();
  world.disk.heal();
  const [journalled, ...others] = await world.store.unapplied(0, 1_000);
  expect(others).toEqual([]);
  expect(journalled?.body).toContain('"text":"three"');

  world.ready = true;
  world.runs.push({ afterMs: 0, steps: [] });
  await world.start();
  await world.pass(60_000);
  const broken = "Something went wrong while I was answering. Please try again.";
  expect(world.sent.map(({ text }) => text)).toEqual(["one", "two", "three", broken]);
});

test("an ack found at the start is put before it is taken off, never after", async () => {
  const apart = { ...config, session: { dmScope: "per-peer" } };
  const world = await new World({ config: apart, store: slowDisk() }).start();
  world.ready = false;
  world.runs.push({ afterMs: 0, steps: [{ text: "for Bob" }] });
  await world.say("hello", { chat: { id: "bob", kind: "direct" }, author: { id: "bob" } });
  await world.pass(500);
  world.runs.push({ afterMs: 1_000, steps: [{ error: "boom" }] });
  await world.say("hello", { id: "asked", direct: true });
  await world.pass(500);
  // The end is journalled, and the process ends before it is applied.
  world.disk.fail({ at: 2, forever: true });
  await world.pass(1_000);
  await world.runtime.stop();
  world.disk.heal();
  expect(await world.store.unapplied(0, 1_000)).toHaveLength(1);

  world.ready = true;
  await world.start();
  await world.pass(60_000);
  const asked = world.reactions.filter((one) => one.endsWith(" asked"));
  expect(asked.at(-1)).toMatch(/^-/);
  expect(world.reactions.at(-1)).toMatch(/^-/);
});
