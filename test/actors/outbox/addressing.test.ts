/**
 * How an answer refers to its question, at what pace its parts are sent, and what happens once.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recordScenario } from "../../../src/actors/recording/recorder.ts";
import { seededRandom } from "../../../src/actors/simulation/simulated-platforms.ts";
import type { ScriptedRun } from "../../../src/domain/scenario/script.ts";
import { property } from "../../support/property.ts";
import { play } from "../../support/replay/replay.ts";
import { rounds } from "../../support/rounds.ts";
import { World, type WorldOptions } from "../../support/runtime/world.ts";

const blocks = { mode: "block", break: "message_end", coalesceIdleMs: 0 };
const parts = (...texts: string[]): ScriptedRun => ({
  afterMs: 0,
  steps: texts.flatMap((text) => [{ text }, { messageEnd: true as const }]),
});
const mention = { mentions: [{ id: "we", isSelf: true }] } as never;
const started = (config: Record<string, unknown>, more: Partial<WorldOptions> = {}) =>
  new World({ config, ...more }).start();

describe("a block is a reply", () => {
  const modes: readonly (readonly [string, boolean, readonly boolean[]])[] = [
    ["auto", false, [true, false, false]],
    ["auto", true, [false, false, false]],
    ["first", false, [true, false, false]],
    ["first", true, [true, false, false]],
    ["all", false, [true, true, true]],
    ["all", true, [true, true, true]],
    ["batched", false, [false, false, false]],
    ["off", false, [false, false, false]],
  ];
  test.each(modes)("%s, in a direct chat: %s", async (replyTo, direct, replies) => {
    const world = await started({ stream: blocks, messages: { replyTo } });
    world.runs.push(parts("one", "two", "three"));
    await world.say("earshot?", { direct, id: "asked", ...(mention as object) });
    await world.pass(10_000);
    expect(world.sent.map((sent) => sent.replyTo)).toEqual(
      replies.map((reply) => (reply ? "asked" : null)),
    );
  });

  test("batched: to the newest of several messages, once", async () => {
    const world = await started({ stream: blocks, messages: { replyTo: "batched" } });
    world.runs.push(parts("one", "two"));
    await world.say("earshot?", { id: "a", ...(mention as object) });
    await world.say("are you there, earshot?", { id: "b", ...(mention as object) });
    await world.pass(10_000);
    expect(world.sent.map(({ replyTo }) => replyTo)).toEqual(["b", null]);
  });

  test("and shows what it answers where others spoke in between", async () => {
    for (const [replyTo, quoted] of [
      ["auto", true],
      ["all", true],
      ["batched", true],
      ["off", false],
    ] as const) {
      const world = await started({ stream: blocks, messages: { replyTo } });
      world.runs.push({ ...parts("one", "two"), afterMs: 0 });
      await world.say("earshot?", { id: "asked", ...(mention as object) });
      await world.say("lunch?", { author: { id: "bob", name: "Bob" } as never });
      await world.pass(10_000);
      expect(world.sent[0]).toMatchObject({ quote: quoted, replyTo: quoted ? "asked" : null });
      expect(world.sent[1]).toMatchObject({ quote: false });
    }
  });
});

describe("a reply tag", () => {
  const bob = { author: { id: "bob", name: "Bob" } } as object;
  const talk = async (config: Record<string, unknown>, ...said: string[]) => {
    const world = await started(config);
    world.runs.push({ afterMs: 0, steps: said.map((text) => ({ text })) });
    await world.say("the beans or the soup?", { id: "bobs", ...bob });
    await world.say("earshot?", { id: "asked", ...(mention as object) });
    await world.pass(10_000);
    return world;
  };

  test.each([
    ["off", { stream: { mode: "off" } }],
    ["block", { stream: { mode: "block" } }],
    ["draft", { stream: { mode: "draft" } }],
  ])("makes each part a reply to its message, in the mode %s", async (_, config) => {
    const world = await talk(
      { ...config, messages: { replyTo: "off" } },
      "[[reply_to:bo",
      "bs]] The soup.\n\n[[reply_to_cur",
      "rent]]I am here. It takes some words until a draft is opened for it.",
    );
    const shown = world.sent.map(({ text, replyTo }) => [text.trim(), replyTo]);
    expect(shown).toEqual([
      ["The soup.", "bobs"],
      ["I am here. It takes some words until a draft is opened for it.", "asked"],
    ]);
    await world.runtime.stop();
  });

  test("is in a recording: a replay replies to the same messages", async () => {
    const world = await talk({}, "[[reply_to:bobs]] The soup.\n\n[[reply_to_current]]Yes.");
    const lines: Record<string, unknown>[] = [];
    for await (const line of recordScenario(world.store, { since: 0 }))
      lines.push(line as unknown as Record<string, unknown>);
    const played = (await play(lines)).flatMap((line) =>
      "out" in line && line.out === "send"
        ? [line as unknown as { text: string; replyTo: string }]
        : [],
    );
    expect(played.map(({ text, replyTo }) => [text.trim(), replyTo])).toEqual([
      ["The soup.", "bobs"],
      ["Yes.", "asked"],
    ]);
    await world.runtime.stop();
  });

  test("of a message that was not heard here is taken out, ignored and logged", async () => {
    const world = await talk({}, "[[reply_to:elsewhere]] The soup.");
    expect(world.sent.map(({ text, replyTo }) => [text, replyTo])).toEqual([
      ["The soup.", "asked"],
    ]);
    expect(world.logged).toContainEqual(
      expect.objectContaining({ event: "reply-tag.ignored", level: "info" }),
    );
    await world.runtime.stop();
  });

  test("alone, or before the silent token, says nothing", async () => {
    for (const said of ["[[reply_to:bobs]]", "[[reply_to_current]] NO_REPLY"]) {
      const world = await talk({}, said);
      expect(world.sent).toEqual([]);
      await world.runtime.stop();
    }
  });
});

describe("a pause between blocks", () => {
  const gaps = ({ sent }: World) =>
    sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0));
  const paced = async (humanDelay: unknown, seed: number) => {
    const random = seededRandom(seed);
    const config = { stream: { ...blocks, humanDelay } };
    const world = await started(config, { random: () => random.next() });
    world.runs.push(parts("one", "two", "three", "four"));
    await world.say("go", { direct: true, id: "go" });
    const asked = world.clock.now();
    await world.pass(200_000);
    expect(world.sent.map(({ text }) => text)).toEqual(["one", "two", "three", "four"]);
    return { gaps: gaps(world), first: (world.sent[0]?.at ?? 0) - asked };
  };

  property([fc.nat(), fc.nat(5_000), fc.nat(5_000)], { numRuns: rounds(8, 25) })(
    "is as long as configured, never before the first, and the same for the same seed",
    async (seed, minMs, more) => {
      const given = { minMs, maxMs: minMs + more };
      const one = await paced(given, seed);
      expect(one.first).toBe(500);
      for (const gap of one.gaps) {
        expect(gap).toBeGreaterThanOrEqual(minMs);
        expect(gap).toBeLessThanOrEqual(minMs + more);
      }
      expect(await paced(given, seed)).toEqual(one);
    },
  );

  test("natural: between 800 and 2,500 ms, and not always the same", async () => {
    const all = [];
    for (const seed of [1, 2, 3, 4, 5]) all.push(...(await paced("natural", seed)).gaps);
    expect(Math.min(...all)).toBeGreaterThanOrEqual(800);
    expect(Math.max(...all)).toBeLessThanOrEqual(2_500);
    expect(new Set(all).size).toBeGreaterThan(5);
  });

  test("is kept while the answer still arrives, and is over if the next part takes longer", async () => {
    const config = { stream: { ...blocks, humanDelay: { minMs: 2_000, maxMs: 2_000 } } };
    const world = await started(config);
    const steps = [0, 300, 900, 5_000].flatMap((waitMs, index) => [
      { waitMs },
      { text: `part ${index}` },
      { messageEnd: true as const },
    ]);
    world.runs.push({ afterMs: 0, steps });
    await world.say("go", { direct: true });
    await world.pass(20_000);
    expect(world.sent.map(({ text }) => text)).toEqual(["part 0", "part 1", "part 2", "part 3"]);
    expect(gaps(world)).toEqual([2_000, 2_000, 2_200]);
  });

  test("is not made before the next answer", async () => {
    const config = { stream: { ...blocks, humanDelay: { minMs: 9_000, maxMs: 9_000 } } };
    const world = await started(config);
    world.runs.push(parts("one"), parts("two"));
    await world.say("go", { direct: true });
    await world.pass(1_000);
    await world.say("go on", { direct: true });
    await world.pass(1_000);
    expect(gaps(world)).toEqual([1_000]);
  });

  test("off: none", async () => {
    expect((await paced("off", 1)).gaps).toEqual([0, 0, 0]);
  });

  test("does not hold up the last text of a draft", async () => {
    const config = { stream: { mode: "draft", humanDelay: { minMs: 9_000, maxMs: 9_000 } } };
    const world = await started(config);
    const text = "An answer of more than thirty letters.";
    world.runs.push({ afterMs: 0, steps: [{ text }, { waitMs: 2_000 }, { text: " And more." }] });
    await world.say("go", { direct: true });
    await world.pass(3_000);
    expect(world.shown()).toEqual([`${text} And more.`]);
  });
});

describe("what is said is said once", () => {
  test("two equal blocks are two, and the whole is not sent again behind its blocks", async () => {
    const world = await started({ stream: { ...blocks, coalesceIdleMs: 0 } });
    const code = "```\nsame\n```";
    world.runs.push(parts(code, code));
    await world.say("go", { direct: true });
    await world.pass(10_000);
    expect(world.sent.map(({ text }) => text)).toEqual([code, code]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
  });

  test("a restart after the answer sends nothing of it again", async () => {
    const world = await started({ stream: blocks });
    world.runs.push(parts("one", "two"));
    await world.say("go", { direct: true });
    await world.pass(10_000);
    await world.restart();
    await world.pass(60_000);
    expect(world.sent.map(({ text }) => text)).toEqual(["one", "two"]);
  });
});

test("a prefix stands before the first block only", async () => {
  const world = await started({ stream: blocks, messages: { responsePrefix: "[{agent}]" } });
  world.runs.push(parts("one", "two"));
  await world.say("go", { direct: true });
  await world.pass(10_000);
  await world.say("go on", { direct: true });
  await world.pass(10_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["[earshot] one", "two", "[earshot] ok"]);
});
