/** What is said in a room by nobody of it: texts and prompts of the operator. */
import { expect, test } from "vitest";
import type { Speech, SpeechTaken } from "../../../src/actors/protocol/speech.ts";
import { World } from "../../support/runtime/world.ts";

const group: Speech["place"] = {
  channel: "telegram",
  account: "default",
  chat: { id: "room", kind: "group" },
  thread: null,
};
const text = (words: string, over: Partial<Speech> = {}): Speech => ({
  place: group,
  text: words,
  turn: false,
  replyTo: null,
  by: "operator",
  ...over,
});
const says = (words: string) => ({ afterMs: 0, steps: [{ text: words }] });
const key = "agent:main:telegram:group:room";

async function transcriptOf(world: World) {
  const session = await world.runtime.session(key);
  const { sessionId = "" } = session ?? {};
  const lines = await world.store.transcript({ sessionId, limit: 100 });
  return lines.map(({ role, text }) => `${role}: ${text}`);
}

test("a text is sent, is the agent's own line, and a reply to it engages", async () => {
  const world = await new World().start();
  const taken = await world.runtime.say(text("Lunch is at noon.", { id: "one" }));
  await world.pass(1_000);
  expect(taken).toMatchObject({ id: "one", key, turn: false });
  expect(world.sent).toMatchObject([{ text: "Lunch is at noon.", chat: "room", replyTo: null }]);
  expect((taken as SpeechTaken).parts).toEqual(world.sent.map(({ id }) => id));
  expect(await transcriptOf(world)).toEqual(["assistant: Lunch is at noon."]);
  world.runs.push(says("Yes."));
  await world.say("with soup?", { replyTo: { id: "p1" } });
  await world.pass(10_000);
  expect(world.decisions().at(-1)).toMatchObject({ decision: "engage", rule: "reply" });
  expect(world.sent.at(-1)?.text).toBe("Yes.");
});

test("the same order is taken once, whenever it comes, and another under its id is refused", async () => {
  const world = await new World().start();
  const order = text("Lunch", { id: "one" });
  const [first, second] = await Promise.all([world.runtime.say(order), world.runtime.say(order)]);
  await world.pass(5_000);
  await world.kill();
  await world.pass(5_000);
  expect(await world.runtime.say(order)).toEqual(first);
  expect(second).toEqual(first);
  for (const other of [
    text("Dinner", { id: "one" }),
    text("Lunch", { id: "one", turn: true }),
    text("Lunch", { id: "one", place: { ...group, chat: { id: "other", kind: "group" } } }),
  ])
    expect(await world.runtime.say(other)).toBe("conflict");
  await world.pass(5_000);
  expect(world.sent.map((sent) => sent.text)).toEqual(["Lunch"]);
  expect(await transcriptOf(world)).toEqual(["assistant: Lunch"]);
});

test("texts go in the order of their orders, long ones in parts, and 429 stops nothing", async () => {
  const world = await new World().start();
  const long = Array.from({ length: 900 }, (_, line) => `Line ${line}.`).join("\n");
  world.fates.push("429", "fail");
  await world.runtime.say(text(long));
  await world.runtime.say(text("and then this"));
  await world.pass(60_000);
  const texts = world.sent.map((sent) => sent.text);
  expect(texts.length).toBeGreaterThan(2);
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(4_096);
  expect(texts.at(-1)).toBe("and then this");
  const lines = texts.slice(0, -1).flatMap((part) => part.split("\n"));
  expect(lines.filter((line) => line !== "")).toEqual(long.split("\n"));
});

test("what the platform refuses is named in the transcript", async () => {
  const world = await new World().start();
  world.fates.push("refuse");
  await world.runtime.say(text("Lunch"));
  await world.pass(5_000);
  expect(await transcriptOf(world)).toEqual([
    "assistant: Lunch",
    "note: not sent: part 0 did not reach the room",
  ]);
});

test("a prompt is a turn: its text is not sent, the answer is, and both are remembered", async () => {
  const world = await new World({ prompts: true }).start();
  world.runs.push(says("The build is red."));
  await world.runtime.say(text("Say how the build is.", { turn: true, id: "two" }));
  await world.pass(5_000);
  expect(world.sent).toMatchObject([{ text: "The build is red.", replyTo: null }]);
  const prompts = world.lines.filter((line) => "event" in line && line.event === "prompt");
  expect(JSON.stringify(prompts)).toContain("Say how the build is.");
  expect(await transcriptOf(world)).toEqual([
    "user: Say how the build is.",
    "assistant: The build is red.",
  ]);
});

test("a prompt survives a crash, before its turn and during it", async () => {
  const world = await new World().start();
  world.runs.push({ afterMs: 60_000, steps: [] }, says("The build is red."));
  await world.runtime.say(text("Say how the build is.", { turn: true, id: "two" }));
  await world.pass(1_000);
  await world.kill();
  await world.pass(5_000);
  expect(world.sent.map((sent) => sent.text)).toEqual(["The build is red."]);
});

test("an agent or a chat that nobody knows is refused before anything is stored", async () => {
  const world = await new World().start();
  const before = await world.store.lastSeq();
  await expect(world.runtime.say(text("x", { agentId: "nobody" }))).rejects.toThrow(
    'no agent is called "nobody"',
  );
  const unknown = { ...group, chat: { id: "room" } };
  await expect(world.runtime.say(text("x", { place: unknown }))).rejects.toThrow("--kind");
  expect(await world.store.lastSeq()).toBe(before);
  await world.say("hello");
  await world.pass(5_000);
  expect(await world.runtime.say(text("x", { place: unknown }))).toMatchObject({ key });
});
