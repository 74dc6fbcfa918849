/**
 * The supervisor with real hosts, on this thread and in worker threads: dispatched events are
 * applied once, in order, with any number of hosts, evictions and failures of the store.
 */
import { afterEach, describe, expect, test } from "vitest";
import type { TurnRequest } from "../../../src/actors/protocol/host-protocol.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { decodeVerdict } from "../../../src/domain/decision.ts";
import { hash52 } from "../../../src/domain/key.ts";
import { plainTurnSettings } from "../../../src/domain/session.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { builtUrl } from "../../support/built/files.ts";
import { inTurn } from "../../support/rounds.ts";
import {
  configOf,
  createWorld,
  groupKey,
  message,
  type World,
} from "../../support/runtime/supervised.ts";

let world: World | null = null;
afterEach(async () => {
  await world?.supervisor.stop();
  world = null;
});

const start = async (...args: Parameters<typeof createWorld>): Promise<World> => {
  await world?.supervisor.stop();
  world = createWorld(...args);
  await world.supervisor.start();
  return world;
};

const hostModule = builtUrl("test/host-module").href;

/** A stretch of talk in a few rooms: asides, calls, and a bit of everything between. */
function talk(count: number, rooms: number, from = 0): (readonly [string, ConversationEvent])[] {
  return Array.from({ length: count }, (_, index) => {
    const n = from + index;
    const room = `room${(n * 7) % rooms}`;
    const name = `author${(n * 5) % 3}`;
    const author = { id: name, name, isBot: false, isSelf: false };
    const mentions = n % 4 === 0 ? [] : [{ id: "zoe", isSelf: false }];
    const text = n % 12 === 0 ? "earshot, are you there?" : "are you coming?";
    return [groupKey(room), message(room, String(n + 1), text, { mentions, author })];
  });
}

/** The asides of it alone: no conversation owes anything. */
const asides = (count: number, rooms: number, from = 0) =>
  talk(count, rooms, from).filter((_, index) => (from + index) % 4 !== 0);

const order = (turnId: string, said: string, more: Partial<TurnRequest> = {}): TurnRequest => ({
  conv: hash52(groupKey("room")),
  key: groupKey("room"),
  cfg: 1,
  turnId,
  turn: 1,
  attempt: 1,
  agentId: "main",
  system: "",
  prompt: said,
  messagesText: said,
  transcript: [],
  room: {
    chatKind: "group",
    because: [],
    heardQuietly: 0,
    humans: 1,
    guardActive: false,
    creditWindowMs: 0,
  },
  textLimit: 4_096,
  chatKind: "group",
  edits: false,
  images: [],
  session: plainTurnSettings,
  thinking: "off",
  model: null,
  watched: false,
  ...more,
});

const onceEach = (world: World) =>
  expect(world.rows.filter(({ applied }) => applied !== 1)).toEqual([]);
const types = (world: World, turnId: string) =>
  world.reports.filter((report) => report.turnId === turnId).map(({ event }) => event.type);
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe("a supervisor", () => {
  test.each(inTurn([0, 2], 1))(
    "a batch goes round and every event is applied once (up to %i workers)",
    async (workers) => {
      const world = await start({ workers });
      world.sendAll(talk(300, 8));
      await world.settled();
      onceEach(world);
      const verdicts = world.codes().map((code) => decodeVerdict(code ?? 0)?.decision);
      expect(verdicts.filter((decision) => decision === "engage").length).toBeGreaterThan(5);
      expect(verdicts.filter((decision) => decision === "observe").length).toBeGreaterThan(10);
      expect(verdicts).not.toContain(undefined);
    },
  );

  test.each(inTurn([0, 2], 0))(
    "hosts that keep two conversations decide what hosts that keep all decide (up to %i workers)",
    async (workers) => {
      const calm = await start({ workers: 0 });
      calm.sendAll([...asides(416, 9), ...talk(20, 9, 416)]);
      await calm.settled();
      const expected = calm.codes();
      const churn = await start({ workers, liveConversations: 2 });
      for (let from = 0; from < 400; from += 52) {
        churn.sendAll(asides(52, 9, from));
        await churn.settled();
      }
      churn.sendAll(talk(20, 9, 416));
      await churn.settled();
      onceEach(churn);
      expect(churn.codes()).toEqual(expected);
      // The first activation of each room is not churn; what comes above it is.
      expect(churn.counts.loads).toBeGreaterThan(9);
    },
  );

  test.each(inTurn([0, 2], 1))(
    "a store that fails to commit delays results and neither loses nor doubles one (up to %i workers)",
    async (workers) => {
      const world = await start({ workers });
      world.failCommits(2);
      world.sendAll(talk(200, 5));
      await until(() => world.codes().every((code) => code !== null));
      await world.settled();
      onceEach(world);
      const blocks = world.effects.map(({ seq, effect }) => `${seq} ${JSON.stringify(effect)}`);
      expect(new Set(blocks).size).toBe(blocks.length);
    },
  );

  test.each(inTurn([0, 2], 0))(
    "passivateAll writes a record of every idle conversation, and talk goes on from it (up to %i workers)",
    async (workers) => {
      const world = await start({ workers });
      world.sendAll(asides(40, 6));
      await world.supervisor.passivateAll();
      expect(world.checkpoints.size).toBe(6);
      expect(world.supervisor.status().reduce((sum, { live }) => sum + live, 0)).toBe(0);
      world.sendAll(asides(40, 6, 40));
      await world.settled();
      onceEach(world);
    },
  );

  test.each(inTurn([0, 2], 1))(
    "a turn reports to its end, and an aborted one ends within a second (up to %i workers)",
    async (workers) => {
      const config = configOf({ agents: { list: [{ id: "main", driver: { kind: "odd" } }] } });
      const { drivers } = await import("../../support/runtime/host-module.ts");
      const world = await start({ workers: Math.min(1, workers), hostModule, drivers }, config);
      world.supervisor.run(order("T1", "sleep"));
      world.supervisor.run(order("T2", "hang"));
      await until(() => types(world, "T2").includes("agent.tool"));
      expect(await world.supervisor.steer("T2", "left")).toBe(true);
      expect(await world.supervisor.steer("T2", "right")).toBe(false);
      expect(await world.supervisor.steer("T9", "left")).toBe(false);
      world.supervisor.abort("T2", "/stop");
      await world.settled();
      expect(types(world, "T1")).toEqual([
        "agent.started",
        "agent.spoke",
        "agent.text",
        "agent.ended",
      ]);
      expect(types(world, "T2").at(-1)).toBe("agent.failed");
    },
  );

  test.each(inTurn([0, 2], 1))(
    "a crash reports the turns it took and nothing of them afterwards (up to %i workers)",
    async (workers) => {
      const config = configOf({ agents: { list: [{ id: "main", driver: { kind: "odd" } }] } });
      const { drivers } = await import("../../support/runtime/host-module.ts");
      const world = await start({ workers: Math.min(1, workers), hostModule, drivers }, config);
      world.supervisor.run(order("T1", "hang"));
      await until(() => world.reports.length > 0);
      await world.supervisor.crash();
      expect(world.lost.map(({ turnId }) => turnId)).toEqual(["T1"]);
      world.supervisor.run(order("T1", "again", { attempt: 2 }));
      await world.settled();
      const second = world.reports.filter(({ attempt }) => attempt === 2);
      expect(second.at(-1)?.event.type).toBe("agent.ended");
      const first = world.reports.filter(({ attempt }) => attempt === 1);
      expect(first.map(({ event }) => event.type)).toEqual(["agent.started", "agent.tool"]);
    },
  );
});

describe("turns in a worker", () => {
  const config = configOf({ agents: { list: [{ id: "main", driver: { kind: "odd" } }] } });

  test("see no environment variable that could hold a secret, and may sleep", async () => {
    process.env.EARSHOT_TEST_TOKEN = "hush";
    const world = await start({ workers: 1, hostModule }, config);
    world.supervisor.run(order("T1", "env"));
    await world.settled();
    const text = world.reports.map(({ event }) => JSON.stringify(event)).join();
    expect(text).toContain("PATH");
    expect(text).not.toContain("EARSHOT_TEST_TOKEN");
    // A host's timers do not stand still while no batch comes.
    world.supervisor.run(order("T2", "sleep"));
    await world.settled();
    expect(types(world, "T2").at(-1)).toBe("agent.ended");
  });

  test.each(["exit", "loop"])("that %s cost their host, and are reported lost", async (said) => {
    const world = await start({ workers: 2, hostModule, supervision: { loopMs: 1_000 } }, config);
    world.supervisor.run(order("T1", said));
    await until(() => world.lost.length > 0);
    expect(world.lost.map(({ turnId }) => turnId)).toEqual(["T1"]);
    world.sendAll(talk(50, 5));
    await world.settled();
    onceEach(world);
    expect(world.quarantined).toEqual([]);
  });
});

describe("on a clock that stands still", () => {
  const script = {
    kind: "scripted",
    runs: [{ steps: [{ text: "one" }] }, { afterMs: 50, steps: [{ text: "two" }] }],
  };
  const config = configOf({ agents: { list: [{ id: "main", driver: script }] } });

  async function history() {
    const clock = new SimulatedClock(1_000);
    const seen: string[] = [];
    const world = await start({ workers: 0, clock }, config);
    for (let round = 0; round < 4; round += 1) {
      world.sendAll(talk(60, 6, round * 60));
      world.supervisor.run(order(`T${round}`, "go"));
      await world.supervisor.settled();
      if (round === 1) await world.supervisor.crash();
      if (round === 2) await world.supervisor.passivateAll();
      clock.advanceTo(clock.now() + 100);
      await world.supervisor.settled();
      seen.push(`${world.effects.length} ${world.reports.length}`);
    }
    onceEach(world);
    return { seen, codes: world.codes(), effects: world.effects, reports: world.reports };
  }

  test("has the same history each time, a crash and a passivation included", async () => {
    const first = await history();
    expect(first.reports.length).toBeGreaterThan(8);
    expect(await history()).toEqual(first);
  });

  test("is settled while an agent sleeps in simulated time", async () => {
    const clock = new SimulatedClock(1_000);
    const world = await start({ workers: 0, clock }, config);
    world.supervisor.run(order("T0", "go"));
    world.supervisor.run(order("T1", "go"));
    await world.supervisor.settled();
    expect(types(world, "T0").at(-1)).toBe("agent.ended");
    expect(types(world, "T1")).toEqual([]);
    clock.advanceTo(clock.now() + 50);
    await world.supervisor.settled();
    expect(types(world, "T1").at(0)).toBe("agent.started");
    expect(types(world, "T1").at(-1)).toBe("agent.ended");
  });
});

describe("what must not happen", () => {
  test("a record that cannot be read is not guessed: the journal is folded again, and it is told", async () => {
    const calm = await start({ workers: 0 });
    calm.sendAll([...asides(60, 3), ...talk(12, 3, 60)]);
    await calm.settled();
    const expected = calm.codes();
    const world = await start({ workers: 0 });
    world.sendAll(asides(60, 3));
    await world.supervisor.passivateAll();
    for (const one of world.checkpoints.values()) one.record = `[99,0,${one.record}]`;
    world.sendAll(talk(12, 3, 60));
    await world.settled();
    onceEach(world);
    expect(world.codes()).toEqual(expected);
    expect(world.status.map(({ system }) => system)).toEqual(
      Array.from({ length: 3 }, () => "conversation.rebuilt"),
    );
  });

  test("a hot conversation with three thousand events does not keep a quiet one waiting", async () => {
    const world = await start({ workers: 0 });
    const hot = groupKey("hot");
    const mentions = [{ id: "zoe", isSelf: false }];
    world.sendAll(
      Array.from({ length: 3_000 }, (_, n) => [
        hot,
        message("hot", String(n + 1), "are you coming?", { mentions }),
      ]),
    );
    const seq = world.send(groupKey("quiet"), message("quiet", "1", "earshot?"));
    await until(() => world.rows[seq - 1]?.code !== null);
    const waiting = world.codes().filter((code) => code === null).length;
    expect(waiting).toBeGreaterThan(1_500);
    await world.settled();
    onceEach(world);
  });

  test("a host without its agents' module fails the turn instead of losing it", async () => {
    const world = await start({ workers: 1, hostModule: "file:///nowhere/host-ports.ts" });
    world.supervisor.run(order("T1", "hello"));
    await world.settled();
    expect(types(world, "T1")).toEqual(["agent.failed"]);
  });

  test("a turn of an agent that the config does not have fails, and nothing waits for it", async () => {
    const world = await start({ workers: 0 });
    world.supervisor.run(order("T1", "hello", { agentId: "nobody" }));
    await world.settled();
    expect(types(world, "T1")).toEqual(["agent.failed"]);
  });
});
