/**
 * The path of one message: received, decided, answered, delivered.
 */
import { expect, test } from "vitest";
import { sessionWorld } from "../../support/runtime/session-world.ts";
import { type Fate, World } from "../../support/runtime/world.ts";

test("a direct message is decided, answered and delivered once", async () => {
  const world = await new World().start();
  world.runs.push({ afterMs: 100, steps: [{ text: "Hello Ann" }] });
  const [taken] = await world.say("hi", { direct: true, id: "m1" });
  expect(taken).toMatchObject({ id: "m1", receivers: [{ key: "agent:main:main", verdict: null }] });
  await world.pass(5_000);
  expect(world.decisions()).toMatchObject([{ id: "m1", decision: "engage", rule: "dm" }]);
  expect(world.sent).toMatchObject([{ text: "Hello Ann", chat: "ann", replyTo: null }]);
  expect(world.events("agent_start")).toHaveLength(1);
  expect(world.events("agent_end")).toMatchObject([{ outcome: "replied", turn: 1 }]);
  expect(world.sends()).toMatchObject([{ status: "sent", text: "Hello Ann" }]);
  expect(world.reactions).toEqual(["+👀 m1", "-👀 m1"]);
  await world.runtime.stop();
});

test("what a platform cannot show is neither told nor stored, and its words arrive", async () => {
  const world = new World();
  world.wordsOnly = true;
  await world.start();
  world.runs.push({ afterMs: 100, steps: [{ text: "Hello Ann" }] });
  await world.say("hi", { direct: true, id: "m1" });
  await world.pass(5_000);
  expect(world.sends()).toMatchObject([{ status: "sent", text: "Hello Ann" }]);
  const shown = world.lines.flatMap((line) => ("out" in line ? [line.out] : []));
  expect(shown).toEqual(["send"]);
  expect(await world.store.outboxCounts()).toEqual({ sent: 1 });
  await world.runtime.stop();
});

test.each([
  ["no reactions", true, "Nothing was put: there are no reactions on this channel."],
  ["reactions (the twin)", false, "Reacted."],
])("an agent that reacts is told the truth by a channel that has %s", async (_, without, words) => {
  const world = await sessionWorld();
  world.wordsOnly = without;
  world.answers.push(async function* (turn) {
    yield { type: "text", text: await turn.callTool("channel_react", { emoji: "👍" }) };
  });
  await world.talk("hi", { direct: true });
  expect(world.sends()).toMatchObject([{ status: "sent", text: words }]);
  await world.runtime.stop();
});

test.each<[string, readonly Fate[], number, unknown]>([
  ["is there", [], 2_000, "Reacted."],
  ["is refused", ["refuse"], 2_000, "Not put: blocked."],
  ["has no answer yet", ["hang"], 60_000, "Not put yet: it waits."],
])("an agent whose reaction %s learns so from the tool", async (_, fates, passMs, words) => {
  const world = await sessionWorld({ messages: { ackScope: "off" } });
  world.reactionFates.push(...fates);
  world.answers.push(async function* (turn) {
    yield { type: "text", text: await turn.callTool("channel_react", { emoji: "👍" }) };
  });
  await world.say("hi", { direct: true, id: "m1" });
  await world.pass(passMs);
  expect(world.sends()).toMatchObject([{ status: "sent", text: words }]);
  await world.runtime.stop();
});
