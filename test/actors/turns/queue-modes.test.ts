/**
 * Messages that arrive while a turn runs: the six modes and the three policies of a full queue,
 * through the whole runtime on a simulated clock, as configured for all, for a channel, and for one
 * session; and that a busy room delays no other.
 */

import { describe, expect, test } from "vitest";
import { createMetrics } from "../../../src/daemon/observability/metrics.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import { steered } from "../../support/agents/steered-agent.ts";
import { rounds } from "../../support/rounds.ts";
import { World } from "../../support/runtime/world.ts";

const modes = ["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"] as const;
type Mode = (typeof modes)[number];

const agents = { defaults: { driver: { kind: "scripted" } } };
const started = async (config: Record<string, unknown>) =>
  new World({
    config: { agents, ...config },
    drivers: [steered as AgentDriver],
    prompts: true,
  }).start();

/** When each turn began, ms since the first message, and with which messages. */
const turns = (world: World, since: number) =>
  world
    .events("agent_start")
    .map((line) =>
      "batch" in line ? `${line.t - since} ${(line.batch as string[]).join("+")}` : "",
    );
const ends = (world: World) =>
  world.events("agent_end").map((line) => ("outcome" in line ? line.outcome : ""));
const drops = (world: World) =>
  world.lines.flatMap((line) =>
    "event" in line && line.event === "dropped" ? [`${line.message} ${line.why}`] : [],
  );

/** One turn of 3 s from 500 on; two people say more at 1,000, 1,100 and 2,000. */
async function busy(world: World, more: object = {}): Promise<number> {
  const since = world.clock.now();
  world.runs.push({ afterMs: 3_000, steps: [{ text: "one" }] });
  const say = (id: string, who: string) =>
    world.say(id, {
      id,
      author: { id: who, name: who },
      chat: { id: "ann", kind: "direct" },
      ...more,
    });
  await say("one", "ann");
  await world.pass(1_000);
  await say("two", "ann");
  await world.pass(100);
  await say("three", "bob");
  await world.pass(900);
  await say("four", "ann");
  await world.pass(60_000);
  return since;
}

const expected: Readonly<Record<Mode, readonly string[]>> = {
  // After the turn and a quiet half second, all of it in one turn.
  collect: ["500 one", "4000 two+three+four"],
  // One by one, each after a quiet half second.
  followup: ["500 one", "4000 two", "4500 three", "5000 four"],
  // One by one, immediately.
  queue: ["500 one", "3500 two", "3500 three", "3500 four"],
  // An agent that accepts no steering: as followup.
  steer: ["500 one", "4000 two", "4500 three", "5000 four"],
  "steer-backlog": ["500 one", "4000 two", "4500 three", "5000 four"],
  // The first interrupts the turn; the others come to one that has ended before them.
  interrupt: ["500 one", "1500 two", "1600 three", "2500 four"],
};

describe.each(modes)("mode %s", (mode) => {
  test("gives each batch its turn at its time", async () => {
    const world = await started({ messages: { queue: { mode } } });
    expect(turns(world, await busy(world))).toEqual(expected[mode]);
    expect(ends(world)).toEqual([
      mode === "interrupt" ? "cancelled" : "replied",
      ...expected[mode].slice(1).map(() => "replied"),
    ]);
  });

  test("may be set for one channel", async () => {
    const channel = { queue: { mode: "collect", byChannel: { telegram: mode } } };
    const world = await started({ messages: channel, session: { dmScope: "per-channel-peer" } });
    expect(turns(world, await busy(world))).toEqual(expected[mode]);
  });

  test("may be set for one session, and outlives a restart there", async () => {
    const world = await started({ messages: { queue: { mode: "collect" } } });
    await world.runtime.updateSession("agent:main:main", { override: { queue: { mode } } });
    await world.pass(10);
    await world.restart();
    expect(turns(world, await busy(world))).toEqual(expected[mode]);
    const cleared = { override: { queue: null } } as const;
    await world.runtime.updateSession("agent:main:main", cleared);
    world.lines.splice(0);
    const again = await world.pass(10).then(() => world.clock.now());
    world.runs.push({ afterMs: 3_000, steps: [{ text: "five" }] });
    for (const id of ["five", "six"]) {
      await world.say(id, { id, direct: true });
      await world.pass(1_000);
    }
    await world.pass(60_000);
    expect(turns(world, again)).toEqual(["500 five", "4000 six"]);
  });
});

describe("an agent that listens", () => {
  const listening = (mode: Mode, more: Record<string, unknown> = {}) =>
    started({
      ...more,
      agents: { defaults: { driver: { kind: "steered", steps: 4 } } },
      messages: { queue: { mode } },
    });

  test("steer: what it took in is answered by its turn and by no other", async () => {
    const world = await listening("steer");
    expect(turns(world, await busy(world))).toEqual(["500 one", "5000 three"]);
    expect(world.sent.map(({ text }) => text)).toEqual(["one + ann: two + ann: four", "three"]);
    expect(world.reactions.filter((one) => one.startsWith("-"))).toHaveLength(4);
    const [why] = await world.runtime.why("four");
    expect(why?.fate).toMatchObject({ turn: 1, outcome: "replied" });
    const [other] = await world.runtime.why("three");
    expect(other?.fate).toMatchObject({ turn: 2, outcome: "replied" });
  });

  test("collect: /steer gives its text to the turn that runs, whatever else waits", async () => {
    const world = await listening("collect", { commands: { allowFrom: { telegram: ["ann"] } } });
    await world.say("one", { id: "one", direct: true });
    await world.pass(1_000);
    await world.say("two", { id: "two", direct: true });
    await world.pass(600);
    await world.say("/steer three\nfour", { id: "three", direct: true });
    await world.pass(60_000);
    expect(world.sent.map(({ text }) => text)).toEqual(["one + Ann: three\n  four", "two"]);
    const [why] = await world.runtime.why("three");
    expect(why?.fate).toMatchObject({ turn: 1, outcome: "replied" });
    await world.say("/steer five", { id: "five", direct: true });
    await world.pass(60_000);
    expect(world.sent.at(-1)?.text).toBe("five");
  });

  test("without authority /steer is text like any other", async () => {
    const world = await listening("collect");
    await world.say("one", { id: "one", direct: true });
    await world.pass(1_000);
    await world.say("/steer two", { id: "two", direct: true });
    await world.pass(60_000);
    expect(world.sent.map(({ text }) => text)).toEqual(["one", "/steer two"]);
  });

  test("steer-backlog: the same, where the turn answered", async () => {
    const world = await listening("steer-backlog");
    expect(turns(world, await busy(world))).toEqual(["500 one", "5000 three"]);
    expect((await world.runtime.why("four"))[0]?.fate).toMatchObject({ outcome: "replied" });
  });

  test("steer-backlog: where the turn ended without an answer it is a turn of its own", async () => {
    const world = await listening("steer-backlog");
    await world.say("one", { id: "one", direct: true });
    await world.pass(1_000);
    await world.say("two", { id: "two", direct: true });
    await world.pass(1_200);
    await world.runtime.abortTurn("agent:main:main", "operator");
    await world.pass(60_000);
    expect(ends(world)).toEqual(["cancelled", "replied"]);
    expect(world.sent.map(({ text }) => text)).toEqual(["two"]);
  });

  test.each(["steer", "steer-backlog"] as const)(
    "%s: what it took in and was deleted then stays its turn's, and gets no turn of its own",
    async (mode) => {
      const world = await listening(mode);
      await world.say("one", { id: "one", direct: true });
      await world.pass(1_000);
      await world.say("two", { id: "two", direct: true });
      await world.pass(1_200);
      const deletion = { channel: "telegram", account: "default", id: "two" };
      const chat = { id: "ann", kind: "direct" } as const;
      await world.runtime.ingest("telegram", "default", [
        { type: "delete", deletion: { ...deletion, chat, thread: null } },
      ]);
      await world.pass(10);
      await world.runtime.abortTurn("agent:main:main", "operator");
      await world.pass(60_000);
      expect(ends(world)).toEqual(["cancelled"]);
      expect(drops(world)).toEqual([]);
      const [why] = await world.runtime.why("two");
      expect(why?.fate).toMatchObject({ turn: 1, outcome: "cancelled" });
      expect(world.reactions.filter((one) => one.startsWith("-"))).toHaveLength(2);
    },
  );
});

describe("a full line", () => {
  const full = (drop: string) => started({ messages: { queue: { mode: "queue", cap: 2, drop } } });
  const fill = async (world: World) => {
    world.runs.push({ afterMs: 10_000, steps: [{ text: "one" }] });
    for (const id of ["m1", "m2", "m3", "m4", "m5"]) {
      await world.say(`words of ${id}`, { id, direct: true });
      await world.pass(600);
    }
    await world.pass(60_000);
  };
  const prompts = (world: World) =>
    world.events("prompt").map((line) => ("text" in line ? String(line.text) : ""));

  test.each([
    ["summarize", ["m2 queue-cap-summarized", "m3 queue-cap-summarized"], ["m1", "m4", "m5"]],
    ["old", ["m2 queue-cap-old", "m3 queue-cap-old"], ["m1", "m4", "m5"]],
    ["new", ["m4 queue-cap-new", "m5 queue-cap-new"], ["m1", "m2", "m3"]],
  ])("%s: what goes is told, counted and explained", async (drop, gone, kept) => {
    const world = await full(drop);
    const metrics = createMetrics({
      clock: world.clock,
      status: () => world.runtime.status(),
      version: "0.0.0-test",
    });
    await fill(world);
    expect(drops(world)).toEqual(gone);
    expect(turns(world, 0).map((turn) => turn.split(" ")[1])).toEqual(kept);
    for (const one of gone) {
      const [id = "", why = ""] = one.split(" ");
      expect((await world.runtime.why(id))[0]?.fate).toMatchObject({ dropped: why, outcome: null });
    }
    for (const line of world.lines) metrics.listener.line(line);
    const why = gone[0]?.split(" ")[1];
    expect(await metrics.registry.metrics()).toContain(`earshot_dropped_total{why="${why}"} 2`);
    // The agent gets only a summary, once, and as text of the room.
    const noted = prompts(world).filter((text) => text.includes("words of m2"));
    expect(noted).toHaveLength(drop === "old" ? 0 : 1);
    if (drop === "summarize") expect(noted[0]).toContain("Ann: words of m3");
  });

  test("a line with room drops nothing (the twin)", async () => {
    const world = await started({ messages: { queue: { mode: "queue", cap: 4 } } });
    await fill(world);
    expect(drops(world)).toEqual([]);
    expect(turns(world, 0)).toHaveLength(5);
  });

  test("a summary is one line of 160 units at most", async () => {
    const world = await started({ messages: { queue: { mode: "queue", cap: 1 } } });
    world.runs.push({ afterMs: 10_000, steps: [{ text: "one" }] });
    for (const id of ["m1", "m2", "m3"]) {
      await world.say(`${id} ${"very long\n".repeat(100)}`, { id, direct: true });
      await world.pass(600);
    }
    await world.pass(60_000);
    const note = prompts(world)[1]
      ?.split("\n")
      .find((line) => line.includes("Ann: m2"));
    expect(note?.length).toBeGreaterThan(100);
    expect(note?.trim().length).toBeLessThanOrEqual(170);
  });
});

test("what comes too soon after an interruption interrupts when its second is over", async () => {
  const config = { messages: { queue: { mode: "interrupt" }, inbound: { debounceMs: 100 } } };
  const world = await started(config);
  const since = world.clock.now();
  for (let n = 0; n < 3; n += 1) world.runs.push({ afterMs: 60_000, steps: [{ text: "late" }] });
  for (const [id, wait] of [
    ["one", 1_000],
    ["two", 400],
    ["three", 60],
    ["four", 0],
  ] as const) {
    await world.say(id, { id, direct: true });
    await world.pass(wait);
  }
  await world.pass(10_000);
  expect(turns(world, since)).toEqual(["100 one", "1100 two", "2100 three+four"]);
  expect(ends(world)).toEqual(["cancelled", "cancelled"]);
});

test("A31 a room that interrupts all the time costs one agent call a second, not one a message", async () => {
  const world = await started({
    messages: { queue: { mode: "interrupt" }, inbound: { debounceMs: 0 } },
  });
  for (let n = 0; n < 500; n += 1) world.runs.push({ afterMs: 60_000, steps: [{ text: "late" }] });
  for (let n = 0; n < 300; n += 1) {
    await world.say(`m${n}`, { id: `m${n}`, direct: true });
    await world.pass(10);
  }
  // 3 s of 100 interruptions a second.
  expect(turns(world, 0).length).toBeGreaterThan(2);
  expect(turns(world, 0).length).toBeLessThanOrEqual(5);
  world.runs.splice(0);
  await world.pass(120_000);
  // Everything has an outcome, and the newest message is answered.
  expect(drops(world).length + turns(world, 0).flatMap((one) => one.split("+")).length).toBe(300);
  expect((await world.runtime.why("m299"))[0]?.fate.outcome).not.toBeNull();
  expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
});

const pending = rounds(3_000, 10_000);

test(`A29 a room with ${pending} messages in line delays another room by one turn at most`, async () => {
  const world = await started({
    agents: { defaults: { driver: { kind: "scripted" }, maxConcurrent: 1 } },
    messages: { queue: { mode: "queue", cap: 1_000 } },
  });
  for (let n = 0; n < 200; n += 1) world.runs.push({ afterMs: 1_000, steps: [{ text: "ok" }] });
  const event = (room: string, id: string) => ({
    type: "message" as const,
    message: inboundSchema.parse({
      channel: "telegram",
      id,
      text: "hello",
      author: { id: room, name: "Ann" },
      chat: { id: room, kind: "group" },
      mentions: [{ id: "bot", isSelf: true }],
    }),
  });
  for (let from = 0; from < pending; from += 500) {
    const events = Array.from({ length: 500 }, (_, n) => event("busy", `busy-${from + n}`));
    await world.runtime.ingest("telegram", "default", events);
  }
  await world.pass(3_000);
  const rooms = ["calm0", "calm1", "calm2"];
  const before = world.events("agent_start").length;
  for (const room of rooms)
    await world.runtime.ingest("telegram", "default", [event(room, `${room}-1`)]);
  await world.pass(20_000);
  const order = world
    .events("agent_start")
    .slice(before)
    .map((line) => ("key" in line ? String(line.key).split(":").at(-1) : ""));
  for (const room of rooms) {
    const busyBefore = order.slice(0, order.indexOf(room)).filter((one) => one === "busy");
    expect(order).toContain(room);
    expect(busyBefore.length, order.join(" ")).toBeLessThanOrEqual(1);
  }
  // The busy room continues by itself.
  expect(order.filter((one) => one === "busy").length).toBeGreaterThan(10);
});
