/**
 * Reactions of people to our messages: the next turn is shown them, over a restart and in a replay of
 * the recording. They start no turn and decide nothing.
 */
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { recordScenario } from "../../../src/actors/recording/recorder.ts";
import { reactionSchema } from "../../../src/domain/message.ts";
import { property } from "../../support/property.ts";
import { play, prompts } from "../../support/replay/replay.ts";
import { Rig } from "../../support/runtime/conversation-rig.ts";
import { World } from "../../support/runtime/world.ts";

const toUs = { mentions: [{ id: "us", isSelf: true }] };

/** A room in which one question was answered by message p1, “Soup it is”. */
async function answered(config: Record<string, unknown> = {}): Promise<World> {
  const world = await new World({ prompts: true, config }).start();
  onTestFinished(() => world.runtime.stop());
  world.runs.push({ steps: [{ text: "Soup it is" }] } as never);
  await world.say("lunch?", toUs);
  await world.pass(10_000);
  return world;
}

const react = (world: World, over: Record<string, unknown> = {}) => {
  const reaction = reactionSchema.parse({
    channel: "telegram",
    chat: { id: "room", kind: "group" },
    id: "p1",
    author: { id: "bo", name: "Bo" },
    added: ["👍"],
    ...over,
  });
  return world.runtime.ingest("telegram", "default", [{ type: "reaction", reaction }]);
};

/** The lines about reactions in the prompt of the next turn. */
async function shown(world: World): Promise<string[]> {
  const before = prompts(world.lines).length;
  await world.say("and now?", toUs);
  await world.pass(10_000);
  const [prompt] = prompts(world.lines).slice(before);
  return (prompt?.text ?? "").split("\n").filter((line) => /reacted|took back/.test(line));
}

describe("a reaction to a message of ours", () => {
  test("starts no turn, and the next turn is shown it once, with our text", async () => {
    const world = await answered();
    const decided = world.decisions().length;
    await react(world);
    await world.pass(60_000);
    expect(world.decisions()).toHaveLength(decided);
    expect(world.events("agent_start")).toHaveLength(1);
    expect(await shown(world)).toEqual([
      "[2023-11-14 22:13:30 UTC] Bo reacted 👍 to your message id:p1 “Soup it is”",
    ]);
    expect(await shown(world)).toEqual([]);
  });

  test("outlives a restart and a kill", async () => {
    const world = await answered();
    await react(world);
    await world.kill();
    await world.restart();
    expect(await shown(world)).toHaveLength(1);
  });

  test("that changes is shown as it ended", async () => {
    const world = await answered();
    await react(world);
    await react(world, { added: ["❤"], removed: ["👍"] });
    await react(world, { author: { id: "cy", name: "Cy" }, added: ["👎"] });
    await react(world, { author: { id: "cy", name: "Cy" }, added: [], removed: ["👎"] });
    const dee = { author: { id: "dee", name: "Dee", isBot: true } };
    await react(world, { ...dee, added: [], removed: ["🎉"] });
    await react(world, { ...dee, id: "p1", added: ["a", "b"], removed: ["c"] });
    expect((await shown(world)).map((line) => line.slice(26, 70))).toEqual([
      "Bo reacted ❤ to your message id:p1 “Soup it ",
      "Dee (bot) reacted a b instead of 🎉 c to your".slice(0, 44),
    ]);
  });

  test("delivered twice by the platform is shown once", async () => {
    const world = await answered();
    await react(world, { reactionId: "7" });
    await react(world, { reactionId: "7", removed: ["👍"], added: [] });
    expect(await shown(world)).toHaveLength(1);
  });

  test("of somebody who may not speak here is not heard, nor is one to somebody else's", async () => {
    const access = { groupPolicy: "allowlist", groups: { "telegram:room": {} } };
    const world = await answered({ access: { ...access, groupAllowFrom: ["telegram:ann"] } });
    await react(world);
    await react(world, { id: "m1", author: { id: "ann" } });
    expect(await shown(world)).toEqual([]);
    await react(world, { author: { id: "ann", name: "Ann" } });
    expect(await shown(world)).toHaveLength(1);
  });

  test("by the hundred pushes no message out of the context, and the newest are shown", async () => {
    const world = await answered();
    await world.say("bread too", { author: { id: "bo", name: "Bo" } });
    for (let n = 0; n < 100; n += 1) await react(world, { author: { id: `u${n}` } });
    const lines = await shown(world);
    expect(lines).toHaveLength(20);
    expect(lines[0]).toContain("u80 reacted");
    expect(prompts(world.lines).at(-1)?.text).toContain("bread too");
  });

  test("is in a recording, and its replay shows it", async () => {
    const world = await answered();
    await react(world);
    await shown(world);
    const lines: Record<string, unknown>[] = [];
    for await (const line of recordScenario(world.store, { since: 0 }))
      lines.push(line as unknown as Record<string, unknown>);
    const played = prompts(await play(lines, { prompts: true }));
    expect(played.map(({ text }) => text.includes("Bo reacted 👍 to your message"))).toEqual([
      false,
      true,
    ]);
  });
});

const stories = fc.array(
  fc.record({
    who: fc.constantFrom("ann", "bo", "cy"),
    to: fc.constantFrom<"us" | "other" | undefined>("us", "other", undefined),
    waits: fc.constantFrom(10, 700, 1_000_000),
    reacts: fc.boolean(),
  }),
  { minLength: 1, maxLength: 20 },
);

property([stories])("reactions change no decision", (story) => {
  const decided = (withReactions: boolean) => {
    const rig = new Rig();
    return story.map(({ who, to, waits, reacts }) => {
      const rule = rig.say(who, "hm", to === undefined ? {} : { to });
      rig.wait(waits);
      if (rig.conversation.busy) rig.reply();
      if (reacts && withReactions) rig.react(rig.conversation.context.ownMessages.at(-1) ?? "x");
      return `${rule} ${JSON.stringify(rig.conversation.view().credits)}`;
    });
  };
  expect(decided(true)).toEqual(decided(false));
});
