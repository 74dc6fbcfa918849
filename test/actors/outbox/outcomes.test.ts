/**
 * The outcome of a turn is what was delivered of its answer, reported once, after its last delivery: in
 * the event stream, in `why`, in the transcript and in what the agent is given later.
 */
import { describe, expect, test } from "vitest";
import { untilStopped } from "../../support/agents/recording-agent.ts";
import { type SessionWorld, sessionWorld } from "../../support/runtime/session-world.ts";
import type { Fate } from "../../support/runtime/world.ts";

const config = { stream: { mode: "block", break: "message_end", coalesceIdleMs: 0 } };

/** Each part is a message of its own. */
async function* inParts(...parts: readonly string[]) {
  for (const text of parts) {
    yield { type: "text", text } as const;
    yield { type: "message-end" } as const;
  }
}

const notesOf = async (world: SessionWorld) =>
  (await world.transcript()).flatMap(({ role, text }) =>
    role === "note" && text !== "usage" ? [text] : [],
  );

/** A question that is answered in parts, while the platform has the given fates. */
async function answered(fates: readonly Fate[], parts: readonly string[], more: object = {}) {
  const world = await sessionWorld({ ...config, ...more });
  world.fates.push(...fates);
  world.answers.push(() => inParts(...parts));
  await world.talk("hi", { direct: true, id: "asked" });
  const [why] = await world.runtime.why("asked");
  return { world, why, notes: await notesOf(world) };
}

describe("an answer of several parts", () => {
  test("of which all were taken is replied", async () => {
    const { world, why, notes } = await answered(["ok", "ok"], ["one", "two"]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
    expect(why?.fate).toMatchObject({ outcome: "replied" });
    expect(notes).toEqual([]);
    await world.runtime.stop();
  });

  test("of which the platform refuses every one is undelivered", async () => {
    const { world, why, notes } = await answered(["refuse", "refuse"], ["one", "two"]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "undelivered", reason: "dead" }]);
    expect(why?.fate).toMatchObject({ outcome: "undelivered", reason: "dead" });
    expect(notes).toEqual(["undelivered: dead; 2 parts of the answer did not reach the room"]);
    await world.runtime.stop();
  });

  test("of which the platform refuses one is partly delivered", async () => {
    const { world, why, notes } = await answered(["ok", "refuse", "ok"], ["one", "two", "three"]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "partly", reason: "dead" }]);
    expect(why?.fate).toMatchObject({ outcome: "partly", reason: "dead" });
    expect(notes).toEqual(["partly: dead; 1 part of the answer did not reach the room"]);
    expect(world.sent.map(({ text }) => text)).toEqual(["one", "three"]);
    await world.runtime.stop();
  });

  test("whose result nobody knows is not reported as delivered", async () => {
    const { world, notes } = await answered(["odd"], ["one"], { turn: { onInDoubt: "hold" } });
    expect(world.events("agent_end")).toMatchObject([
      { outcome: "undelivered", reason: "in-doubt" },
    ]);
    expect(notes).toEqual([
      "undelivered: in-doubt; 1 part of the answer may not have reached the room",
    ]);
    await world.runtime.stop();
  });

  test("is given to the agent later with what did not arrive marked", async () => {
    const { world } = await answered(["ok", "refuse"], ["one", "two"]);
    await world.talk("and?", { direct: true });
    const said =
      world.turns
        .at(-1)
        ?.transcript.map(({ text }) => text)
        .join("\n") ?? "";
    expect(said).toContain("one\n\ntwo\n[This part did not reach the room]");
    await world.runtime.stop();
  });
});

test("the end of a turn is reported after its last delivery", async () => {
  const { world } = await answered(["429", "ok"], ["one", "two"]);
  const order = world.lines.flatMap((line) => {
    if ("out" in line && line.out === "send") return [`${line.text} ${line.status}`];
    return "event" in line && line.event === "agent_end" ? [line.outcome] : [];
  });
  expect(order).toEqual(["one sent", "two sent", "replied"]);
  await world.runtime.stop();
});

test("a turn that is stopped says which of its words the room never saw", async () => {
  const world = await sessionWorld(config);
  world.fates.push("ok", "429");
  world.answers.push(async function* (_turn, signal) {
    yield* inParts("one", "two");
    yield* untilStopped(signal);
  });
  await world.say("hi", { direct: true, id: "asked" });
  await world.pass(1_200);
  await world.say("/stop", { direct: true });
  await world.pass(5_000);
  expect(world.sent.map(({ text }) => text)).toContain("one");
  expect(world.sent.map(({ text }) => text)).not.toContain("two");
  expect(world.events("agent_end")).toMatchObject([{ outcome: "cancelled", reason: "stop" }]);
  expect(await notesOf(world)).toContain(
    "cancelled: stop; 1 part of the answer did not reach the room",
  );
  await world.runtime.stop();
});
