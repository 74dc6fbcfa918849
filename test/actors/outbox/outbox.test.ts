/**
 * Sending: order, waiting, rows in doubt, expiry, and what a restart finds.
 */
import { expect, test } from "vitest";
import { createOutbox } from "../../../src/actors/outbox/outbox.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import type { OutboxRow } from "../../../src/domain/ports/index.ts";
import { nextDelivery } from "../../../src/machines/delivery.machine.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { type Fate, World } from "../../support/runtime/world.ts";

const hold = { turn: { onInDoubt: "hold" } };
const started = async (config: Record<string, unknown> = {}, fates: Fate[] = []) => {
  const world = await new World({ config }).start();
  world.fates.push(...fates);
  return world;
};
const statuses = (world: World) => world.sends().map(({ status }) => status);
/** A turn with several blocks. */
const threeBlocks = [
  { text: "one" },
  { messageEnd: true } as const,
  { text: "two" },
  { messageEnd: true } as const,
  { text: "three" },
];
const blocks = { stream: { mode: "block", break: "message_end", coalesceIdleMs: 0 } };

test("a row that arrives while everything stops sets no timer and is found at the next start", async () => {
  const world = await started();
  const row: OutboxRow = {
    id: "T:0",
    conv: 1,
    key: "agent:main:main",
    turnId: "T",
    index: 0,
    kind: "reply",
    state: "pending",
    createdAt: world.clock.now(),
    dueAt: world.clock.now(),
    attempts: 0,
    doubts: 0,
    body: JSON.stringify({
      route: {
        channel: "telegram",
        account: "default",
        chat: { id: "a", kind: "direct" },
        thread: null,
      },
      text: "late",
      replyTo: null,
      quote: false,
      expiresAt: world.clock.now() + 900_000,
    }),
    messageIds: null,
    error: null,
  };
  const outbox = createOutbox({
    clock: world.clock,
    journal: { keep: async () => [] },
    log: () => undefined,
    events: createRuntimeEvents(() => undefined),
    directory: { ready: () => true, outbound: () => null },
  } as unknown as Parameters<typeof createOutbox>[0]);
  await world.runtime.stop();
  outbox.enqueue([row]);
  expect(world.clock.nextDue()).not.toBeNull();
  outbox.stop();
  expect(world.clock.nextDue()).toBeNull();
  outbox.enqueue([{ ...row, id: "T:1", index: 1 }]);
  expect(world.clock.nextDue()).toBeNull();
});

test("blocks of one answer leave in order, one after the other's end", async () => {
  const world = await started(blocks, ["429"]);
  world.runs.push({ afterMs: 0, steps: threeBlocks });
  await world.say("go", { direct: true });
  await world.pass(10_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["one", "two", "three"]);
  expect(world.sent.map(({ id }) => id.split(":")[1])).toEqual(["0", "1", "2"]);
  expect(statuses(world)).toEqual(["sent", "sent", "sent"]);
});

test("a rate limit is waited out as told, for the whole account", async () => {
  const world = await started({}, ["429"]);
  await world.say("a", { direct: true });
  await world.pass(600);
  const askedAt = world.clock.now();
  await world.pass(10_000);
  expect(world.sent).toHaveLength(1);
  expect((world.sent[0]?.at as number) - askedAt).toBeGreaterThanOrEqual(1_900);
  expect(statuses(world)).toEqual(["sent"]);
});

test("an outage is waited out with growing pauses until the reply is too old", async () => {
  const world = await started({}, Array<Fate>(100).fill("fail"));
  await world.say("a", { direct: true });
  await world.pass(800_000);
  expect(statuses(world)).toEqual([]);
  await world.pass(200_000);
  expect(world.sent).toEqual([]);
  expect(statuses(world)).toEqual(["expired"]);
  const tries = 100 - world.fates.length;
  expect(tries).toBeGreaterThan(15);
  expect(tries).toBeLessThan(50);
  expect(world.events("agent_end")).toHaveLength(1);
});

test("after an outage of minutes the reply leaves, late but once", async () => {
  const world = await started({}, Array<Fate>(12).fill("fail"));
  await world.say("a", { direct: true });
  await world.pass(800_000);
  expect(world.fates).toEqual([]);
  expect(statuses(world)).toEqual(["sent"]);
  expect(world.sent).toHaveLength(1);
});

test("a rate limit that outlasts the reply lets it expire, however often it was named", async () => {
  const world = await started({}, Array<Fate>(1_000).fill("429"));
  await world.say("a", { direct: true });
  await world.pass(800_000);
  expect(statuses(world)).toEqual([]);
  await world.pass(200_000);
  expect(statuses(world)).toEqual(["expired"]);
});

test("what the platform refuses is not tried again", async () => {
  const world = await started({}, ["refuse"]);
  await world.say("a", { direct: true });
  await world.pass(60_000);
  expect(statuses(world)).toEqual(["dead"]);
  expect(world.fates).toEqual([]);
  expect(world.sent).toEqual([]);
});

test.each<Fate[]>([["elsewhere"], ["fail", "elsewhere"], ["odd", "elsewhere"]])(
  "a send that another node's lease prevents is as it was before: %s %s",
  async (...given) => {
    const fates = given.filter((fate) => typeof fate === "string");
    const world = await started({}, fates);
    await world.say("a", { direct: true });
    await world.pass(60_000);
    expect(world.fates).toEqual([]);
    expect(world.sent).toEqual([]);
    const [row] = await world.store.outboxOpen();
    const before = { elsewhere: "pending", fail: "waiting", odd: "pending" };
    expect(row).toMatchObject({
      state: before[fates[0] as keyof typeof before],
      attempts: fates[0] === "fail" ? 1 : 0,
      doubts: fates[0] === "odd" ? 1 : 0,
    });
    world.ready = true;
    world.runtime.connectionChanged("telegram", "default");
    await world.pass(1_000);
    expect(statuses(world).at(-1)).toBe("sent");
    expect(world.sent).toHaveLength(1);
  },
);

test.each<Fate>(["hang", "odd"])(
  "a send with unknown outcome (%s) is sent again once",
  async (fate) => {
    const world = await started({}, [fate]);
    await world.say("a", { direct: true });
    await world.pass(60_000);
    expect(world.sent).toHaveLength(1);
    const [row] = await world.store.outboxByTurn(world.sent[0]?.id.split(":")[0] as string);
    expect(row).toMatchObject({ state: "sent", doubts: 1 });
    expect(statuses(world)).toEqual(["in-doubt", "sent"]);
  },
);

test("a send in doubt twice is held, marked and told to its conversation", async () => {
  const world = await started({}, ["odd", "odd"]);
  await world.say("a", { direct: true });
  await world.pass(60_000);
  expect(world.sent).toEqual([]);
  expect(statuses(world)).toEqual(["in-doubt", "in-doubt"]);
  expect(world.reactions.at(-1)).toMatch(/^-/);
  const [row] = await world.store.outboxByState(["in-doubt"], 5);
  expect(row).toMatchObject({ doubts: 2, kind: "reply" });

  expect(await world.runtime.resend(row?.id as string)).toBe(true);
  await world.pass(1_000);
  expect(world.sent).toHaveLength(1);
  expect(await world.runtime.resend(row?.id as string)).toBe(false);
});

test("two operators who send a row again at once send it once, and its conversation goes on", async () => {
  const world = await started(hold, ["odd"]);
  await world.say("a", { direct: true });
  await world.pass(60_000);
  const [row] = await world.store.outboxOpen();
  const { id } = row as OutboxRow;
  const both = await Promise.all([world.runtime.resend(id), world.runtime.resend(id)]);
  expect(both).toEqual([true, false]);
  await world.say("b", { direct: true });
  await world.pass(60_000);
  expect(world.sent).toHaveLength(2);
  expect(statuses(world)).toEqual(["in-doubt", "sent", "sent"]);
});

test("two operators who give up a row at once do so once", async () => {
  const world = await started(hold, ["odd"]);
  await world.say("a", { direct: true });
  await world.pass(60_000);
  const [row] = await world.store.outboxOpen();
  const { id } = row as OutboxRow;
  const both = await Promise.all([world.runtime.drop(id), world.runtime.drop(id)]);
  expect(both).toEqual([true, false]);
  expect(statuses(world)).toEqual(["in-doubt", "dead"]);
});

test("with `hold` a doubt is never sent again by itself, and the operator may give it up", async () => {
  const world = await started(hold, ["odd"]);
  await world.say("a", { direct: true });
  await world.pass(60_000);
  expect(statuses(world)).toEqual(["in-doubt"]);
  const [row] = await world.store.outboxOpen();
  expect(await world.runtime.drop(row?.id as string)).toBe(true);
  await world.pass(1_000);
  expect(statuses(world)).toEqual(["in-doubt", "dead"]);
  expect(await world.store.outboxOpen()).toEqual([]);
});

test("a reply that cannot leave in time expires and is never sent late", async () => {
  const world = await started();
  world.ready = false;
  await world.say("a", { direct: true });
  await world.pass(899_000);
  expect(statuses(world)).toEqual([]);
  await world.pass(10_000);
  expect(statuses(world)).toEqual(["expired"]);
  world.ready = true;
  world.runtime.connectionChanged("telegram", "default");
  await world.pass(60_000);
  expect(world.sent).toEqual([]);
});

test("sends wait for the account and go when it is back", async () => {
  const world = await started();
  world.ready = false;
  await world.say("a", { direct: true });
  await world.pass(5_000);
  expect(world.sent).toEqual([]);
  world.ready = true;
  world.runtime.connectionChanged("telegram", "default");
  await world.pass(100);
  expect(statuses(world)).toEqual(["sent"]);
});

test("a restart finds an unsent reply and sends it once, in order", async () => {
  const world = await new World({ store: createTestStore(), config: blocks }).start();
  world.ready = false;
  world.runs.push({ afterMs: 0, steps: threeBlocks });
  await world.say("a", { direct: true });
  await world.pass(5_000);
  world.ready = true;
  await world.restart();
  await world.pass(60_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["one", "two", "three"]);
});

test("a row found in `sending` after a crash is in doubt: once more if young, held if old", async () => {
  for (const [age, expected] of [
    [1_000, ["in-doubt", "sent"]],
    [300_000, ["in-doubt"]],
  ] as const) {
    const world = await started({}, ["hang"]);
    await world.say("a", { direct: true });
    await world.pass(1_000);
    const [row] = await world.store.outboxOpen();
    expect(row?.state).toBe("sending");
    await world.runtime.stop();
    world.clock.advanceTo(world.clock.now() + age);
    await world.start();
    await world.pass(60_000);
    expect(statuses(world)).toEqual(expected);
    expect((await world.store.outboxRow(row?.id as string))?.doubts).toBe(1);
    expect(world.events("agent_end")).toHaveLength(1);
  }
});

test("a delivery's states allow no way from sent back, and no send without a commit before", () => {
  const row = { attempts: 1, doubts: 0 };
  for (const type of [
    "send",
    "confirm",
    "defer",
    "refuse",
    "doubt",
    "resend",
    "expire",
    "drop",
  ] as const) {
    expect(nextDelivery({ ...row, state: "sent" }, { type }).state).toBe("sent");
  }
  expect(nextDelivery({ ...row, state: "pending" }, { type: "confirm" }).state).toBe("pending");
  expect(nextDelivery({ ...row, state: "sending" }, { type: "send" }).state).toBe("sending");
  expect(nextDelivery({ ...row, state: "sending" }, { type: "drop" }).state).toBe("sending");
  expect(nextDelivery({ ...row, state: "dead" }, { type: "resend" })).toEqual({
    state: "pending",
    attempts: 0,
    doubts: 0,
  });
});

test("what another node was to send is sent here when the connection is back before that is stored", async () => {
  const world: World = await new World({
    onPoint: (point) => {
      if (point !== "after-send" || world.ready) return;
      world.ready = true;
      world.runtime.connectionChanged("telegram", "default");
    },
  }).start();
  world.fates.push("elsewhere");
  await world.say("hello", { direct: true });
  await world.pass(60_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["ok"]);
  expect(statuses(world)).toEqual(["sent"]);
});
