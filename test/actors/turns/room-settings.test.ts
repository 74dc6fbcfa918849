/** Settings of a group and a topic reach its turns, its ladder, its commands, and nobody else's. */
import { expect, test } from "vitest";
import { sessionWorld } from "../../support/runtime/session-world.ts";

const topic = (id: string) => ({ thread: { id, kind: "topic" as const } });
const config = {
  agents: { list: [{ id: "main", name: "Scout", system: "You are Scout." }] },
  access: { dmPolicy: "open", groupPolicy: "open" },
  channels: {
    telegram: {
      groups: {
        room: {
          system: "Be brief.",
          model: "medium",
          aliases: ["chef"],
          engagement: { activation: "mention" },
          topics: {
            "7": { system: "Only soup.", model: "large", tools: { allow: ["channel_react"] } },
            "9": { enabled: false },
          },
        },
      },
    },
  },
};

test("a turn has the instructions, the model and the tools of its topic", async () => {
  const world = await sessionWorld(config);
  await world.talk("chef, soup?", topic("7"));
  await world.talk("chef, hello?");
  const [inTopic, inGroup] = world.turns;
  expect(inTopic?.system).toMatch(/\n\nYou are Scout\.\n\nBe brief\.\n\nOnly soup\.$/u);
  expect(inTopic?.model).toBe("large");
  expect(inTopic?.tools.map(({ name }) => name)).toEqual(["channel_react"]);
  expect(inGroup?.system).toMatch(/\n\nYou are Scout\.\n\nBe brief\.$/u);
  expect(inGroup?.model).toBe("medium");
  expect(inGroup?.tools.length).toBeGreaterThan(1);
  await world.runtime.stop();
});

test("its names and its activation decide there only, and a topic can be switched off", async () => {
  const world = await sessionWorld(config);
  const ruleOf = async (text: string, more = {}) => {
    const before = world.decisions().length;
    await world.say(text, more);
    await world.pass(5_000);
    const verdict = world.decisions()[before];
    return `${verdict?.decision} ${verdict?.rule}`;
  };
  expect(await ruleOf("chef, are you there?")).toBe("engage alias");
  const bob = { author: { id: "bob" } };
  expect(await ruleOf("chef?", { ...bob, chat: { id: "den", kind: "group" } })).toBe(
    "observe default",
  );
  expect(await ruleOf("chef!", topic("9"))).toBe("denied group-policy");
  await world.runtime.stop();
});

test("/model and /context show what is in force in the topic", async () => {
  const world = await sessionWorld(config);
  const before = world.sent.length;
  await world.say("/model", topic("7"));
  await world.pass(1_000);
  expect(world.sent[before]?.text).toBe("Model: large (as configured).");
  await world.runtime.stop();
});
