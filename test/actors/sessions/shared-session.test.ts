/**
 * Two people write to one agent directly and so share its main session, or talk in one group. Each
 * is known by name, and each stops, interrupts and steers their own turn only.
 */
import { describe, expect, test } from "vitest";
import { saying, untilStopped } from "../../support/agents/recording-agent.ts";
import { type SessionWorld, sessionWorld } from "../../support/runtime/session-world.ts";

const ann = { direct: true } as const;
const bob = {
  chat: { id: "bob", kind: "direct" },
  author: { id: "bob", name: "Bob" },
} as const;

const started = (config: object = {}) =>
  sessionWorld({
    commands: { allowFrom: { "*": ["telegram:ann", "telegram:bob"] } },
    ...config,
  });

const ends = (world: SessionWorld) =>
  world.events("agent_end").map((line) => ("outcome" in line ? line.outcome : ""));
const texts = (world: SessionWorld) => world.sent.map(({ chat, text }) => `${chat}: ${text}`);

/** An answer that waits for `open`, and gives way to a stop. */
async function* slowly(world: SessionWorld, signal: AbortSignal, text: string) {
  const stopped = new Promise<void>((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  );
  await Promise.race([world.released, stopped]);
  yield* saying(text);
}

describe("what the agent remembers of a session", () => {
  test("carries names once a second person has spoken, and none before", async () => {
    const world = await started();
    await world.talk("I like soup", ann);
    await world.talk("which do I like?", ann);
    await world.talk("and I like bread", bob);
    await world.talk("who likes what?", bob);
    const said = world.turns.map(({ transcript }) => transcript.map(({ text }) => text));
    expect(said[1]?.[0]).toBe("I like soup");
    expect(said[2]?.[0]).toBe("Ann: I like soup");
    expect(said[3]?.[0]).toBe("Ann: I like soup");
    expect(said[3]?.[4]).toBe("Bob: and I like bread");
    await world.runtime.stop();
  });
});

describe("mode interrupt", () => {
  const config = { messages: { queue: { mode: "interrupt" } } };

  test.each([
    ["from another direct chat", ann, bob],
    [
      "in one group",
      { mentions: [{ id: "bot", isSelf: true }] },
      { author: { id: "bob", name: "Bob" }, mentions: [{ id: "bot", isSelf: true }] },
    ],
  ])("somebody else's line %s waits for the turn", async (_, first, second) => {
    const world = await started(config);
    world.answers.push((_turn, signal) => slowly(world, signal, "for Ann"));
    await world.say("first", { ...first, id: "a" });
    await world.pass(1_000);
    await world.say("second", { ...second, id: "b" });
    await world.pass(2_000);
    expect(ends(world)).toEqual([]);
    world.open();
    await world.pass(5_000);
    expect(ends(world)).toEqual(["replied", "replied"]);
    expect(world.sent.map(({ text }) => text)).toEqual(["for Ann", "re: second"]);
    await world.runtime.stop();
  });

  test("of two people's waiting lines the older is kept, and of one person's it is dropped", async () => {
    const world = await started(config);
    world.answers.push((_turn, signal) => slowly(world, signal, "for Ann"));
    await world.say("first", { ...ann, id: "a" });
    await world.pass(1_000);
    await world.say("one", { ...bob, id: "b1" });
    await world.pass(1_000);
    await world.say("two", { ...bob, id: "b2" });
    await world.pass(1_000);
    await world.say("more", { ...ann, id: "a2" });
    await world.pass(10_000);
    expect(texts(world)).toEqual(["bob: re: two", "ann: re: more"]);
    expect(ends(world)).toEqual(["cancelled", "replied", "replied"]);
    const dropped = world.events("dropped").map((line) => ("message" in line ? line.message : ""));
    expect(dropped).toEqual(["b1"]);
    await world.runtime.stop();
  });
});

describe("/stop", () => {
  test("from another direct chat does not touch the turn, and says so", async () => {
    const world = await started();
    world.answers.push((_turn, signal) => slowly(world, signal, "for Ann"));
    await world.say("first", ann);
    await world.pass(1_000);
    await world.say("/stop", bob);
    await world.pass(2_000);
    expect(texts(world)).toEqual(["bob: Nothing of yours is running."]);
    world.open();
    await world.pass(5_000);
    expect(texts(world).at(-1)).toBe("ann: for Ann");
    expect(ends(world)).toEqual(["replied"]);
    await world.runtime.stop();
  });

  test("takes one's own waiting line out and leaves another person's", async () => {
    const world = await started();
    world.answers.push((_turn, signal) => slowly(world, signal, "for Ann"));
    await world.say("first", { ...ann, id: "a" });
    await world.pass(1_000);
    await world.say("mine", { ...ann, id: "a2" });
    await world.say("his", { ...bob, id: "b" });
    await world.pass(1_000);
    await world.say("/stop", bob);
    await world.pass(1_000);
    world.open();
    await world.pass(10_000);
    expect(texts(world)).toEqual([
      "bob: Nothing had started. 1 message that waited is read with your next one.",
      "ann: for Ann",
      "ann: re: mine",
    ]);
    await world.runtime.stop();
  });

  test("by an owner in the same group ends anybody's turn, by a guest only their own", async () => {
    const called = { mentions: [{ id: "bot", isSelf: true }] };
    const cat = { author: { id: "cat", name: "Cat" } };
    const world = await started({
      commands: {
        allowFrom: { "*": ["telegram:ann", "telegram:bob", "telegram:cat"] },
        ownerAllowFrom: ["telegram:cat"],
      },
    });
    world.answers.push((_turn, signal) => untilStopped(signal));
    await world.say("first", called);
    await world.pass(1_000);
    await world.say("/stop", { author: { id: "bob", name: "Bob" } });
    await world.pass(2_000);
    expect(ends(world)).toEqual([]);
    await world.say("/stop", cat);
    await world.pass(2_000);
    expect(ends(world)).toEqual(["cancelled"]);
    expect(world.sent.map(({ text }) => text)).toEqual([
      "Nothing of yours is running.",
      "Stopped.",
    ]);
    await world.runtime.stop();
  });
});

test("a line of another person in the group is not steered: it has an answer of its own", async () => {
  const world = await started({ messages: { queue: { mode: "steer" } } });
  const called = { mentions: [{ id: "bot", isSelf: true }] };
  world.answers.push((_turn, signal) => slowly(world, signal, "for Ann"));
  await world.say("first", { ...called, id: "a" });
  await world.pass(1_000);
  await world.say("second", { ...called, id: "b", author: { id: "bob", name: "Bob" } });
  await world.pass(1_000);
  world.open();
  await world.pass(5_000);
  expect(world.sent.map(({ text, replyTo }) => [text, replyTo])).toEqual([
    ["for Ann", "a"],
    ["re: second", "b"],
  ]);
  await world.runtime.stop();
});

describe("after /stop what waited", () => {
  test("gets no turn, gives its reactions back, and is read with the next line", async () => {
    const world = await started();
    world.answers.push((_turn, signal) => untilStopped(signal));
    await world.say("first", { ...ann, id: "a" });
    await world.pass(1_000);
    await world.say("second", { ...ann, id: "b" });
    await world.say("third", { ...ann, id: "c" });
    await world.pass(1_000);
    await world.say("/stop", ann);
    await world.pass(60_000);
    expect(world.turns).toHaveLength(1);
    expect(texts(world)).toEqual([
      "ann: Stopped. 2 messages that waited are read with your next one.",
    ]);
    expect(world.reactions.filter((one) => one.startsWith("-")).sort()).toEqual([
      "-👀 a",
      "-👀 b",
      "-👀 c",
    ]);
    const [why] = await world.runtime.why("b");
    expect(why?.fate).toMatchObject({ dropped: "stopped" });
    await world.talk("go on", ann);
    expect(world.turns[1]?.prompt).toMatch(/second[\s\S]*third[\s\S]*go on/);
    await world.runtime.stop();
  });

  test.each([
    ["/stop, /new", ["Nothing had started. 1 message that waited is read with your next one."]],
    [
      "/new, /stop",
      [
        "Nothing had started. 1 message that waited is of the session before, and will not be answered.",
      ],
    ],
  ])("is not read by a session that begins with /new: %s", async (said, answers) => {
    const world = await started();
    await world.say("first", { ...ann, id: "a" });
    await world.pass(100);
    await Promise.all(said.split(", ").map((text) => world.say(text, ann)));
    await world.pass(60_000);
    expect(texts(world).filter((text) => !text.includes("new session"))).toEqual(
      answers.map((text) => `ann: ${text}`),
    );
    await world.talk("go on", ann);
    expect(world.turns).toHaveLength(1);
    expect(world.turns[0]?.prompt).toContain("go on");
    expect(world.turns[0]?.prompt).not.toContain("first");
    const [why] = await world.runtime.why("a");
    expect(why?.fate).toMatchObject({ dropped: "stopped" });
    await world.runtime.stop();
  });

  test("also holds where the turn waits for its slot or its window", async () => {
    const world = await started();
    await world.say("first", { ...ann, id: "a" });
    await world.pass(100);
    await world.say("/stop", ann);
    await world.pass(60_000);
    expect(world.turns).toHaveLength(0);
    expect(texts(world)).toEqual([
      "ann: Nothing had started. 1 message that waited is read with your next one.",
    ]);
    await world.talk("go on", ann);
    expect(world.turns[0]?.prompt).toMatch(/first[\s\S]*go on/);
    await world.runtime.stop();
  });

  test("and what is on its way to the room is dropped when the agent is done", async () => {
    const world = await started({
      stream: {
        mode: "block",
        break: "message_end",
        coalesceIdleMs: 0,
        humanDelay: { minMs: 5_000, maxMs: 5_000 },
      },
    });
    world.answers.push(async function* () {
      for (const text of ["one", "two", "three"]) {
        yield { type: "text", text } as const;
        yield { type: "message-end" } as const;
      }
    });
    await world.say("first", { ...ann, id: "a" });
    await world.pass(2_000);
    await world.say("/stop", ann);
    await world.pass(60_000);
    expect(texts(world)).toEqual(["ann: one", "ann: Stopped."]);
    expect(ends(world)).toEqual(["cancelled"]);
    await world.runtime.stop();
  });
});
