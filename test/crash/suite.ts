/**
 * What is claimed of processes that are killed, with conversations on the main thread or in worker
 * hosts: see the test files beside.
 */
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CrashPoint } from "../../src/actors/protocol/runtime.ts";
import { openSqliteStore, type SqliteOptions } from "../../src/adapters/stores/sqlite-store.ts";
import { lockStateDir } from "../../src/adapters/stores/state-lock.ts";
import type { Store } from "../../src/domain/ports/index.ts";
import { rounds } from "../support/rounds.ts";
import { violations } from "./check.ts";
import { standsInFile, transcriptViolations } from "./transcripts.ts";
import { CrashWorld, chance, type Received } from "./world.ts";

type StorePoint = Parameters<NonNullable<SqliteOptions["onPoint"]>>[0];

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const randomKills = rounds(1, 40);
/** Redeliveries in a fifth of a storm. */
const stormSize = rounds(200, 2_000);
/** Whether each number of worker hosts meets every claim, and is killed at every named point alone, twice. */
const isEach = rounds(0, 1) > 0;
/** The longest wait for a lock or a lease is 10 s: that for the state directory. */
const stoppedMs = rounds(1_500, 12_000);
/** A point that is not reached by then is not on the path any more. */
const reachedMsMax = 60_000;
/** Every named point; the compiler misses none. */
const pointsByName: Record<CrashPoint | StorePoint, true> = {
  "after-insert": true,
  "before-commit": true,
  "after-commit": true,
  "before-ack": true,
  "after-send": true,
  "before-mark": true,
  "after-lines": true,
};
const points = Object.keys(pointsByName);

let folder = "";

/** The judge must see what he is there for: a lost message, a doubled answer, a phantom one. */
async function blindSpots(store: Store, world: CrashWorld): Promise<string[]> {
  // One in doubt may come twice, so it would prove nothing.
  const rows = await store.outboxByState(["sent"], 1_000_000);
  const sure = new Set(rows.flatMap(({ id, doubts }) => (doubts === 0 ? [id] : [])));
  const once = world.received.find(({ id }) => sure.has(id)) as Received;
  const tampered: readonly [string, { acked: Set<string>; received: readonly Received[] }][] = [
    ["lost", { acked: new Set([...world.acked, "m99999"]), received: world.received }],
    ["doubled", { acked: world.acked, received: [...world.received, once] }],
    ["phantom", { acked: world.acked, received: [...world.received, { ...once, id: "x:0" }] }],
    ["unsent", { acked: world.acked, received: world.received.filter((one) => one !== once) }],
  ];
  const seen = await Promise.all(tampered.map(([, history]) => violations(store, history)));
  return tampered.flatMap(([name], index) => (seen[index]?.length === 0 ? [name] : []));
}

/** The same judge, once a transcript file lacks its last byte. */
async function damagedFiles(store: Store): Promise<string[]> {
  const agent = join(folder, "agents", "main");
  const [name] = readdirSync(agent).filter((one) => one.endsWith(".jsonl"));
  const path = join(agent, name as string);
  truncateSync(path, statSync(path).size - 2);
  return transcriptViolations(store, folder).catch((error: Error) => [error.message]);
}

async function judge(world: CrashWorld): Promise<void> {
  await world.start();
  await world.traffic(100);
  await world.quiet();
  await world.stop();
  const store = await openSqliteStore({ path: join(folder, "earshot.db") });
  const found = await violations(store, world);
  found.push(...(await transcriptViolations(store, folder)));
  const damaged = await damagedFiles(store);
  const blind = await blindSpots(store, world);
  await store.close();
  expect(found, `seed ${seed}, log: ${world.logged.join("\n")}`).toEqual([]);
  expect(blind).toEqual([]);
  expect(damaged).not.toEqual([]);
  expect(world.unwritten).toEqual([]);
  expect(standsInFile(folder, "never said")).toBe(false);
  expect(world.acked.size).toBe(world.said.length);
  expect(world.said.length).toBeGreaterThan(world.kills);
  expect(world.received.length).toBeGreaterThan(world.kills);
}

/** Kills at random instants. */
async function randomly(world: CrashWorld, random: () => number): Promise<void> {
  for (let kill = 0; kill < randomKills; kill += 1) {
    await world.start();
    await world.traffic(30 + random() * 250);
    await world.kill();
  }
}

/** A kill at each of these points, at its first pass or (also) at a later one. */
async function atPoints(
  world: CrashWorld,
  random: () => number,
  some: readonly string[],
  passes: readonly ("first" | "later")[],
): Promise<void> {
  for (const point of some) {
    const later = 8 + Math.floor(random() * 60);
    for (const pass of passes) {
      await world.start(`${point}:${pass === "first" ? 1 : later}`);
      await world.traffic(reachedMsMax);
      expect(world.alive, `${point} is reached`).toBe(false);
      await world.kill();
    }
  }
}

/** A process that is stopped for longer than any lock says nothing twice; then it is killed among traffic for so long, ms. */
async function standstill(world: CrashWorld, trafficMs = 0): Promise<void> {
  const before = world.received.length;
  await world.start();
  await world.traffic(300);
  world.signal("SIGSTOP");
  await world.traffic(300);
  // It still owns its directory: nobody else may send its answers.
  await expect(lockStateDir(folder)).rejects.toMatchObject({ code: "EAR_STATE_LOCKED" });
  await new Promise((go) => setTimeout(go, stoppedMs));
  world.signal("SIGCONT");
  await world.traffic(300);
  await world.quiet();
  const ids = world.received.slice(before).map(({ id }) => id);
  expect(new Set(ids).size, `seed ${seed}`).toBe(ids.length);
  await world.traffic(trafficMs);
  await world.kill();
}

/** A storm of redeliveries around a kill, which comes among traffic for so long, ms. */
async function storm(world: CrashWorld, random: () => number, trafficMs = 0): Promise<void> {
  await world.start();
  await world.traffic(300);
  await world.storm(2 * stormSize);
  const storm = world.storm(stormSize);
  await world.traffic(trafficMs);
  await new Promise((go) => setTimeout(go, random() * 50));
  await world.kill();
  await storm;
  await world.start();
  // A platform gives first, and in order, what was not acknowledged: out of order, a line that the
  // killed process never had would rightly be answered behind later ones.
  world.redeliver();
  await world.storm(stormSize);
  await world.traffic(100);
  await world.storm(stormSize);
  await world.kill();
}

/**
 * Declares the claims for one number of worker hosts. In the full rounds each way to die has directories of its own;
 * else all of them meet one after the other on one, which is judged once, and storm and standstill take turns: the
 * kill that ends either of them comes at a random instant among traffic.
 */
export function crashContract(workers: number): void {
  let world: CrashWorld;
  let random: () => number;
  const begin = (chosen: number) => {
    random = chance(chosen);
    world = new CrashWorld(folder, random, workers);
  };
  beforeEach(() => {
    console.log(`crash seed ${seed}`);
    folder = mkdtempSync(join(tmpdir(), "earshot-crash-"));
    begin(seed);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  if (!isEach) {
    // Those of even number come here at a later pass, those of odd number at the first.
    const own = points.filter((_, index) => index % 2 === workers);
    const last = workers === 0 ? "a storm of redeliveries" : "a standstill";
    test(`kills at random instants, at ${own.join(", at ")}, and ${last} lose and double nothing`, async () => {
      await atPoints(world, random, own, [workers === 0 ? "later" : "first"]);
      const trafficMs = 30 + random() * 250;
      await (workers === 0 ? storm(world, random, trafficMs) : standstill(world, trafficMs));
      await judge(world);
    });
    return;
  }

  test(`${randomKills} kills at random instants lose and double nothing`, async () => {
    await randomly(world, random);
    await judge(world);
  });

  for (const [index, point] of points.entries())
    test(`a kill at ${point} loses and doubles nothing`, async () => {
      begin(seed + index);
      await atPoints(world, random, [point], ["first", "later"]);
      await judge(world);
    });

  test("a process that is stopped for longer than any lock loses and says nothing twice", async () => {
    await standstill(world);
    await judge(world);
  });

  test("a storm of 10,000 redeliveries around a kill doubles nothing", async () => {
    await storm(world, random);
    await judge(world);
  });
}
