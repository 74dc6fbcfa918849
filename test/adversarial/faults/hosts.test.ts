/**
 * Faults in real worker threads: a host that exits, loops, eats its heap, cannot start or is shot
 * again and again. Claimed each time: the others keep answering, the lost one comes back, nothing
 * is lost and nothing is decided twice.
 */
import { afterEach, describe, expect, test } from "vitest";
import { quarantinedCode } from "../../../src/actors/protocol/host-protocol.ts";
import { ownerOf } from "../../../src/actors/supervisor/rendezvous-hash.ts";
import type { SupervisorPorts } from "../../../src/actors/supervisor/supervisor.ts";
import { decodeVerdict } from "../../../src/domain/decision.ts";
import { hash52 } from "../../../src/domain/key.ts";
import { builtUrl } from "../../support/built/files.ts";
import { rounds } from "../../support/rounds.ts";
import { createWorld, groupKey, message, type World } from "../../support/runtime/supervised.ts";

const poisoned: Partial<SupervisorPorts> = {
  workers: 2,
  hostEntry: builtUrl("test/poisoned-host"),
  supervision: { loopMs: 20_000 },
};

let world: World | null = null;
afterEach(async () => {
  await world?.supervisor.stop();
  world = null;
});
const start = async (options: Partial<SupervisorPorts>): Promise<World> => {
  world = createWorld(options);
  await world.supervisor.start();
  return world;
};

/** Names of rooms that live on a host. */
const roomsOn = (host: number, count: number): string[] =>
  Array.from({ length: 200 }, (_, n) => `room${n}`)
    .filter((name) => ownerOf(hash52(groupKey(name)), [0, 1]) === host)
    .slice(0, count);

const [victim, neighbour] = roomsOn(0, 2) as [string, string];
const [elsewhere] = roomsOn(1, 1) as [string];

const decided = (world: World, seq: number) =>
  decodeVerdict(world.rows[seq - 1]?.code ?? 0)?.decision;
const appliedOnce = (world: World, except: readonly number[] = []) =>
  expect(
    world.rows.filter(({ applied, entry }) => applied !== 1 && !except.includes(entry.seq)),
  ).toEqual([]);

describe.each(["!exit", "!loop", "!oom"])("an event that kills its host by %s", (word) => {
  test("is quarantined after three strikes, and everything around it is decided once", async () => {
    // The whole process would end only with as much as a daemon has.
    const memoryMb = word === "!oom" ? rounds(40, 512) : 512;
    // Only the loop is ended by the watchdog; a busy machine must not make it end anything else.
    const loopMs = word === "!loop" ? 1_000 : 20_000;
    const world = await start({ ...poisoned, supervision: { loopMs, memoryMb } });
    let id = 0;
    const say = (room: string, text: string) => {
      id += 1;
      return world.send(groupKey(room), message(room, String(id), text));
    };
    say(victim, "earshot, are you there?");
    say(neighbour, "hello earshot");
    await world.settled();
    const bad = say(victim, `${word} now`);
    say(victim, "earshot, still there?");
    say(neighbour, "earshot, and you?");
    // While host 0 dies of it again and again, host 1 answers.
    for (let n = 0; n < 5; n += 1) {
      const seq = say(elsewhere, "earshot, are you there?");
      while (world.rows[seq - 1]?.code === null) await new Promise(setImmediate);
      expect(decided(world, seq)).toBe("engage");
    }
    await world.settled();
    expect(world.quarantined.map(({ seq }) => seq)).toEqual([bad]);
    expect(world.rows[bad - 1]?.code).toBe(quarantinedCode);
    appliedOnce(world, [bad]);
    expect(world.supervisor.status()[0]).toMatchObject({ state: "ready", restarts: 3 });
    expect(world.supervisor.status()[1]).toMatchObject({ state: "ready", restarts: 0 });
  });
});

test("a step that throws is rejected, told, and kills nothing", async () => {
  const world = await start(poisoned);
  const key = groupKey(victim);
  world.sendAll(
    ["earshot?", "!throw", "more", "earshot, again"].map((text, n) => [
      key,
      message(victim, String(n + 1), text),
    ]),
  );
  await world.settled();
  expect(world.quarantined).toEqual([{ seq: 2, error: "poison" }]);
  expect(world.codes()[1]).toBe(quarantinedCode);
  expect([1, 3, 4].map((seq) => decided(world, seq))).not.toContain(undefined);
  appliedOnce(world);
  expect(world.supervisor.status().map(({ restarts }) => restarts)).toEqual([0, 0]);
});

test("a host that crashes in the middle of traffic loses nothing and decides nothing twice", async () => {
  const world = await start({ workers: 2 });
  const rooms = [...roomsOn(0, 10), ...roomsOn(1, 10)];
  let id = 0;
  const times = rounds(8, 12);
  for (let round = 0; round < times; round += 1) {
    world.sendAll(
      Array.from({ length: 100 }, () => {
        id += 1;
        const room = rooms[id % rooms.length] as string;
        return [groupKey(room), message(room, String(id), id % 5 === 0 ? "earshot?" : "hm")];
      }),
    );
    if (round % 4 === 1) await world.supervisor.crash(round % 2);
    else await new Promise(setImmediate);
  }
  await world.settled();
  expect(world.rows).toHaveLength(times * 100);
  appliedOnce(world);
  const reference = createWorld({ workers: 0 });
  await reference.supervisor.start();
  for (const { entry } of world.rows) reference.send(entry.key, entry.event);
  await reference.settled();
  expect(world.codes()).toEqual(reference.codes());
  await reference.supervisor.stop();
});

test("a host that cannot be loaded ends as broken instead of spinning", async () => {
  const opened: number[] = [];
  world = createWorld({
    workers: 1,
    hostEntry: builtUrl("test/broken-host"),
    supervision: { intensityMax: 3, backoffMsMax: 50 },
    log: (_level, event) => {
      if (event === "host.start-failed") opened.push(opened.length);
    },
  });
  await expect(world.supervisor.start()).rejects.toThrow(/EAR_HOST_START|no host answers/);
  expect(opened).toHaveLength(4);
  expect(world.supervisor.status()[0]?.state).toBe("broken");
  expect(world.status.map(({ system }) => system)).toContain("host.broken");
});

test("a restart storm breaks the host, and its conversations move to the other", async () => {
  const world = await start({ workers: 2, supervision: { intensityMax: 2, backoffMsMax: 10 } });
  for (let n = 0; n < 3; n += 1) await world.supervisor.crash(0);
  expect(world.supervisor.status().map(({ state }) => state)).toEqual(["broken", "ready"]);
  const seq = world.send(groupKey(victim), message(victim, "1", "earshot?"));
  await world.settled();
  expect(decided(world, seq)).toBe("engage");
});
