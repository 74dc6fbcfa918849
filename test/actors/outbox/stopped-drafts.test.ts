/**
 * A turn that is stopped while its one growing message is on its way to the room, or while the last
 * edit of that message waits.
 */
import { expect, onTestFinished, test } from "vitest";
import type { ScriptedRun } from "../../../src/domain/scenario/script.ts";
import { type Fate, World } from "../../support/runtime/world.ts";

const config = { stream: { mode: "draft" }, commands: { allowFrom: { "*": ["telegram:ann"] } } };
const whole = "The quick brown fox jumps over the lazy dog. ".repeat(6).trim();
/** Word by word. */
const typed = (waitMs: number): ScriptedRun => ({
  afterMs: 0,
  steps: whole.split(/(?<= )/).flatMap((word) => [{ text: word }, { waitMs }]),
});

async function answering(waitMs: number, ...fates: Fate[]): Promise<World> {
  const world = await new World({ config }).start();
  onTestFinished(() => world.runtime.stop());
  world.fates.push(...fates);
  world.runs.push(typed(waitMs));
  await world.say("go", { direct: true });
  return world;
}

/** Stops it; returns what the room shows of the answer in the end. */
async function stopped(world: World): Promise<readonly string[]> {
  await world.say("/stop", { direct: true });
  await world.pass(120_000);
  expect(world.events("agent_end")).toMatchObject([{ outcome: "cancelled" }]);
  expect(world.typing.at(-1)).toBe(false);
  return world.shown().filter((text) => whole.startsWith(text));
}

const said = async (world: World): Promise<string[]> => {
  const session = await world.runtime.session("agent:main:main");
  const lines = await world.store.transcript({ sessionId: session?.sessionId ?? "", limit: 100 });
  return lines.filter(({ role }) => role === "assistant").map(({ text }) => text);
};

test("a message that was on its way is complete with what was said until the stop", async () => {
  const world = await answering(300, "slow");
  await world.pass(2_500);
  expect(world.sent).toEqual([]);
  const answer = await stopped(world);
  expect(answer).toHaveLength(1);
  expect(answer[0]?.length).toBeGreaterThan(world.sent[0]?.text.length ?? 0);
  expect(await said(world)).toEqual(answer);
});

test("what completes a message that never came to be is not sent as one of its own", async () => {
  const world = await answering(300, "hang");
  await world.pass(2_500);
  expect(await stopped(world)).toEqual([]);
});

test("nor is what completes a message that somebody has removed", async () => {
  const world = await answering(300, "slow", "refuse");
  await world.pass(2_500);
  await stopped(world);
  expect(world.fates).toEqual([]);
  expect(world.sent.filter(({ text }) => whole.startsWith(text))).toHaveLength(1);
});

test("a last edit that waits when its turn is stopped is made", async () => {
  const world = await answering(20);
  await world.pass(1_500);
  expect(world.sent).toHaveLength(1);
  world.fates.push("429", "429", "429");
  await world.pass(1_500);
  expect(world.events("agent_end")).toEqual([]);
  expect(await stopped(world)).toEqual([whole]);
});
