/**
 * A later message is never heard before an earlier one. The mistake: each message that arrives
 * during a turn is offered to the running agent by itself. One that comes while the agent cannot
 * listen yet is put aside for later, and the next one, which it can take, overtakes it.
 */
import { describe, expect, test } from "vitest";
import type { AgentDriver } from "../../src/domain/ports/index.ts";
import { steered } from "../support/agents/steered-agent.ts";
import { World } from "../support/runtime/world.ts";

const steering = (agent: Record<string, unknown>, queue: Record<string, unknown> = {}) =>
  new World({
    config: {
      agents: { defaults: { driver: { kind: "steered", ...agent } } },
      messages: { queue: { mode: "steer", ...queue }, inbound: { debounceMs: 100 } },
      session: { dmScope: "main" },
    },
    drivers: [steered as AgentDriver],
  }).start();

const says = async (world: World, id: string, afterMs: number) => {
  await world.pass(afterMs);
  await world.say(id, { id, direct: true });
};
const texts = (world: World) => world.sent.map(({ text }) => text);
/** The order in which the agent heard what was said. */
const heard = (world: World) =>
  texts(world).flatMap((text) => text.split(/ \+ |\n/).map((line) => line.replace(/^Ann: /, "")));

describe.each(["steer", "steer-backlog"])("in mode %s", (mode) => {
  test("what could not be steered goes in with the next that can, ahead of it", async () => {
    const world = await steering({ deafMs: 1_500, steps: 4 }, { mode });
    await says(world, "one", 0);
    await says(world, "two", 1_000);
    await says(world, "three", 1_000);
    await world.pass(60_000);
    expect(heard(world).slice(0, 3)).toEqual(["one", "two", "three"]);
    expect(texts(world)[0]).toBe("one + Ann: two\nAnn: three");
  });
});

test("what was left over for the turn before is not overtaken in the next one", async () => {
  // The first turn takes nothing in; its two followers stand in line when the second begins.
  const world = await steering({ steps: 2, stepMs: 2_000, deafMs: 1_900 });
  await says(world, "one", 0);
  await says(world, "two", 2_300);
  await says(world, "three", 900);
  await says(world, "four", 3_200);
  await world.pass(120_000);
  expect(texts(world)).toEqual(["one", "two + Ann: three\nAnn: four"]);
});

test("a message steered in time is answered by the running turn (the twin)", async () => {
  const world = await steering({ steps: 3 });
  await says(world, "one", 0);
  await says(world, "two", 700);
  await world.pass(60_000);
  expect(texts(world)).toEqual(["one + Ann: two"]);
  expect(world.events("agent_start")).toHaveLength(1);
});

test("a message steered too late is the next turn, not lost", async () => {
  const world = await steering({ steps: 2 });
  await says(world, "one", 0);
  await says(world, "two", 1_500);
  await world.pass(60_000);
  expect(texts(world)).toEqual(["one", "two"]);
});

test("the same turn tried again after a crash still knows what it was steered with", async () => {
  const world = await steering({ steps: 3 });
  await says(world, "one", 0);
  await says(world, "two", 700);
  await world.pass(900);
  await world.restart();
  await world.pass(60_000);
  expect(heard(world)).toEqual(["one", "two"]);
  expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
});
