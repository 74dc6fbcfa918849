/**
 * The reaction on a message shows that it is being worked on: it is added immediately, and removed
 * however the work ends, whatever the platform and the process were doing at that moment.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createWaitingReactions } from "../../../src/actors/outbox/pending-reactions.ts";
import type { Delivery } from "../../../src/actors/outbox/row-body.ts";
import type { QueuedDelivery } from "../../../src/actors/outbox/send-queues.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import type { ScriptStep } from "../../../src/domain/scenario/script.ts";
import { roommate } from "../../support/agents/roommate-agent.ts";
import { property } from "../../support/property.ts";
import type { Fate } from "../../support/runtime/world.ts";
import { World } from "../../support/runtime/world.ts";

const hour = 3_600_000;
const key = "agent:main:main";

/** The reactions that a platform shows, from what it was asked to do. */
function shown(world: World): string[] {
  const left = new Set<string>();
  for (const one of world.reactions) {
    const [what, message] = [one.slice(0, 1), one.slice(1)];
    if (what === "+") left.add(message);
    else left.delete(message);
  }
  return [...left];
}
const back = async (world: World) => {
  world.ready = true;
  world.runtime.connectionChanged("telegram", "default");
  await world.pass(120_000);
};
const slow: ScriptStep[] = [{ waitMs: 3_000 }, { text: "late" }];
const silent: ScriptStep[] = [{ waitMs: 3_000 }, { text: "NO_REPLY" }];
const started = async (config: Record<string, unknown> = {}, steps = slow) => {
  const owner = { commands: { ownerAllowFrom: ["telegram:ann"] } };
  const world = await new World({ config: { ...owner, ...config } }).start();
  for (let n = 0; n < 3; n += 1) world.runs.push({ afterMs: 0, steps });
  return world;
};
const remove = (world: World, id: string) => {
  const place = { channel: "telegram", account: "default", thread: null } as const;
  const deletion = { ...place, chat: { id: "ann", kind: "direct" } as const, id };
  return world.runtime.ingest("telegram", "default", [{ type: "delete", deletion }]);
};

interface Ending {
  readonly config?: Record<string, unknown>;
  readonly steps?: ScriptStep[];
  readonly fates?: Fate[];
  /** 1.5 s after the message, in its turn. */
  readonly meanwhile?: (world: World) => Promise<unknown>;
}
const endings: Readonly<Record<string, Ending>> = {
  "an answer": {},
  silence: { steps: [{ text: "NO_REPLY" }] },
  "an error": { steps: [{ error: "boom" }] },
  "a time-out": { steps: [{ hang: true }] },
  "an abort": { meanwhile: (world) => world.runtime.abortTurn(key, "operator") },
  "a stop word": { meanwhile: (world) => world.say("/stop", { direct: true }) },
  "a new session": { meanwhile: (world) => world.say("/new", { direct: true }) },
  "a lost host": { meanwhile: (world) => world.runtime.crashHost() },
  "a restart": { meanwhile: (world) => world.restart() },
  "a dead answer": { fates: ["refuse"] },
  "an answer in doubt": { fates: ["odd", "odd"] },
  "an interruption": {
    config: { messages: { queue: { mode: "interrupt" } } },
    meanwhile: (world) => world.say("rather this", { id: "m3", direct: true }),
  },
  "a full line": {
    config: { messages: { queue: { mode: "queue", cap: 1, drop: "old" } } },
    meanwhile: async (world) => {
      for (const id of ["m4", "m5", "m6"]) {
        await world.say("and this", { id, direct: true });
        await world.pass(600);
      }
    },
  },
  "a refused line": {
    config: { messages: { queue: { mode: "queue", cap: 1, drop: "new" } } },
    meanwhile: async (world) => {
      for (const id of ["m4", "m5", "m6"]) {
        await world.say("and this", { id, direct: true });
        await world.pass(600);
      }
    },
  },
  "the deletion of what waits": { meanwhile: (world) => remove(world, "m2") },
};

test.each(Object.entries(endings))(
  "no eye is left after %s",
  async (_, { config = {}, steps = slow, fates = [], meanwhile }) => {
    const world = await started(config, steps);
    world.fates.push(...fates);
    await world.say("first", { id: "m1", direct: true });
    await world.pass(1_000);
    expect(world.reactions).toContain("+👀 m1");
    await world.say("second", { id: "m2", direct: true });
    await world.pass(500);
    await meanwhile?.(world);
    await world.pass(1_200_000);
    expect(shown(world)).toEqual([]);
    expect(world.reactions.filter((one) => one === "+👀 m1")).toHaveLength(1);
    expect(world.reactions.filter((one) => one === "-👀 m1")).toHaveLength(1);
  },
);

test("the message of a batch that was deleted before its turn gives its eye back, the other keeps it", async () => {
  const world = await started();
  await world.say("first", { id: "m1", direct: true });
  await world.say("second", { id: "m2", direct: true });
  await remove(world, "m1");
  await world.pass(1_000);
  expect(shown(world)).toEqual(["👀 m2"]);
  await world.pass(60_000);
  expect(shown(world)).toEqual([]);
});

test("a message too old for a turn gives its eye back", async () => {
  const agents = { defaults: { driver: { kind: "scripted" }, maxConcurrent: 1 } };
  const turn = { idleMs: 2_000_000, maxMs: 3_000_000 };
  const world = await started({ agents, turn }, [{ waitMs: 1_000_000 }, { text: "late" }]);
  const say = (id: string) =>
    world.say("hello", {
      id,
      chat: { id: `chat-${id}`, kind: "group" },
      mentions: [{ id: "bot", isSelf: true }],
    });
  await say("m1");
  await world.pass(1_000);
  await say("m2");
  await world.pass(2 * hour);
  expect(world.events("agent_end")).toMatchObject([{ outcome: "expired" }, { outcome: "replied" }]);
  expect(shown(world)).toEqual([]);
});

describe("of two agents that answer through one account", () => {
  const inParallel = async () => {
    const agents = ["quick", "late"].map((id) => {
      const afterMs = id === "quick" ? 0 : 30_000;
      return { id, driver: { kind: "roommate", afterMs } };
    });
    const config = {
      agents: { list: agents },
      broadcast: { strategy: "parallel", "telegram:room": ["quick", "late"] },
      engagement: { activation: "always" },
    };
    return new World({ drivers: [roommate as AgentDriver], config }).start();
  };

  test("the eye stays until the last of them has answered", async () => {
    const world = await inParallel();
    await world.say("hello", { id: "m1" });
    await world.pass(10_000);
    expect(world.sent).toHaveLength(1);
    expect(shown(world)).toEqual(["👀 m1"]);
    await world.pass(60_000);
    expect(world.sent).toHaveLength(2);
    expect(shown(world)).toEqual([]);
  });

  test("no eye is left where the platform takes the reactions late", async () => {
    const world = await inParallel();
    world.reactionFates.push("429", "429");
    await world.say("hello", { id: "m1" });
    await world.pass(1_000);
    expect(world.sent).toHaveLength(1);
    expect(world.reactions).toEqual([]);
    await world.pass(10_000);
    expect(shown(world)).toEqual(["👀 m1"]);
    await world.pass(60_000);
    expect(shown(world)).toEqual([]);
    expect(world.reactions).toEqual(["+👀 m1", "-👀 m1"]);
  });
});

type Doing = "put" | "try" | "done" | "refused" | "remove";
const doings = fc.array(
  fc.tuple(fc.constantFrom(1, 2, 3), fc.constantFrom<Doing>("put", "try", "done", "refused")),
  { maxLength: 20 },
);

property([doings, fc.shuffledSubarray([1, 2, 3], { minLength: 3 })])(
  "whoever puts a reaction through one account, at the end it is gone",
  (all, leaving) => {
    const waiting = createWaitingReactions();
    const body = { route: { chat: {} }, message: "m1", emoji: "👀" };
    const puts = new Map<number, QueuedDelivery>();
    const gone = new Set<number>();
    let isShown = false;
    const moved = (item: QueuedDelivery, more: object) => {
      item.delivery = { ...item.delivery, row: { ...item.delivery.row, ...more } } as Delivery;
    };
    const finish = (conv: number, item: QueuedDelivery, state: string) => {
      moved(item, { state });
      puts.delete(conv);
      waiting.ended(item);
    };
    const act = (conv: number, doing: Doing) => {
      const item = puts.get(conv);
      if (doing === "put") {
        if (gone.has(conv) || item !== undefined) return;
        gone.add(conv);
        const row = { conv, kind: "react", state: "pending", attempts: 0 };
        const put = { delivery: { row, body }, expiry: null, queue: null } as never;
        puts.set(conv, put);
        waiting.added(put, false);
      } else if (doing === "remove") {
        const row = { conv, kind: "unreact", state: "pending", attempts: 0 };
        const undone = waiting.undoneBy({ row, body } as never);
        const given = undone?.item ?? null;
        if (given !== null) finish(conv, given, "dead");
        else if (item !== undefined) act(conv, "done");
        if (undone === null || undone.why === null) isShown = false;
      } else if (item !== undefined) {
        moved(item, { state: "sending", attempts: 1 });
        // Also an attempt without an answer may have put it.
        if (doing !== "refused") isShown = true;
        if (doing === "try") moved(item, { state: "waiting" });
        else finish(conv, item, doing === "done" ? "sent" : "dead");
      }
    };
    for (const [conv, doing] of all) act(conv, doing);
    for (const conv of leaving) if (gone.has(conv)) act(conv, "remove");
    expect(isShown).toBe(false);
  },
);

describe("while the platform is away", () => {
  test("an eye that could not be taken off is taken off hours later", async () => {
    const world = await started();
    await world.say("hello", { id: "m1", direct: true });
    await world.pass(1_000);
    world.ready = false;
    await world.pass(2 * hour);
    expect(shown(world)).toEqual(["👀 m1"]);
    await back(world);
    expect(world.reactions).toEqual(["+👀 m1", "-👀 m1"]);
  });

  test("also when the process is restarted meanwhile", async () => {
    const world = await started();
    await world.say("hello", { id: "m1", direct: true });
    await world.pass(1_000);
    world.ready = false;
    await world.pass(hour);
    await world.restart();
    await world.pass(hour);
    await back(world);
    expect(shown(world)).toEqual([]);
  });

  test("an eye that nobody saw is neither put nor taken off", async () => {
    const world = await started({}, silent);
    world.ready = false;
    await world.say("hello", { id: "m1", direct: true });
    await world.pass(30_000);
    await back(world);
    expect(world.reactions).toEqual([]);
    const rows = await world.store.outboxByState(["dead"], 10);
    expect(rows.map(({ kind, error }) => `${kind}: ${error}`).sort()).toEqual([
      "react: taken off before it was put",
      "unreact: taken off before it was put",
    ]);
  });

  test("an eye that waits still is put when it is back in time (the twin)", async () => {
    const world = await started({}, [{ waitMs: 60_000 }, { text: "late" }]);
    world.ready = false;
    await world.say("hello", { id: "m1", direct: true });
    await world.pass(10_000);
    world.ready = true;
    world.runtime.connectionChanged("telegram", "default");
    await world.pass(100);
    expect(shown(world)).toEqual(["👀 m1"]);
    await world.pass(120_000);
    expect(shown(world)).toEqual([]);
  });

  test.each<Fate>(["fail", "odd", "429"])(
    "one whose putting ended by %s is taken off for sure",
    async (fate) => {
      const world = await started();
      world.reactionFates.push(fate, fate, fate);
      await world.say("hello", { id: "m1", direct: true });
      await world.pass(120_000);
      expect(world.reactions.at(-1)).toBe("-👀 m1");
      expect(shown(world)).toEqual([]);
    },
  );

  test("one found at a start may have been put: it is not put, and taken off for sure", async () => {
    const world = await started({}, silent);
    world.ready = false;
    await world.say("hello", { id: "m1", direct: true });
    await world.pass(1_000);
    await world.restart();
    await world.pass(20_000);
    await back(world);
    expect(world.reactions).toEqual(["-👀 m1"]);
  });

  test("a platform that fails for an hour is asked again until it takes the eye off", async () => {
    const world = await started();
    await world.say("hello", { id: "m1", direct: true });
    await world.pass(1_000);
    world.reactionFates.push(...Array<Fate>(60).fill("fail"));
    await world.pass(2 * hour);
    expect(world.reactionFates).toEqual([]);
    expect(shown(world)).toEqual([]);
  });

  test("a message that is gone is not asked about again", async () => {
    const world = await started();
    await world.say("hello", { id: "m1", direct: true });
    await world.pass(1_000);
    world.reactionFates.push("refuse", "refuse");
    await world.pass(2 * hour);
    expect(world.reactionFates).toEqual(["refuse"]);
  });

  test("after a day nobody asks for it any more", async () => {
    const world = await started();
    await world.say("hello", { id: "m1", direct: true });
    await world.pass(1_000);
    world.ready = false;
    await world.pass(25 * hour);
    await back(world);
    expect(world.reactions).toEqual(["+👀 m1"]);
    expect(await world.store.outboxOpen()).toEqual([]);
  });
});

test("what the agent itself puts takes the eye's place, and stays", async () => {
  const world = await started({}, [
    { tool: "channel_react", input: { emoji: "👍" } },
    { waitMs: 3_000 },
    { text: "done" },
  ]);
  await world.say("hello", { id: "m1", direct: true });
  await world.pass(60_000);
  expect(world.reactions).toEqual(["+👀 m1", "-👀 m1", "+👍 m1"]);
});
