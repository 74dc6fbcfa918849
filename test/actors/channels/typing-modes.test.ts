/** When the room sees us typing, in each mode, from the first word to the last delivery. */
import { describe, expect, test } from "vitest";
import type { ScriptedRun } from "../../../src/domain/scenario/script.ts";
import { World } from "../../support/runtime/world.ts";

type Step = ScriptedRun["steps"][number];
const started = async (mode: string, more: Record<string, unknown> = {}) =>
  new World({ config: { typing: { mode, ...more } } }).start();
const mention = { mentions: [{ id: "we", isSelf: true }] } as never;

/** Asks, waits, and returns when typing began and ended, in ms after the question. */
async function ask(
  world: World,
  steps: readonly Step[],
  { direct = true, ms = 60_000, more = {} } = {},
): Promise<(number | null)[]> {
  world.runs.push({ afterMs: 0, steps: [...steps] });
  const asked = world.clock.now();
  const before = world.typed.length;
  await world.say("earshot?", { direct, ...more });
  await world.pass(ms);
  const calls = world.typed.slice(before);
  const first = calls.find(({ on }) => on);
  const last = calls.at(-1);
  return [
    first === undefined ? null : first.at - asked,
    last === undefined || last.on ? null : last.at - asked,
  ];
}

const thought: Step = { reasoning: "hm" };
const pause: Step = { waitMs: 1_000 };
const word: Step = { text: "Hello there." };
/** The debounce window passes before the agent is called. */
const called = 500;

describe("typing begins", () => {
  test("instant: with the question", async () => {
    const world = await started("instant");
    expect(await ask(world, [pause, thought, pause, word])).toEqual([0, called + 2_000]);
  });

  test("thinking: with the first thought", async () => {
    const world = await started("thinking");
    const steps = [pause, thought, pause, word, pause];
    expect(await ask(world, steps)).toEqual([called + 1_000, called + 3_000]);
  });

  test("thinking: with the first word of an agent that does not think aloud", async () => {
    const world = await started("thinking");
    expect((await ask(world, [pause, word, pause]))[0]).toBe(called + 1_000);
  });

  test("message: with the first word that is surely one", async () => {
    const world = await started("message");
    const steps = [thought, pause, { text: "NO_" }, pause, { text: "WAY, that is good" }, pause];
    expect((await ask(world, steps))[0]).toBe(called + 2_000);
  });

  test("never: never", async () => {
    const world = await started("never");
    await ask(world, [thought, word, pause]);
    expect(world.typed.filter(({ on }) => on)).toEqual([]);
    expect(world.sent).toHaveLength(1);
  });

  test("auto: with the question of a direct chat and of a mention, else with the first word", async () => {
    const world = await started("auto");
    expect((await ask(world, [pause, word]))[0]).toBe(0);
    const group = await started("auto");
    expect((await ask(group, [pause, word], { direct: false, more: mention }))[0]).toBe(0);
    const steps = [thought, pause, word, pause];
    expect((await ask(group, steps, { direct: false }))[0]).toBe(called + 1_000);
  });
});

describe("typing is not shown for silence", () => {
  for (const mode of ["thinking", "message"])
    test(`in mode ${mode}, however slowly the token comes`, async () => {
      const world = await started(mode);
      const units = [..."NO_REPLY"].flatMap((text): Step[] => [{ text }, pause]);
      await ask(world, units);
      expect(world.typed.filter(({ on }) => on)).toEqual([]);
      expect(world.events("agent_end")).toMatchObject([{ outcome: "silent" }]);
    });

  test("and ends at once with the choice to be silent", async () => {
    const world = await started("instant");
    const steps: Step[] = [pause, { tool: "skip_response", input: {} }, pause, pause];
    expect(await ask(world, steps)).toEqual([0, called + 1_000]);
  });
});

describe("typing ends", () => {
  test("when the last block was delivered, not when the agent was done", async () => {
    const world = await started("instant");
    world.fates.push("429");
    expect(await ask(world, [word])).toEqual([0, called + 2_000]);
  });

  test("when the agent fails, and when it is stopped", async () => {
    const world = await started("instant");
    expect(await ask(world, [pause, { error: "boom" }])).toEqual([0, called + 1_000]);
    const other = await new World({
      config: { typing: { mode: "instant" }, messages: { queue: { mode: "interrupt" } } },
    }).start();
    other.runs.push({ afterMs: 0, steps: [{ hang: true }] });
    await other.say("one", { direct: true });
    await other.pass(5_000);
    await other.say("two", { direct: true });
    await other.pass(5_000);
    expect(other.typed.at(-1)?.on).toBe(false);
    expect(other.events("agent_end")).toMatchObject([
      { outcome: "cancelled" },
      { outcome: "replied" },
    ]);
  });

  test("by itself when nothing ends it, and is refreshed until then", async () => {
    const world = await started("instant", { ttlMs: 20_000, intervalMs: 6_000 });
    await ask(world, [{ hang: true }], { ms: 100_000 });
    const asked = world.typed[0]?.at ?? 0;
    expect(world.typed.map(({ on, at }) => [on, at - asked])).toEqual([
      [true, 0],
      [true, 5_000],
      [true, 10_000],
      [true, 15_000],
    ]);
  });

  test("only when nobody waits any more", async () => {
    const world = await started("instant");
    world.runs.push({ afterMs: 3_000, steps: [word] }, { afterMs: 3_000, steps: [word] });
    await world.say("one", { direct: true });
    await world.pass(1_000);
    await world.say("two", { direct: true });
    await world.pass(60_000);
    expect(world.events("agent_end")).toHaveLength(2);
    const ends = world.typed.filter(({ on }) => !on);
    expect(ends).toHaveLength(1);
    expect(ends[0]?.at).toBe(world.sent.at(-1)?.at);
  });

  test("and does not begin again after it", async () => {
    const world = await started("instant");
    await ask(world, [word], { ms: 300_000 });
    expect(world.typed.at(-1)?.on).toBe(false);
    expect(world.typed.filter(({ on }) => !on)).toHaveLength(1);
  });
});
