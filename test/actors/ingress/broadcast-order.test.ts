/**
 * The order in which agents of a room answer: the same history each time, and through restarts at
 * any moment no agent answers before those ahead of it are done.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import { roommate } from "../../support/agents/roommate-agent.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { World } from "../../support/runtime/world.ts";

const mates = ["scout", "rover", "medic"] as const;
const configOf = (does: readonly string[], strategy = "sequential") => ({
  agents: {
    list: mates.map((id, place) => ({
      id,
      driver: { kind: "roommate", does: does[place] ?? "answer", afterMs: 700 * (3 - place) },
    })),
  },
  broadcast: { strategy, "telegram:room": [...mates] },
  engagement: { activation: "always" },
  turn: { idleMs: 5_000, maxMs: 8_000 },
});
const open = (does: readonly string[] = []) =>
  new World({ drivers: [roommate as AgentDriver], config: configOf(does) }).start();

interface OutputLine {
  readonly event?: string;
  readonly key: string;
  readonly turn: number;
  readonly batch: readonly string[];
}
const reported = (world: World) => world.lines as unknown as readonly OutputLine[];

/** Messages that an agent began to answer before those ahead of it were done. */
function outOfOrder(world: World): string[] {
  const lines = reported(world);
  const keyOf = (place: number) => `agent:${mates[place]}:telegram:group:room`;
  return lines.flatMap(({ event, key, batch }, index) => {
    const place = mates.findIndex((_, at) => keyOf(at) === key);
    if (event !== "agent_start") return [];
    const ahead = mates.slice(0, place).map((_, at) => keyOf(at));
    return batch.flatMap((id) =>
      ahead.flatMap((other) => {
        const turn = lines.find(
          (one) => one.event === "agent_start" && one.key === other && one.batch.includes(id),
        )?.turn;
        const ended = lines.findIndex(
          (one) => one.event === "agent_end" && one.key === other && one.turn === turn,
        );
        return turn !== undefined && (ended === -1 || ended > index) ? [`${id}: ${key}`] : [];
      }),
    );
  });
}

async function talk(world: World): Promise<void> {
  await world.say("one", { id: "1" });
  await world.pass(1_000);
  await world.say("two", { id: "2", author: { id: "bob", name: "Bob" } });
  await world.pass(100);
  await world.say("medic, three", { id: "3" });
  await world.pass(1_500);
  await world.runtime.crashHost();
  await world.pass(60_000);
  await world.runtime.passivateAll();
  await world.say("rover and medic, four", { id: "4" });
  await world.pass(60_000);
}

test("the judge sees agents that answer beside each other", async () => {
  const config = configOf([], "parallel");
  const world = await new World({ drivers: [roommate as AgentDriver], config }).start();
  await talk(world);
  expect(outOfOrder(world)).not.toEqual([]);
});

test("the room has the same history each time, in the order of its agents", async () => {
  const first = await open();
  await talk(first);
  const second = await open();
  await talk(second);
  expect(second.lines).toEqual(first.lines);
  expect(second.sent).toEqual(first.sent);
  expect(outOfOrder(first)).toEqual([]);
  expect(first.sent.length).toBeGreaterThanOrEqual(8);
  await first.runtime.stop();
  await second.runtime.stop();
});

const doings = fc.array(fc.constantFrom("answer", "answer", "fail", "hang", "nothing"), {
  minLength: 3,
  maxLength: 3,
});
const steps = fc.array(
  fc.record({
    what: fc.constantFrom("say", "say", "call", "restart", "crash"),
    gapMs: fc.constantFrom(0, 100, 500, 700, 1_400, 2_100, 6_000),
  }),
  { minLength: 2, maxLength: 8 },
);

property([doings, steps], { numRuns: rounds(8, 60) })(
  "through crashes at any moment nobody goes before his turn, and nobody is left waiting",
  async (does, turnsOf) => {
    const world = await open(does);
    for (const [index, { what, gapMs }] of turnsOf.entries()) {
      const author = { id: index % 2 === 0 ? "ann" : "bob" };
      if (what === "say") await world.say("hello", { id: `m${index}`, author });
      else if (what === "call") await world.say("rover and medic!", { id: `m${index}`, author });
      else if (what === "restart") await world.restart();
      else await world.runtime.crashHost();
      await world.pass(gapMs);
    }
    await world.pass(600_000);
    expect(outOfOrder(world)).toEqual([]);
    expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
    const engaged = world.decisions().filter(({ decision }) => decision === "engage");
    const taken = reported(world).flatMap((line) =>
      line.event === "agent_start" ? line.batch.map((id) => `${line.key} ${id}`) : [],
    );
    for (const { key, id } of engaged) expect(taken).toContain(`${key} ${id}`);
    await world.runtime.stop();
  },
);
