/**
 * A host that hangs is ended; one that gets no processor time is not. The rule with scripted
 * threads, then with a real thread without processor time, and with one that waits for ever.
 */
import { spawn, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { HostLink } from "../../../src/actors/protocol/host-link.ts";
import { createSharedHeartbeat } from "../../../src/actors/protocol/shared-heartbeat.ts";
import {
  currentThread,
  type ProcessWork,
  processWork,
  type ThreadWork,
  threadWork,
} from "../../../src/actors/protocol/thread-state.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { Watchdog } from "../../../src/actors/supervisor/watchdog.ts";
import { createPool } from "../../../src/actors/supervisor/worker-pool.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { builtUrl } from "../../support/built/files.ts";
import { property } from "../../support/property.ts";
import { createWorld, groupKey, message } from "../../support/runtime/supervised.ts";

const loopMs = 1_000;
const patience = { timeout: 60_000 };

/**
 * A watched host whose thread follows a script, check by check; the check at which it was killed.
 */
function killedAt(looks: readonly { work: ThreadWork | null; beats: boolean }[]): number | null {
  const clock = new SimulatedClock(0);
  const heartbeat = createSharedHeartbeat();
  let now: ThreadWork | null = null;
  let killed: number | null = null;
  let look = 0;
  const link = { epoch: 1, heartbeat, work: () => now, ping: () => {} } as unknown as HostLink;
  const kill = () => {
    killed ??= look;
  };
  const hosts = [{ id: 0, link, awaitsReply: true, kill }];
  const idle = () => ({ cpuMs: 0, waitedMs: 0 });
  const watchdog = new Watchdog(clock, hosts, loopMs, () => 0, idle);
  watchdog.start();
  for (const { work, beats } of looks) {
    look += 1;
    now = work;
    if (beats) heartbeat.beat();
    clock.moveTo(look * 200);
    clock.fireNext(look * 200);
  }
  watchdog.stop();
  return killed;
}

/**
 * A silent host whose thread waits, in a process that stands still before some looks; the look at
 * which it was killed. `work`: what the process had of the processors by then.
 */
function waitingKilledAt(
  looks: readonly { readonly frozenMs: number; readonly work: ProcessWork }[],
): number | null {
  const clock = new SimulatedClock(0);
  const heartbeat = createSharedHeartbeat();
  const asleep = () => ({ cpuMs: 0, runnable: false });
  const link = { epoch: 1, heartbeat, work: asleep, ping: () => {} } as unknown as HostLink;
  let killed: number | null = null;
  let look = 0;
  const kill = () => {
    killed ??= look;
  };
  const hosts = [{ id: 0, link, awaitsReply: true, kill }];
  const work = () => looks[look - 1]?.work ?? { cpuMs: 0, waitedMs: 0 };
  const watchdog = new Watchdog(clock, hosts, loopMs, () => 0, work);
  watchdog.start();
  for (const { frozenMs } of looks) {
    look += 1;
    clock.moveTo(clock.now() + 200 + frozenMs);
    clock.fireNext(clock.now());
  }
  watchdog.stop();
  return killed;
}

/** Threads that were given so many ms of a processor before each look. */
const working = (given: readonly number[]) => {
  let cpuMs = 0;
  return given.map((ms) => {
    cpuMs += ms;
    return { work: { cpuMs, runnable: true }, beats: false };
  });
};

/** A process whose threads had `cpuMs` of the processors before each look, and waited `waitedMs` for one. */
const sharing = (looks: number, cpuMs: number, waitedMs: number) =>
  Array.from({ length: looks }, (_, look) => ({
    frozenMs: 0,
    work: { cpuMs: cpuMs * (look + 1), waitedMs: waitedMs * (look + 1) },
  }));

describe("the watchdog", () => {
  test("ends a thread that works all the time and does not answer", () => {
    expect(killedAt(working(Array(20).fill(200)))).toBe(7);
  });

  test("ends one that waits for something that is no processor", () => {
    const waiting = { work: { cpuMs: 50, runnable: false }, beats: false };
    expect(killedAt(Array(20).fill(waiting))).toBe(7);
  });

  test("ends a silent one after as long where nothing is known of its thread", () => {
    expect(killedAt(Array(20).fill({ work: null, beats: false }))).toBe(7);
  });

  test("waits for one that gets no processor, and ends it once it has had its time", () => {
    expect(killedAt(working(Array(1_000).fill(0)))).toBeNull();
    expect(killedAt(working(Array(1_000).fill(20)))).toBe(52);
  });

  test("waits for one whose helpers get no processor, and ends it once they have had their time", () => {
    expect(waitingKilledAt(sharing(1_000, 0, 600))).toBeNull();
    expect(waitingKilledAt(sharing(1_000, 60, 540))).toBe(52);
    expect(waitingKilledAt(sharing(1_000, 60, 0))).toBe(7);
  });

  property([fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 })])(
    "has given every thread it ends the time of a loop, and ends every one that has had twice that",
    (given) => {
      const at = killedAt(working(given));
      const had = (looks: readonly number[]) =>
        looks.slice(1).reduce((sum, ms) => sum + Math.min(ms, 200), 0);
      if (at === null) expect(had(given)).toBeLessThanOrEqual(2 * loopMs);
      else expect(had(given.slice(0, at))).toBeGreaterThan(loopMs);
    },
  );

  property([
    fc.array(
      fc.record({ frozenMs: fc.constantFrom(0, 0, 250, 3_000, 3_600_000), busy: fc.nat(9) }),
      {
        minLength: 20,
        maxLength: 60,
      },
    ),
  ])(
    "counts no time in which the whole process stood still, and ends who was silent in the rest",
    (looks) => {
      let cpuMs = 0;
      const at = waitingKilledAt(
        looks.map(({ frozenMs, busy }) => {
          cpuMs += busy;
          return { frozenMs, work: { cpuMs, waitedMs: 0 } };
        }),
      );
      const hadMs = (until: number) =>
        looks
          .slice(1, until)
          .reduce((sum, { frozenMs, busy }) => sum + (frozenMs > 200 ? busy : 200), 0);
      if (at === null) expect(hadMs(looks.length)).toBeLessThanOrEqual(loopMs);
      else expect(hadMs(at)).toBeGreaterThan(loopMs);
    },
  );

  property([fc.array(fc.boolean(), { minLength: 1, maxLength: 60 })])(
    "ends nobody who answers between every six looks",
    (given) => {
      const looks = working(Array(given.length).fill(200)).map(({ work }, index) => ({
        work,
        beats: index % 6 === 0 || given[index] === true,
      }));
      expect(killedAt(looks)).toBeNull();
    },
  );
});

const isLinux = process.platform === "linux";

describe.skipIf(!isLinux)("what the system tells of threads", () => {
  test("a thread knows its own number, and another sees it work and wait", async () => {
    expect(threadWork(currentThread())).toMatchObject({ cpuMs: expect.any(Number) });
    expect(threadWork(0)).toBeNull();
    const source = `
      const { parentPort } = require("node:worker_threads");
      const { readlinkSync } = require("node:fs");
      parentPort.postMessage(Number(readlinkSync("/proc/thread-self").split("/").pop()));
      parentPort.once("message", () => { for (;;); });`;
    const worker = new Worker(source, { eval: true });
    const id = await new Promise<number>((reported) => worker.once("message", reported));
    expect(id).not.toBe(currentThread());
    await expect.poll(() => threadWork(id)?.runnable, patience).toBe(false);
    const before = threadWork(id)?.cpuMs ?? 0;
    worker.postMessage("work");
    await expect.poll(() => (threadWork(id)?.cpuMs ?? 0) - before, patience).toBeGreaterThan(50);
    expect(threadWork(id)?.runnable).toBe(true);
    await worker.terminate();
    await expect.poll(() => threadWork(id), patience).toBeNull();
  });

  test("threads that share a processor wait for it, and that is counted", async () => {
    const before = processWork();
    const loop = `
      const { parentPort } = require("node:worker_threads");
      parentPort.postMessage(0);
      for (;;);`;
    const more = Array.from({ length: 2 * availableParallelism() }, async () => {
      const worker = new Worker(loop, { eval: true });
      await new Promise((runs) => worker.once("message", runs));
      return worker;
    });
    const workers = await Promise.all(more);
    await expect
      .poll(() => processWork().waitedMs - before.waitedMs, patience)
      .toBeGreaterThan(100);
    expect(processWork().cpuMs).toBeGreaterThan(before.cpuMs);
    await Promise.all(workers.map((worker) => worker.terminate()));
  });
});

const has = (program: string) =>
  spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
const canStarve = isLinux && has("taskset") && has("chrt") && availableParallelism() > 1;
if (!canStarve)
  process.stderr.write(
    "skipped: starving a thread, as taskset or chrt is missing, or a processor\n",
  );

describe.skipIf(!canStarve)("a real thread", () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  test("that is starved is waited for, and answers when it may", async () => {
    const clock = createSystemClock();
    const pool = createPool({
      workers: 1,
      clock,
      log: () => undefined,
      live: 10,
      checkpointEvery: 100,
      memoryMb: 64,
      startMsMax: 60_000,
      hostModule: builtUrl("adapters/host-ports").href,
      entry: builtUrl("test/busy-host"),
    });
    ends.push(() => pool.close());
    const nothing = () => undefined;
    const events = { onReports: nothing, onDelta: nothing, onDraft: nothing, onInspect: nothing };
    const link = await pool.open(0, 1, { ...events, onLog: nothing, ask: async () => "" });
    const thread = link.heartbeat.thread();
    expect(link.work?.()).not.toBeNull();
    const order = (program: string, ...how: string[]) =>
      expect(spawnSync(program, how, { encoding: "utf8" })).toMatchObject({ status: 0 });
    // Whatever else wants this processor goes before it.
    order("chrt", "--idle", "-p", "0", String(thread));
    order("taskset", "-cp", "0", String(thread));
    const hog = spawn("taskset", ["-c", "0", process.execPath, "-e", "for (;;);"]);
    const calm = () => hog.kill("SIGKILL");
    ends.push(calm);
    const killed: string[] = [];
    const host = { id: 0, link, awaitsReply: true, kill: (why: string) => void killed.push(why) };
    const watchdog = new Watchdog(clock, [host], 100, () => 0);
    watchdog.start();
    ends.push(() => watchdog.stop());
    let beats = link.heartbeat.beats();
    let silent = 0;
    let longest = 0;
    // Until it has been silent for three times as long as a host may be.
    for (let look = 0; look < 2_000 && longest < 15; look += 1) {
      await new Promise((done) => setTimeout(done, 20));
      silent = link.heartbeat.beats() === beats ? silent + 1 : 0;
      longest = Math.max(longest, silent);
      beats = link.heartbeat.beats();
    }
    expect(longest).toBe(15);
    expect(killed).toEqual([]);
    calm();
    await expect.poll(() => link.heartbeat.beats() > beats, patience).toBe(true);
    expect(killed).toEqual([]);
  });

  test("that waits for what never comes is ended, although it uses no processor", async () => {
    const world = createWorld({
      workers: 1,
      hostEntry: builtUrl("test/poisoned-host"),
      supervision: { loopMs },
    });
    ends.push(() => world.supervisor.stop());
    await world.supervisor.start();
    world.send(groupKey("a"), message("a", "1", "!wait now"));
    world.send(groupKey("a"), message("a", "2", "earshot, still there?"));
    await world.settled();
    expect(world.quarantined.map(({ seq }) => seq)).toEqual([1]);
    expect(world.supervisor.status()[0]).toMatchObject({ state: "ready", restarts: 3 });
  });
});
