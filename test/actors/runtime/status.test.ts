/**
 * The status after a restart equals the store's content, before anything new happens.
 */
import { expect, test } from "vitest";
import { World } from "../../support/runtime/world.ts";

const quiet = { messages: { ackReaction: "" } };
const hold = { ...quiet, turn: { onInDoubt: "hold" } };
/** States that hold anything. */
const open = (counts: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));

test("a restart finds the journal's last row and the outbox's states in the store", async () => {
  const world = await new World({ config: hold }).start();
  world.runs.push(
    { afterMs: 0, steps: [{ text: "one" }] },
    { afterMs: 0, steps: [{ text: "two" }] },
  );
  world.fates.push("ok", "odd");
  await world.say("hello", { direct: true });
  await world.pass(5_000);
  await world.say("again", { direct: true });
  await world.pass(60_000);
  const before = world.runtime.status();
  expect(before.outbox).toMatchObject({ sent: 1, "in-doubt": 1 });
  expect(before.store.lastSeq).toBe(await world.store.lastSeq());

  await world.restart();
  const after = world.runtime.status();
  expect(after.store.lastSeq).toBe(before.store.lastSeq);
  expect(open(after.outbox)).toEqual(open(before.outbox));
});

test("a send that was under way at the end is counted once, as what became of it", async () => {
  const world = await new World({ config: quiet }).start();
  world.runs.push({ afterMs: 0, steps: [{ text: "one" }] });
  world.fates.push("hang");
  await world.say("hello", { direct: true });
  await world.pass(5_000);
  expect(open(world.runtime.status().outbox)).toEqual({ sending: 1 });

  await world.restart();
  expect(open(world.runtime.status().outbox)).toEqual({ pending: 1 });
  await world.pass(60_000);
  expect(open(world.runtime.status().outbox)).toEqual({ sent: 1 });
});

test("the newest row of a conversation is known before it was ever put away", async () => {
  const world = await new World().start();
  await world.say("hello");
  await world.say("more");
  const [before] = await world.store.conversations({ limit: 5 });
  expect(before).toMatchObject({ recordSeq: 0, lastSeq: await world.store.lastSeq() });
  await world.runtime.passivateAll();
  const [after] = await world.store.conversations({ limit: 5 });
  expect(after?.recordSeq).toBe(after?.lastSeq);
});
