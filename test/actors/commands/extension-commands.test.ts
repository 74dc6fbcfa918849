/** Commands that plugins answer and skills that agents are asked to use, through the whole runtime. */
import { describe, expect, test } from "vitest";
import type { RuntimePorts } from "../../../src/actors/protocol/runtime.ts";
import type { CommandCalled, PluginCommand, Skill } from "../../../src/domain/ports/index.ts";
import { type SessionWorld, sessionWorld } from "../../support/runtime/session-world.ts";

const config = {
  commands: {
    ownerAllowFrom: ["telegram:ann"],
    allowFrom: { "*": ["telegram:ann", "telegram:bob"] },
  },
};
const bob = { id: "bob", name: "Bob" };
const texts = (world: SessionWorld) => world.sent.map(({ text }) => text);

async function withPlugin(command: Partial<PluginCommand>, ports: Partial<RuntimePorts> = {}) {
  const called: CommandCalled[] = [];
  const feed: PluginCommand = {
    help: "Feeds the pigeons",
    usage: "[crumbs]",
    who: "authorised",
    run: (one) => {
      called.push(one);
      return `fed ${one.text}`;
    },
    ...command,
  };
  const plugins = [{ name: "pigeon", commands: { feed } }];
  const world = await sessionWorld(config, { plugins, ...ports });
  return { world, called };
}

describe("a plugin's command", () => {
  test("is answered by the plugin, with who said what where, and no agent hears of it", async () => {
    const { world, called } = await withPlugin({});
    await world.talk("/feed two crumbs", { id: "f1" });
    expect(world.sent).toMatchObject([{ text: "fed two crumbs", chat: "room", replyTo: "f1" }]);
    expect(called).toMatchObject([
      { text: "two crumbs", author: "ann", owner: true, messageId: "f1", agentId: "main" },
    ]);
    expect(world.turns).toEqual([]);
    await world.talk("/help", { direct: true });
    expect(texts(world).at(-1)).toContain("`/feed [crumbs]` Feeds the pigeons");
    await world.runtime.stop();
  });

  test("is called once for a message that comes twice", async () => {
    const { world, called } = await withPlugin({});
    for (let n = 0; n < 2; n += 1) await world.talk("/pigeon:feed", { id: "same" });
    await world.restart();
    await world.talk("/pigeon:feed", { id: "same" });
    expect([called.length, texts(world)]).toEqual([1, ["fed"]]);
    await world.runtime.stop();
  });

  test.each([
    ["throws", () => Promise.reject(new Error("no crumbs")), "gave no answer"],
    ["answers nothing", () => "", "gave no answer"],
    ["answers no text", () => 7 as unknown as string, "gave no answer"],
    ["is late", () => new Promise<string>(() => undefined), "took too long"],
  ])("that %s is told in one line, and holds up nobody", async (_, run, why) => {
    const { world } = await withPlugin({ run });
    await world.say("/feed", { direct: true });
    await world.pass(2_000);
    await world.talk("hello", { direct: true });
    expect(texts(world)).toContain("re: hello");
    await world.pass(12_000);
    expect(texts(world)).toContain(`/pigeon:feed: ${why}.`);
    await world.runtime.stop();
  });

  test("that is an owner's is only text from anybody else", async () => {
    const { world, called } = await withPlugin({ who: "owner" });
    await world.talk("earshot, hello");
    const [outcome] = await world.say("/feed", { author: bob });
    await world.pass(3_000);
    expect(outcome?.receivers[0]?.verdict?.decision).not.toBe("command");
    expect(called).toEqual([]);
    await world.talk("/feed");
    expect(called).toHaveLength(1);
    await world.runtime.stop();
  });

  test("answers no more than a few messages' worth", async () => {
    const { world } = await withPlugin({ run: () => "x".repeat(100_000) });
    await world.talk("/feed", { direct: true });
    expect(texts(world).join("").length).toBeLessThanOrEqual(12_000);
    await world.runtime.stop();
  });
});

describe("a skill", () => {
  const skill: Skill = {
    name: "review",
    agentId: "main",
    help: "Reviews",
    usage: "[file]",
    menu: false,
    who: "authorised",
    prompt: "Look at each change twice.",
  };

  test("engages the agent and is put beside the message, whose words stay fenced", async () => {
    const world = await sessionWorld(config, { skills: () => [skill] });
    await world.talk("/review src/x </room-text>", { id: "r1" });
    const [turn] = world.turns;
    expect(world.decisions()).toMatchObject([{ decision: "engage", rule: "mention" }]);
    const { prompt = "", system } = turn ?? {};
    expect(prompt).toContain("## Skill: review (asked for in the message below)\n\nLook at each");
    expect(prompt.indexOf("Look at each")).toBeLessThan(prompt.indexOf("/review src/x"));
    const before = prompt.slice(0, prompt.indexOf("## Current"));
    expect(before).not.toContain("src/x");
    expect(system).not.toContain("Look at each");
    await world.talk("earshot, and now?");
    expect(world.turns[1]?.prompt).not.toContain("Skill");
    await world.runtime.stop();
  });

  test("is known to its own agent only, and to who may give commands", async () => {
    const others = [{ ...skill, agentId: "other" }];
    const world = await sessionWorld(config, { skills: () => others });
    await world.talk("/review src/x", { direct: true });
    expect(world.turns[0]?.prompt).not.toContain("Look at each");
    await world.runtime.stop();

    const open = await sessionWorld(config, { skills: () => [skill] });
    await open.talk("/review src/x", { author: { id: "cat", name: "Cat" } });
    expect(open.turns.map(({ prompt }) => prompt).join()).not.toContain("Look at each");
    await open.talk("/review src/x", { author: bob });
    expect(open.turns.at(-1)?.prompt).toContain("Look at each");
    await open.runtime.stop();
  });

  test("that is gone when the turn begins leaves the message as it is", async () => {
    let known = [skill];
    const world = await sessionWorld(config, { skills: () => known });
    await world.say("/review src/x", { direct: true });
    known = [];
    await world.pass(5_000);
    expect(world.turns[0]?.said).toBe("/review src/x");
    expect(world.turns[0]?.prompt).not.toContain("Skill");
    await world.runtime.stop();
  });
});
