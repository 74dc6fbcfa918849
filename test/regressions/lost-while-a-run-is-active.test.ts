/**
 * A message that comes while a turn runs is not lost. The mistakes: it kills the run and goes down
 * with it, it is queued where the end of the run does not look, or it falls into the moment between
 * the agent's end and the last delivery. So it comes at every such moment, in every mode, and
 * whatever way the turn ends.
 */
import { expect, test } from "vitest";
import type { AgentDriver } from "../../src/domain/ports/index.ts";
import type { ScriptStep } from "../../src/domain/scenario/script.ts";
import { steered } from "../support/agents/steered-agent.ts";
import { rounds } from "../support/rounds.ts";
import { World } from "../support/runtime/world.ts";

const modes = ["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"] as const;
/** The turn is ordered at 500, its agent ends at 2,500, its answer is delivered at 4,500. */
const moments = [0, 499, 500, 501, 1_999, 2_000, 2_001, 2_499, 2_500, 2_501, 4_499, 4_500, 4_501];
const ends: Readonly<Record<string, ScriptStep[]>> = {
  answer: [{ waitMs: 2_000 }, { text: "first answer" }],
  silence: [{ waitMs: 2_000 }, { text: "NO_REPLY" }],
  error: [{ waitMs: 2_000 }, { error: "boom" }],
  hang: [{ hang: true }],
};

const batches = (world: World) =>
  world.events("agent_start").map((line) => ("batch" in line ? line.batch : []));
const ended = (world: World) =>
  world.events("agent_end").flatMap((line) => ("outcome" in line ? [line.outcome] : []));

/** With few rounds, a sixth of the moments for each way to end, other ones for the next and in the next mode. */
const isTried = (moment: number, turn: number) => rounds(0, 1) > 0 || moment % 6 === turn % 6;

test.each(
  modes.flatMap((mode, nth) =>
    Object.keys(ends).map(
      (end, place) =>
        [mode, end, moments.filter((_, index) => isTried(index, place + nth))] as const,
    ),
  ),
)("in mode %s, a turn that ends by %s: whatever the moment", async (mode, end, tried) => {
  for (const moment of tried) {
    const world = await new World({
      config: {
        messages: { queue: { mode } },
        turn: { idleMs: 2_000 },
        errors: { notifyRoom: "never" },
      },
    }).start();
    world.runs.push({ afterMs: 0, steps: ends[end] ?? [] });
    // The answer is asked to wait, so that the turn settles for a while.
    world.fates.push("429");
    await world.say("one", { id: "m1", direct: true });
    await world.pass(moment);
    await world.say("two", { id: "m2", direct: true });
    await world.pass(60_000);
    const reported = `${mode}, ${end}, at ${moment}`;
    expect([...new Set(batches(world).flat())].sort(), reported).toEqual(["m1", "m2"]);
    expect(batches(world).flat(), reported).toHaveLength(2);
    expect(ended(world), reported).toHaveLength(batches(world).length);
    // Unless it joined the first turn, which may be a silent or a failed one, it is answered.
    if (batches(world).length > 1) expect(world.sent.at(-1)?.text, reported).toBe("ok");
    expect(world.runtime.status().turns, reported).toEqual({ running: 0, waiting: 0 });
  }
});

test("a message that a running agent took in is in its answer", async () => {
  const world = await new World({
    config: {
      agents: { defaults: { driver: { kind: "steered", steps: 3 } } },
      messages: { queue: { mode: "steer" } },
    },
    drivers: [steered as AgentDriver],
  }).start();
  await world.say("one", { id: "m1", direct: true });
  await world.pass(700);
  await world.say("two", { id: "m2", direct: true });
  await world.pass(60_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["one + Ann: two"]);
});

test("where nothing runs, each is a turn of its own (the twin)", async () => {
  const world = await new World().start();
  for (const id of ["m1", "m2"]) {
    await world.say("hello", { id, direct: true });
    await world.pass(10_000);
  }
  expect(batches(world)).toEqual([["m1"], ["m2"]]);
  expect(ended(world)).toEqual(["replied", "replied"]);
});
