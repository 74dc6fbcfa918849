/**
 * A reply goes to the place of its question, whatever is written elsewhere meanwhile. The mistake:
 * the session keeps one "last route", so an answer in progress follows the last author; worse, a
 * private message steered into the running agent is answered in front of others.
 */
import { describe, expect, test } from "vitest";
import type { AgentDriver } from "../../src/domain/ports/index.ts";
import { steered } from "../support/agents/steered-agent.ts";
import { World } from "../support/runtime/world.ts";

const modes = ["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"] as const;
/** Direct chats of different people share one session. */
const shared = (mode: string, agent: Record<string, unknown> = { kind: "steered", steps: 4 }) =>
  new World({
    config: {
      agents: { defaults: { driver: agent } },
      messages: { queue: { mode } },
      session: { dmScope: "main" },
    },
    drivers: [steered as AgentDriver],
  });
const from = (world: World, who: string, text: string) =>
  world.say(text, { id: text, chat: { id: who, kind: "direct" }, author: { id: who, name: who } });
const answers = (world: World) => world.sent.map(({ chat, text }) => `${chat}: ${text}`);

describe.each(modes)("in mode %s", (mode) => {
  test("two people who share a session are each answered in their own chat", async () => {
    const world = await shared(mode).start();
    await from(world, "ann", "ann's secret");
    await world.pass(1_000);
    await from(world, "bob", "bob's secret");
    await world.pass(60_000);
    // Nobody interrupts a turn of somebody else; every answer goes to the author of its question.
    expect(answers(world)).toEqual(["ann: ann's secret", "bob: bob's secret"]);
  });

  test("also after a restart in the middle of it", async () => {
    const world = await shared(mode).start();
    await from(world, "ann", "ann's secret");
    await world.pass(1_000);
    await from(world, "bob", "bob's secret");
    await world.restart();
    await world.pass(60_000);
    for (const { chat, text } of world.sent) expect(text).toBe(`${chat}'s secret`);
    expect(answers(world)).toContain("bob: bob's secret");
  });
});

test("blocks still on their way keep their address when somebody else has spoken", async () => {
  const world = await shared("queue", { kind: "scripted" }).start();
  world.ready = false;
  world.runs.push({ afterMs: 0, steps: [{ text: "for ann" }] });
  world.runs.push({ afterMs: 0, steps: [{ text: "for bob" }] });
  await from(world, "ann", "hello");
  await world.pass(1_000);
  await from(world, "bob", "hi");
  await world.pass(1_000);
  world.ready = true;
  world.runtime.connectionChanged("telegram", "default");
  await world.pass(60_000);
  expect(answers(world)).toEqual(["ann: for ann", "bob: for bob"]);
});

test("a thread's answer stays in the thread, the room's in the room", async () => {
  const world = await new World({ config: { messages: { queue: { mode: "collect" } } } }).start();
  world.runs.push({ afterMs: 3_000, steps: [{ text: "one" }] });
  const mentions = [{ id: "bot", isSelf: true }];
  await world.say("one", { id: "one", mentions, thread: { id: "t1", kind: "topic" } });
  await world.pass(1_000);
  await world.say("two", { id: "two", mentions });
  await world.pass(60_000);
  const places = world.sends().map(({ text, thread }) => `${text} in ${String(thread)}`);
  expect(places.sort()).toEqual(["ok in null", "one in t1"]);
});

test("one person who goes on in the same chat is steered into the same turn (the twin)", async () => {
  const world = await shared("steer").start();
  await from(world, "ann", "one");
  await world.pass(1_000);
  await from(world, "ann", "two");
  await world.pass(60_000);
  expect(answers(world)).toEqual(["ann: one + ann: two"]);
});
