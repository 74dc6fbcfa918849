/** Plugins' hooks through the whole runtime, on a simulated clock. */
import { describe, expect, test } from "vitest";
import type { Hooks, Plugin } from "../../../src/domain/ports/index.ts";
import { World, type WorldOptions } from "../../support/runtime/world.ts";

const named = (name: string, hooks: Hooks): Plugin => ({ name, hooks });

async function worldWith(plugins: readonly Plugin[], more: WorldOptions = {}) {
  return new World({ ...more, ports: { plugins, ...more.ports } }).start();
}

async function talk(world: World, answer = "Hello Ann"): Promise<void> {
  world.runs.push({ afterMs: 10, steps: [{ text: answer }] });
  await world.say("hi", { direct: true, id: `m${world.lines.length}` });
  await world.pass(10_000);
}

const rows = async (world: World) => {
  const all = await world.store.outboxByState(["sent", "dead", "in-doubt"], 100);
  return all.filter(({ kind }) => kind === "reply");
};
const troubles = (world: World) =>
  world.logged.filter(({ event }) => event.startsWith("hook.")).map(({ event }) => event);

describe("a plugin that looks", () => {
  test("is told of the message, its turn and its end, in this order, with copies", async () => {
    const reported: [string, unknown][] = [];
    const look = (name: string) => (event: object) => {
      reported.push([name, structuredClone(event)]);
      for (const key of Object.keys(event)) Object.assign(event, { [key]: "changed" });
    };
    const hooks = {
      "message.received": look("message.received"),
      "turn.started": look("turn.started"),
      "turn.ended": look("turn.ended"),
    };
    const world = await worldWith([named("first", hooks), named("second", hooks)]);
    await talk(world);
    expect(reported.map(([name]) => name)).toEqual([
      "message.received",
      "message.received",
      "turn.started",
      "turn.started",
      "turn.ended",
      "turn.ended",
    ]);
    const who = { key: "agent:main:main", agentId: "main" };
    expect(reported[1]?.[1]).toMatchObject({
      ...who,
      decision: "engage",
      rule: "dm",
      message: { text: "hi", author: { name: "Ann" } },
    });
    expect(reported[3]?.[1]).toMatchObject({ ...who, turn: 1, batch: ["m0"] });
    expect(reported[5]?.[1]).toMatchObject({ ...who, turn: 1, outcome: "replied" });
    expect(world.sent).toMatchObject([{ text: "Hello Ann", chat: "ann" }]);
    await world.runtime.stop();
  });

  test("and throws, rejects, hangs or ends late changes nothing, and is logged", async () => {
    let ends: (why: Error) => void = () => undefined;
    const plugins = [
      named("throws", {
        "message.received": () => {
          throw new Error("no");
        },
      }),
      named("rejects", { "turn.started": () => Promise.reject(new Error("no")) }),
      named("hangs", { "turn.ended": () => new Promise(() => undefined) }),
      named("late", {
        "turn.ended": () =>
          new Promise((_, reject) => {
            ends = reject;
          }),
      }),
    ];
    const world = await worldWith(plugins);
    await talk(world);
    expect(troubles(world).sort()).toEqual([
      "hook.failed",
      "hook.failed",
      "hook.late",
      "hook.late",
    ]);
    ends(new Error("now I fail"));
    await talk(world);
    expect(world.sent).toHaveLength(2);
    await world.runtime.stop();
  });

  test("that never ends is told no more after a thousand calls, and the rest goes on", async () => {
    let calls = 0;
    const heard: string[] = [];
    const hangs = named("hangs", {
      "message.received": () => {
        calls += 1;
        return new Promise(() => undefined);
      },
    });
    const hears = named("hears", { "message.received": ({ message }) => heard.push(message.id) });
    const world = await worldWith([hangs, hears]);
    for (let at = 0; at < 1_010; at += 1) await world.say("just talking", { id: `line ${at}` });
    await world.pass(10_000);
    expect(calls).toBe(1_000);
    expect(heard).toHaveLength(1_010);
    expect(troubles(world).filter((event) => event === "hook.skipped")).toHaveLength(10);
    await world.runtime.stop();
  });
});

describe("a plugin that has a word on what is sent", () => {
  test("changes it, in the order of the config; the store has what the room saw", async () => {
    const world = await worldWith([
      named("loud", { "message.sending": ({ text }) => ({ text: text.toUpperCase() }) }),
      named("looks", { "message.sending": () => undefined }),
      named("signs", { "message.sending": async ({ text }) => ({ text: `${text}\n-- earshot` }) }),
    ]);
    await talk(world);
    expect(world.sent).toMatchObject([{ text: "HELLO ANN\n-- earshot" }]);
    expect(world.sends()).toMatchObject([{ text: "HELLO ANN\n-- earshot", status: "sent" }]);
    const [row] = await rows(world);
    expect(JSON.parse(row?.body ?? "")).toMatchObject({ text: "HELLO ANN\n-- earshot" });
    await world.runtime.stop();
  });

  test("refuses it: nothing is sent, the row says why, and those behind it are not asked", async () => {
    let asked = 0;
    const world = await worldWith([
      named("strict", {
        "message.sending": ({ text }) =>
          text.includes("secret") ? { refuse: "names a\nsecret" } : undefined,
      }),
      named("behind", {
        "message.sending": () => {
          asked += 1;
        },
      }),
    ]);
    await talk(world, "the secret is 7");
    expect(world.sent).toEqual([]);
    expect(await rows(world)).toMatchObject([
      { state: "dead", error: "refused by the plugin strict: names a secret" },
    ]);
    expect(world.sends()).toMatchObject([{ status: "dead" }]);
    expect(world.reactions).toEqual(["+👀 m0", "-👀 m0"]);
    expect(world.typing.at(-1)).toBe(false);
    expect(asked).toBe(0);
    await talk(world, "nothing to hide");
    expect(world.sent).toMatchObject([{ text: "nothing to hide" }]);
    expect(asked).toBe(1);
    await world.runtime.stop();
  });

  test.each<[string, Hooks["message.sending"]]>([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no"))],
    ["hangs", () => new Promise<never>(() => undefined)],
    ["answers with an empty text", () => ({ text: " \n" })],
    ["answers with a number", () => 7 as never],
    ["answers with neither", () => ({}) as never],
    ["answers with a book", () => ({ text: "a".repeat(200_000) })],
  ])("and %s: the text goes as it was, in order", async (_, hook) => {
    const world = await worldWith([named("odd", { "message.sending": hook as never })], {
      config: { stream: { mode: "block", minChars: 16, maxChars: 40 } },
    });
    const words =
      "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    await talk(world, words);
    await world.pass(10_000);
    const said = world.sent.map(({ text }) => text.trim()).join(" ");
    expect(said).toBe(words);
    expect(world.sent.length).toBeGreaterThan(1);
    expect(new Set(troubles(world)).size).toBe(1);
    await world.runtime.stop();
  });

  test("is asked once for each text, however often the platform has to be tried", async () => {
    let asked = 0;
    const counts = named("counts", {
      "message.sending": () => {
        asked += 1;
        return { text: `said ${asked}` };
      },
    });
    const world = await worldWith([counts]);
    world.fates.push("429", "fail", "429");
    await talk(world);
    await world.pass(60_000);
    expect(world.sent.map(({ text }) => text)).toEqual(["said 1"]);
    await world.runtime.stop();
  });

  test("changes what is sent after a crash in the same way as before it", async () => {
    let asked = 0;
    const counts = named("counts", {
      "message.sending": () => {
        asked += 1;
        return { text: `said ${asked}` };
      },
    });
    const world = await worldWith([counts]);
    world.fates.push("429");
    await talk(world);
    await world.restart();
    await world.pass(60_000);
    expect(world.sent.map(({ text }) => text)).toEqual(["said 1"]);
    await world.runtime.stop();
  });

  test("sees whole answers only: none is shown while it grows", async () => {
    const shout = named("loud", {
      "message.sending": ({ text }) => ({ text: text.toUpperCase() }),
    });
    const world = await worldWith([shout], { config: { stream: { mode: "draft" } } });
    world.runs.push({
      afterMs: 10,
      steps: [
        { text: "this is shown while it grows, " },
        { waitMs: 5_000 },
        { text: "and here is the rest of it" },
      ],
    });
    await world.say("hi", { direct: true });
    await world.pass(20_000);
    const all = [...world.sent, ...world.edited].map(({ text }) => text);
    expect(all.join(" ")).toBe(all.join(" ").toUpperCase());
    expect(all.length).toBeGreaterThan(0);
    expect(world.edited).toEqual([]);
    await world.runtime.stop();
  });

  test("may refuse a notice of an error, too", async () => {
    const kinds: string[] = [];
    const world = await worldWith([
      named("looks", {
        "message.sending": ({ kind }) => {
          kinds.push(kind);
          return kind === "notice" ? { refuse: "we say nothing of errors" } : undefined;
        },
      }),
    ]);
    world.runs.push({ afterMs: 10, steps: [{ error: "broken" }] });
    await world.say("hi", { direct: true });
    await world.pass(10_000);
    expect(kinds).toEqual(["notice"]);
    expect(world.sent).toEqual([]);
    await world.runtime.stop();
  });
});

test("what was given up while a hook thought about it is not sent", async () => {
  let asked = 0;
  const slow = named("slow", {
    "message.sending": () => {
      asked += 1;
      return new Promise<never>(() => undefined);
    },
  });
  const world = await worldWith([slow], {
    config: { stream: { mode: "block", minChars: 16, maxChars: 40 } },
  });
  world.runs.push({
    afterMs: 10,
    steps: [{ text: "The first words of a long answer." }, { messageEnd: true }, { hang: true }],
  });
  await world.say("hi", { direct: true });
  for (let waited = 0; asked === 0 && waited < 10_000; waited += 100) await world.pass(100);
  expect(asked).toBe(1);
  await world.runtime.abortTurn("agent:main:main", "operator");
  await world.pass(10_000);
  expect(world.sent).toEqual([]);
  expect(world.events("agent_end")).toMatchObject([{ outcome: "cancelled" }]);
  const all = await rows(world);
  expect(all.length).toBeGreaterThan(0);
  expect(all.every(({ state }) => state === "dead")).toBe(true);
  await world.runtime.stop();
});

test("without plugins nothing is asked and nothing is noted in a row", async () => {
  const world = await worldWith([]);
  await talk(world);
  const [row] = await rows(world);
  expect(JSON.parse(row?.body ?? "")).not.toHaveProperty("asked");
  await world.runtime.stop();
});
