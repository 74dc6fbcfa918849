/**
 * No typing is shown when no turn runs. The mistakes: the refreshing timer outlives one of the many
 * ways in which a turn may end, a slow call that started before the end completes after it, or the
 * end goes to the wrong place.
 */
import { expect, test } from "vitest";
import type { ScriptStep } from "../../src/domain/scenario/script.ts";
import type { Fate } from "../support/runtime/world.ts";
import { World } from "../support/runtime/world.ts";

interface Ending {
  readonly steps?: ScriptStep[];
  readonly fates?: Fate[];
  /** What happens 1 s into the turn. */
  readonly meanwhile?: (world: World) => Promise<unknown>;
}

const key = "agent:main:main";
const slow: ScriptStep[] = [{ waitMs: 3_000 }, { text: "late" }];
const endings: Readonly<Record<string, Ending>> = {
  "an answer": { steps: slow },
  silence: { steps: [{ waitMs: 3_000 }, { text: "NO_REPLY" }] },
  "a skipped answer": { steps: [{ tool: "skip_response", input: {} }, { text: "unseen" }] },
  "an error": { steps: [{ waitMs: 3_000 }, { error: "boom" }] },
  "an agent that hangs": { steps: [{ text: "first words" }, { hang: true }] },
  "an abort": { steps: slow, meanwhile: (world) => world.runtime.abortTurn(key, "operator") },
  "a stop word": { steps: slow, meanwhile: (world) => world.say("/stop", { direct: true }) },
  "a new session": { steps: slow, meanwhile: (world) => world.say("/new", { direct: true }) },
  "a host that is lost": { steps: slow, meanwhile: (world) => world.runtime.crashHost() },
  "a restart": { steps: slow, meanwhile: (world) => world.restart() },
  "an answer that is refused": { steps: slow, fates: ["refuse"] },
  "an answer in doubt": { steps: slow, fates: ["odd", "odd"] },
  "an answer that never leaves": { steps: slow, fates: Array<Fate>(200).fill("fail") },
};

test.each(Object.entries(endings))("after %s", async (_, { steps = [], fates = [], meanwhile }) => {
  for (const mode of ["instant", "thinking", "message"]) {
    const config = { typing: { mode }, commands: { ownerAllowFrom: ["telegram:ann"] } };
    const world = await new World({ config }).start();
    world.runs.push({ afterMs: 0, steps }, { afterMs: 0, steps });
    world.fates.push(...fates);
    await world.say("hello", { direct: true });
    await world.pass(1_500);
    await meanwhile?.(world);
    await world.pass(1_200_000);
    if (mode === "instant") expect(world.typing).toContain(true);
    expect(world.typing.at(-1) ?? false).toBe(false);
    const reported = world.typed.length;
    await world.pass(600_000);
    expect(world.typed).toHaveLength(reported);
    expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
    expect(world.reactions.filter((one) => one.startsWith("+")).length).toBe(
      world.reactions.filter((one) => one.startsWith("-")).length,
    );
  }
});

test("a message that is deleted before its turn takes the typing with it", async () => {
  const world = await new World().start();
  await world.say("hello", { id: "m1", direct: true });
  await world.pass(100);
  expect(world.typing).toEqual([true]);
  const place = { channel: "telegram", account: "default", thread: null } as const;
  const chat = { id: "ann", kind: "direct" } as const;
  const deletion = { ...place, chat, id: "m1" };
  await world.runtime.ingest("telegram", "default", [{ type: "delete", deletion }]);
  await world.pass(60_000);
  expect(world.typing).toEqual([true, false]);
});

test("while a turn runs it is shown again and again (the twin)", async () => {
  const world = await new World().start();
  world.runs.push({ afterMs: 20_000, steps: [{ text: "done" }] });
  await world.say("hello", { direct: true });
  await world.pass(20_000);
  expect(world.typing.length).toBeGreaterThan(3);
  expect(world.typing).not.toContain(false);
});

test("the turn that a restarted process takes up again is shown again, and its end too (the twin)", async () => {
  const world = await new World().start();
  for (let life = 0; life < 2; life += 1)
    world.runs.push({ afterMs: 20_000, steps: [{ text: "done" }] });
  await world.say("hello", { direct: true });
  await world.pass(1_000);
  const before = world.typed.length;
  await world.restart();
  await world.pass(15_000);
  expect(world.typing.slice(before).length).toBeGreaterThan(2);
  expect(world.typing).not.toContain(false);
  await world.pass(60_000);
  expect(world.typing.at(-1)).toBe(false);
});
