/**
 * Nobody gets last week's answers when earshot comes back. The mistake: whatever the disk still
 * holds is taken up at the next start, as if no time had passed: replies that never left, messages
 * that waited for a turn, turns that were under way.
 */
import { expect, test } from "vitest";
import type { Fate } from "../support/runtime/world.ts";
import { World } from "../support/runtime/world.ts";

const week = 7 * 24 * 3_600_000;
const outcomes = (world: World) =>
  world.events("agent_end").map((line) => ("outcome" in line ? line.outcome : ""));

/** Ends the process, as a crash does, and starts it again after `ms`. */
async function away(world: World, ms: number): Promise<void> {
  await world.runtime.stop();
  world.clock.advanceTo(world.clock.now() + ms);
  world.ready = true;
  await world.start();
  await world.runtime.settled();
}

/** How far it had come when the process ended. */
const stages: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "a message that was just heard": async (world) => {
    await world.say("hello", { id: "old", direct: true });
  },
  "a batch whose window was open": async (world) => {
    await world.say("hello", { id: "old", direct: true });
    await world.pass(300);
  },
  "a turn under way": async (world) => {
    world.runs.push({ afterMs: 5_000, steps: [{ text: "old answer" }] });
    await world.say("hello", { id: "old", direct: true });
    await world.pass(2_000);
  },
  "a turn that waited for a slot": async (world) => {
    world.runs.push({ afterMs: 5_000, steps: [{ text: "old answer" }] });
    for (const id of ["old", "older"])
      await world.say("hello", {
        id,
        chat: { id: `chat-${id}`, kind: "group" },
        mentions: [{ id: "bot", isSelf: true }],
      });
    await world.pass(2_000);
  },
  "an answer that could not leave": async (world) => {
    world.ready = false;
    world.runs.push({ afterMs: 0, steps: [{ text: "old answer" }] });
    await world.say("hello", { id: "old", direct: true });
    await world.pass(2_000);
  },
  "an answer that the platform did not want yet": async (world) => {
    world.fates.push(...Array<Fate>(3).fill("fail"));
    world.runs.push({ afterMs: 0, steps: [{ text: "old answer" }] });
    await world.say("hello", { id: "old", direct: true });
    await world.pass(3_000);
    world.fates.splice(0);
  },
};
const config = {
  agents: { defaults: { driver: { kind: "scripted" }, maxConcurrent: 1 } },
  stream: { mode: "off" },
};

test.each(Object.entries(stages))("%s is told as expired, and not said", async (_, until) => {
  const world = await new World({ config }).start();
  await until(world);
  expect(world.sent).toEqual([]);
  await away(world, week);
  await world.pass(600_000);
  expect(world.sent).toEqual([]);
  const expired = [
    ...outcomes(world).filter((outcome) => outcome === "expired"),
    ...world.sends().filter(({ status }) => status === "expired"),
  ];
  expect(expired.length).toBeGreaterThan(0);
  expect(await world.store.outboxOpen()).toEqual([]);
  expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
  // What is said from now on is answered, and carries nothing of the old along.
  world.runs.splice(0);
  await world.say("hello again", { id: "new", direct: true });
  await world.pass(10_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["ok"]);
});

test.each(Object.entries(stages))(
  "%s is answered after a short break (the twin)",
  async (_, until) => {
    const world = await new World({ config }).start();
    await until(world);
    await away(world, 10_000);
    await world.pass(600_000);
    expect(world.sent.length).toBeGreaterThan(0);
    expect(new Set(outcomes(world))).toEqual(new Set(["replied"]));
  },
);
