/**
 * Redelivery storms: a message that a platform delivers ten thousand times is decided once and
 * answered once, before, during and after a crash, in memory that does not grow.
 */
import { describe, expect, test } from "vitest";
import { type Claim, createDedupe } from "../../../src/actors/ingress/dedupe.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { ChannelEvent } from "../../../src/domain/ports/index.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

const message = (id: string): ChannelEvent => ({
  type: "message",
  message: inboundSchema.parse({
    channel: "telegram",
    id,
    text: "hello",
    author: { id: "ann", name: "Ann" },
    chat: { id: "ann", kind: "direct" },
  }),
});
const ids = Array.from({ length: 20 }, (_, n) => `m${n}`);
/** So many copies, a few hundred at a time, as platforms deliver. */
async function storm(world: World, copies: number): Promise<void> {
  const events = ids.map(message);
  for (let left = copies; left > 0; left -= 400) {
    const batch = Array.from({ length: Math.min(left, 400) }, (_, n) => events[n % ids.length]);
    await world.runtime.ingest("telegram", "default", batch as ChannelEvent[]);
  }
}
const verdicts = (world: World) =>
  world.decisions().flatMap(({ id, decision }) => (decision === "duplicate" ? [] : [id]));
const answered = (world: World) =>
  world.events("agent_start").flatMap((line) => ("batch" in line ? (line.batch as string[]) : []));

test("10,000 copies before, during and after a crash cause no second decision and no second turn", async () => {
  const store = createTestStore();
  const world = await new World({ store }).start();
  for (let life = 0; life < 2; life += 1)
    world.runs.push({ afterMs: 3_000, steps: [{ text: "once" }] });
  await storm(world, 20);
  await world.pass(100);
  await storm(world, 3_000);
  await world.pass(1_000);
  // The turn is under way; so is the storm when the process dies.
  const dying = storm(world, 1_000).catch(() => undefined);
  await world.kill();
  await dying;
  await storm(world, 3_000);
  await world.pass(30_000);
  await storm(world, 3_000);
  await world.pass(30_000);
  expect(verdicts(world).toSorted()).toEqual(ids.toSorted());
  expect(answered(world).toSorted()).toEqual(ids.toSorted());
  expect(world.sent.map(({ text }) => text)).toEqual(["once"]);
  const said = (await store.scan(0, 100_000)).filter(({ body }) => body.includes('"hello"'));
  expect(said).toHaveLength(ids.length);
  expect(world.decisions().length).toBeGreaterThanOrEqual(9_000);
});

test("one that nobody remembers in memory any more is known by the journal", async () => {
  const dedupe = { entries: 10, ttlMs: 1_000 };
  const world = await new World({ config: { messages: { dedupe } } }).start();
  await storm(world, 40);
  await world.pass(60_000);
  await storm(world, 40);
  await world.pass(60_000);
  expect(verdicts(world).toSorted()).toEqual(ids.toSorted());
  expect(answered(world)).toHaveLength(ids.length);
});

test("a storm on a store that fails takes nothing twice, and everything in the end", async () => {
  const store = createTestStore();
  const world = await new World({ store }).start();
  store.fail({ at: 1 });
  const first = await Promise.allSettled([storm(world, 60), storm(world, 60), storm(world, 60)]);
  expect(first.map(({ status }) => status)).toContain("rejected");
  await world.pass(5_000);
  await storm(world, 200);
  await world.pass(30_000);
  expect(verdicts(world).toSorted()).toEqual(ids.toSorted());
  expect(answered(world).toSorted()).toEqual(ids.toSorted());
});

test("what has no id of its own is no copy of anything", async () => {
  const world = await new World().start();
  const place = { channel: "telegram", account: "default", thread: null } as const;
  const chat = { id: "room", kind: "group" } as const;
  const members = { ...place, chat, humans: 5, bots: 1, truncated: false };
  for (let n = 0; n < 3; n += 1)
    await world.runtime.ingest("telegram", "default", [
      { type: "membership", membership: members },
    ]);
  await world.pass(10);
  expect(await world.store.lastSeq()).toBe(3);
});

describe("what is remembered in memory", () => {
  const hold = (claim: Claim | Promise<boolean>): Claim => {
    expect(claim).not.toBeInstanceOf(Promise);
    return claim as Claim;
  };
  const minute = 60_000;
  const made = () => {
    const clock = new SimulatedClock(0);
    return { clock, dedupe: createDedupe(clock, 5_000, 20 * minute) };
  };

  test("is 5,000 messages: the 5,001st lets the oldest go", async () => {
    const { dedupe } = made();
    for (let n = 0; n < 5_000; n += 1) hold(dedupe.claim(`m${n}`)).commit();
    expect(await dedupe.claim("m0")).toBe(true);
    for (let n = 5_000; n < 15_000; n += 1) hold(dedupe.claim(`m${n}`)).commit();
    expect(await dedupe.claim("m14999")).toBe(true);
    expect(await dedupe.claim("m10000")).toBe(true);
    hold(dedupe.claim("m9999"));
  });

  test("is remembered 20 minutes from the first delivery, however often it comes again", async () => {
    const { clock, dedupe } = made();
    hold(dedupe.claim("m")).commit();
    for (let n = 1; n < 20; n += 1) {
      clock.advanceTo(n * minute);
      expect(await dedupe.claim("m")).toBe(true);
    }
    clock.advanceTo(20 * minute + 1);
    hold(dedupe.claim("m"));
  });

  test("is forgotten when it could not be stored, and all its copies are told so", async () => {
    const { dedupe } = made();
    const claim = hold(dedupe.claim("m"));
    const copies = [dedupe.claim("m"), dedupe.claim("m")];
    claim.release();
    expect(await Promise.all(copies)).toEqual([false, false]);
    hold(dedupe.claim("m")).commit();
    expect(await dedupe.claim("m")).toBe(true);
  });

  test("a late release does not take away what another delivery has stored since", async () => {
    const { clock, dedupe } = made();
    const slow = hold(dedupe.claim("m"));
    clock.advanceTo(20 * minute + 1);
    hold(dedupe.claim("m")).commit();
    slow.release();
    expect(await dedupe.claim("m")).toBe(true);
  });
});
