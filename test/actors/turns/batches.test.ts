/**
 * From messages to batches, through the whole runtime: the windows of the config and of a channel,
 * messages around media and albums, what an edit changes, and what a restart does not.
 */
import { describe, expect, test } from "vitest";
import type { InboundInput } from "../../../src/domain/message.ts";
import { World } from "../../support/runtime/world.ts";

const queue = { mode: "queue" };
const started = (inbound: Record<string, unknown> = {}, session = {}) =>
  new World({ config: { messages: { inbound, queue }, session }, prompts: true }).start();

/** When each turn began, ms since `since`, and with which messages. */
const turns = (world: World, since: number) =>
  world
    .events("agent_start")
    .flatMap((line) =>
      "batch" in line ? [`${line.t - since} ${(line.batch as string[]).join("+")}`] : [],
    );
type Said = readonly [at: number, id: string, more?: Partial<InboundInput>];

async function reported(world: World, lines: readonly Said[]): Promise<number> {
  const since = world.clock.now();
  for (const [at, id, more = {}] of lines) {
    await world.pass(since + at - world.clock.now());
    await world.say(id, { id, direct: true, ...more });
  }
  await world.pass(30_000);
  return since;
}
const by = (who: string) => ({ author: { id: who, name: who } });
const picture = (id: string) => ({ attachments: [{ id, kind: "image" as const }] });
const album = (id: string) => ({ ...picture(id), groupId: "album" });

describe("a sender's window", () => {
  test("closes 500 ms after the last line, 2,000 ms after the first", async () => {
    const world = await started();
    const quick = [0, 499, 998, 1_497, 1_996].map((at, n): Said => [at, `m${n}`]);
    const since = await reported(world, [...quick, [2_400, "late"]]);
    expect(turns(world, since)).toEqual(["2000 m0+m1+m2+m3+m4", "2900 late"]);
  });

  test("is each sender's own, and they are answered in the order in which they began", async () => {
    const world = await started();
    const since = await reported(world, [
      [0, "a1", by("ann")],
      [100, "b1", by("bob")],
      [400, "a2", by("ann")],
      [450, "b2", by("bob")],
    ]);
    expect(turns(world, since)).toEqual(["900 a1+a2", "950 b1+b2"]);
  });

  test("may be another one for a channel, or none", async () => {
    for (const [ms, expected] of [
      [2_000, ["2000 m0+m1"]],
      [0, ["0 m0", "600 m1"]],
    ] as const) {
      const own = { dmScope: "per-channel-peer" };
      const world = await started({ byChannel: { telegram: ms } }, own);
      const since = await reported(world, [
        [0, "m0"],
        [600, "m1"],
      ]);
      expect(turns(world, since)).toEqual(expected);
    }
  });

  test("goes on after a restart in the middle of it, and after one that outlasted it", async () => {
    for (const [away, expected] of [
      [0, "500 m0"],
      [5_000, "5100 m0"],
    ] as const) {
      const world = await started();
      const since = world.clock.now();
      await world.say("m0", { id: "m0", direct: true });
      await world.pass(100);
      await world.runtime.stop();
      world.clock.advanceTo(world.clock.now() + away);
      await world.start();
      await world.pass(10_000);
      expect(turns(world, since)).toEqual([expected]);
    }
  });
});

describe("order", () => {
  test("is kept around media: what was said before goes before, the picture by itself", async () => {
    const world = await started();
    const since = await reported(world, [
      [0, "before"],
      [100, "picture", picture("p")],
      [200, "after"],
    ]);
    expect(turns(world, since)).toEqual(["100 before", "100 picture", "700 after"]);
  });

  test("is kept around an album, which is one batch", async () => {
    const world = await started();
    const since = await reported(world, [
      [0, "before"],
      [100, "one", album("p1")],
      [150, "two", album("p2")],
      [200, "three", album("p3")],
      [300, "after"],
    ]);
    expect(turns(world, since)).toEqual(["100 before", "700 one+two+three", "800 after"]);
  });

  test("is kept around the word that begins a new session", async () => {
    const commands = { ownerAllowFrom: ["telegram:ann"] };
    const world = await new World({ config: { commands, messages: { queue } } }).start();
    await reported(world, [
      [0, "old"],
      [100, "word", { text: "/new and now" }],
    ]);
    const batches = world.events("agent_start").map((line) => ("batch" in line ? line.batch : []));
    expect(batches).toEqual([["old"], ["word"]]);
  });
});

test("an edit rewrites what waits and neither moves nor decides anything", async () => {
  const world = await started();
  const since = world.clock.now();
  const say = (id: string) => world.say(`first words of ${id}`, { id, direct: true });
  await say("m0");
  await world.pass(200);
  await say("m1");
  await world.pass(100);
  const place = { channel: "telegram", account: "default", thread: null } as const;
  const chat = { id: "ann", kind: "direct" } as const;
  const author = { id: "ann", name: "Ann", isBot: false, isSelf: false };
  const edit = { ...place, chat, id: "m0", text: "better words", editedAt: 1, author };
  await world.runtime.ingest("telegram", "default", [{ type: "edit", edit }]);
  await world.pass(10_000);
  expect(turns(world, since)).toEqual(["700 m0+m1"]);
  const [prompt] = world.events("prompt").map((line) => ("text" in line ? String(line.text) : ""));
  expect(prompt).toContain("better words");
  expect(prompt).toContain("first words of m1");
  expect(prompt).not.toContain("first words of m0");
  expect(world.decisions()).toHaveLength(2);
});
