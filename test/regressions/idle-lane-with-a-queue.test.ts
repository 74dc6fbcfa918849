/**
 * No turn slot is free while a request waits for it. The mistakes: the run, its slot and the queue
 * behind it are kept in three places, and one way of ending a run forgets one of them: the abort
 * releases no slot, the recovery serves no queue, the last message starts no turn.
 */
import { describe, expect, test } from "vitest";
import type { ScriptStep } from "../../src/domain/scenario/script.ts";
import { rounds } from "../support/rounds.ts";
import { World } from "../support/runtime/world.ts";

const modes = ["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"] as const;
const slow: ScriptStep[] = [{ waitMs: 4_000 }, { text: "late" }];
const key = "agent:main:telegram:group:room0";

interface Ending {
  readonly steps?: ScriptStep[];
  readonly meanwhile?: (world: World) => Promise<unknown>;
}
const endings: Readonly<Record<string, Ending>> = {
  "an answer": {},
  "an error": { steps: [{ waitMs: 4_000 }, { error: "boom" }] },
  silence: { steps: [{ waitMs: 4_000 }, { text: "NO_REPLY" }] },
  "a hang": { steps: [{ hang: true }] },
  "an abort": { meanwhile: (world) => world.runtime.abortTurn(key, "operator") },
  "a lost host": { meanwhile: (world) => world.runtime.crashHost() },
  "a restart": { meanwhile: (world) => world.restart() },
  "two restarts": {
    meanwhile: async (world) => {
      await world.restart();
      await world.pass(100);
      await world.restart();
    },
  },
};

/** One slot for all conversations: one that does not release it stops all others. */
const config = (mode: string) => ({
  agents: { defaults: { driver: { kind: "scripted" }, maxConcurrent: 1 } },
  messages: { queue: { mode } },
  turn: { idleMs: 5_000, maxConcurrentTurns: 1 },
});
const rooms = ["room0", "room1", "room2"];
const say = (world: World, room: string, id: string) =>
  world.say("hello", {
    id,
    chat: { id: room, kind: "group" },
    mentions: [{ id: "bot", isSelf: true }],
  });

const started = (world: World) =>
  world
    .events("agent_start")
    .flatMap((line) =>
      "batch" in line && Array.isArray(line.batch) ? (line.batch as string[]) : [],
    );
const dropped = (world: World) =>
  world.events("dropped").map((line) => ("message" in line ? String(line.message) : ""));

/** With few rounds, each other ending in a mode, and the others in the next. */
const inMode = (place: number) =>
  Object.entries(endings).filter((_, n) => rounds(0, 1) > 0 || (n + place) % 2 === 0);

describe.each(modes)("in mode %s", (mode) => {
  test.each(inMode(modes.indexOf(mode)))(
    "after %s the line moves on",
    async (_, { steps, meanwhile }) => {
      const world = await new World({ config: config(mode) }).start();
      for (let n = 0; n < 2; n += 1) world.runs.push({ afterMs: 0, steps: steps ?? slow });
      const ids: string[] = [];
      const everybody = async (round: number) => {
        for (const room of rooms) {
          ids.push(`${room}-${round}`);
          await say(world, room, `${room}-${round}`);
        }
      };
      await everybody(0);
      await world.pass(1_000);
      await everybody(1);
      await world.pass(1_000);
      await meanwhile?.(world);
      await world.pass(200);
      await everybody(2);
      await world.pass(120_000);
      const fates = [...new Set([...started(world), ...dropped(world)])];
      expect(fates.sort()).toEqual(ids.sort());
      expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
      expect(await world.store.runs()).toEqual([]);
      expect(await world.store.deadlines()).toEqual([]);
    },
  );
});

test("while the one turn runs, the others do wait (the twin)", async () => {
  const world = await new World({ config: config("collect") }).start();
  world.runs.push({ afterMs: 4_500, steps: [{ text: "late" }] });
  for (const room of rooms) await say(world, room, room);
  await world.pass(4_000);
  expect(world.runtime.status().turns).toEqual({ running: 1, waiting: 2 });
  expect(started(world)).toEqual(["room0"]);
});
