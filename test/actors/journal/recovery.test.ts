/** Restarts and failing commits: nothing acknowledged is lost, nothing is done twice. */
import { describe, expect, test } from "vitest";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

const outcomes = (world: World) =>
  world.events("agent_end").map((line) => ("outcome" in line ? line.outcome : ""));

/** Speaks until it is taken, as a platform would that was not acknowledged. */
async function insist(world: World, text: string, id: string): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      await world.say(text, { id, mentions: [{ id: "bot", isSelf: true }] });
      return;
    } catch {
      await world.pass(500);
    }
  }
  throw new Error(`${id} was never taken`);
}

describe("the n-th commit fails", () => {
  // Two messages take fewer commits than this: every one of them fails once.
  const commits = Array.from({ length: 24 }, (_, index) => index + 1);

  test.each(commits)("n = %i: every message is decided and answered once", async (at) => {
    const world = await new World().start();
    world.runs.push({ afterMs: 50, steps: [{ text: "one" }] });
    world.runs.push({ afterMs: 50, steps: [{ text: "two" }] });
    world.disk.fail({ at });
    await insist(world, "hello", "m1");
    await world.pass(5_000);
    await insist(world, "again", "m2");
    await world.pass(20_000);
    const decided = world.decisions().filter(({ decision }) => decision !== "duplicate");
    expect(decided.map(({ id }) => id)).toEqual(["m1", "m2"]);
    expect(outcomes(world)).toEqual(["replied", "replied"]);
    expect(world.sent.map(({ text }) => text)).toEqual(["one", "two"]);
    expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
  });

  test("the faults of the test above do hit something", async () => {
    const world = await new World().start();
    const before = world.disk.commits();
    world.runs.push({ afterMs: 50, steps: [{ text: "one" }] });
    await insist(world, "hello", "m1");
    await world.pass(5_000);
    expect(world.disk.commits() - before).toBeGreaterThan(6);
  });
});

describe("a restart", () => {
  const stopsAt = [0, 100, 499, 500, 501, 550, 600, 700, 2_000];

  test.each(stopsAt)(
    "after %i ms of a turn's life leaves one outcome and one answer",
    async (ms) => {
      const world = await new World().start();
      world.runs.push({ afterMs: 100, steps: [{ text: "hello" }] });
      world.runs.push({ afterMs: 100, steps: [{ text: "hello" }] });
      await world.say("hi", { id: "m1", direct: true });
      await world.pass(ms);
      await world.restart();
      await world.pass(30_000);
      expect(world.decisions().map(({ id }) => id)).toEqual(["m1"]);
      expect(outcomes(world)).toEqual(["replied"]);
      expect(world.sent.map(({ text }) => text)).toEqual(["hello"]);
      expect(await world.store.runs()).toEqual([]);
      expect(await world.store.deadlines()).toEqual([]);
    },
  );

  test("in the middle of many conversations, again and again, answers each once", async () => {
    const world = await new World({ store: createTestStore() }).start();
    for (let round = 0; round < 6; round += 1) {
      for (let room = 0; room < 5; room += 1) {
        await world.say(`hello ${round}`, {
          id: `m${round}-${room}`,
          chat: { id: `r${room}`, kind: "group" },
          mentions: [{ id: "bot", isSelf: true }],
        });
      }
      await world.pass(130 * round);
      await world.restart();
    }
    await world.pass(120_000);
    const decided = world.decisions().map(({ id }) => id);
    expect(new Set(decided).size).toBe(30);
    expect(decided).toHaveLength(30);
    expect(new Set(world.sent.map(({ id }) => id)).size).toBe(world.sent.length);
    expect(outcomes(world).every((outcome) => outcome === "replied")).toBe(true);
    expect(await world.store.runs()).toEqual([]);
  });

  test("a turn that is lost three times fails instead of running for ever", async () => {
    const world = await new World().start();
    for (let run = 0; run < 3; run += 1) world.runs.push({ afterMs: 0, steps: [{ hang: true }] });
    await world.say("hi", { direct: true });
    for (let crash = 0; crash < 3; crash += 1) {
      await world.pass(1_000);
      await world.restart();
    }
    await world.pass(10_000);
    expect(outcomes(world)).toEqual(["failed"]);
    expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
  });

  test("a deadline that fell due while nobody was there fires once, late, not never", async () => {
    const world = await new World().start();
    await world.say("hi", { direct: true, id: "m1" });
    await world.pass(100);
    await world.runtime.stop();
    world.clock.advanceTo(world.clock.now() + 60_000);
    await world.start();
    await world.pass(5_000);
    expect(world.events("agent_start")).toMatchObject([{ batch: ["m1"] }]);
    await world.restart();
    await world.pass(60_000);
    expect(world.events("agent_start")).toHaveLength(1);
  });

  test("a redelivery storm across restarts is decided once", async () => {
    const world = await new World().start();
    for (let storm = 0; storm < 4; storm += 1) {
      for (let copy = 0; copy < 5; copy += 1) {
        for (const id of ["m1", "m2", "m3"]) await world.say("hello", { id });
      }
      await world.restart();
    }
    await world.pass(1_000);
    const decided = world.decisions().filter(({ decision }) => decision !== "duplicate");
    expect(decided.map(({ id }) => id)).toEqual(["m1", "m2", "m3"]);
  });

  test("a row that cannot be read is set aside and stops nobody else", async () => {
    const world = await new World().start();
    await world.say("hello", { id: "m1" });
    await world.pass(10);
    await world.runtime.stop();
    const [dirty] = await world.store.dirty(1);
    const bad = { kind: "event", at: 0, eid: 5, conv: dirty?.conv as number, cfg: 7 } as const;
    const row = { ...bad, key: "k", identity: "bad", body: "{broken", messageId: null };
    const [seq] = await world.store.commit([row]);
    await world.start();
    await world.pass(10);
    await world.say("hello", { id: "m2", chat: { id: "other", kind: "group" } });
    await world.say("hello", { id: "m3" });
    await world.pass(10);
    expect(world.decisions().map(({ id }) => id)).toEqual(["m1", "m2", "m3"]);
    expect(world.logged.map(({ event }) => event)).toContain("event.unreadable");
    expect((await world.store.events([seq as number]))[0]?.code).toBe(-3);
  });

  test("another config gets another version, the same one the same", async () => {
    const world = await new World().start();
    await world.restart();
    expect((await world.store.latestConfig())?.version).toBe(1);
    await world.restart({ typing: { mode: "never" } });
    expect((await world.store.latestConfig())?.version).toBe(2);
  });
});

test("the same history comes out of two runs, line for line", async () => {
  const run = async () => {
    const world = await new World({ prompts: true }).start();
    for (const [index, text] of ["hello", "earshot, are you there?", "thanks"].entries()) {
      await world.say(text, { id: `m${index}`, author: { id: `u${index % 2}` } });
      await world.pass(700);
    }
    await world.pass(20_000);
    return world.lines;
  };
  expect(await run()).toEqual(await run());
});
