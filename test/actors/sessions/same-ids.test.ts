/**
 * Several chats in one session: platforms count messages in each chat from 1, so two of them may have
 * the same id. What happens to one of them happens to no other.
 */
import { expect, onTestFinished, test } from "vitest";
import { deletionSchema, editSchema, reactionSchema } from "../../../src/domain/message.ts";
import { prompts } from "../../support/replay/replay.ts";
import { World } from "../../support/runtime/world.ts";

const attic = { channel: "telegram", chat: { id: "attic", kind: "group" } } as const;
const room = { channel: "telegram", chat: { id: "room", kind: "group" } } as const;
const ann = { id: "ann", name: "Ann" };
const bob = { id: "bob", name: "Bob" };
const called = { mentions: [{ id: "bot", isSelf: true }] };

async function started(config: Record<string, unknown> = {}): Promise<World> {
  const shared = { session: { scope: "global" }, ...config };
  const world = await new World({ prompts: true, config: shared }).start();
  onTestFinished(() => world.runtime.stop());
  return world;
}

type Place = typeof attic | typeof room;
const remove = (world: World, place: Place, id: string) => {
  const deletion = deletionSchema.parse({ ...place, id });
  return world.runtime.ingest("telegram", "default", [{ type: "delete", deletion }]);
};
const edit = (world: World, place: Place, id: string, text: string, author = ann) => {
  const edited = editSchema.parse({ ...place, id, text, author });
  return world.runtime.ingest("telegram", "default", [{ type: "edit", edit: edited }]);
};
const newest = (world: World) => prompts(world.lines).at(-1)?.text ?? "";
const asked = async (world: World, place: Place = room) => {
  await world.say("so?", { ...place, ...called });
  await world.pass(10_000);
  return newest(world);
};

test("a deletion takes no line of another chat out of what was overheard", async () => {
  const world = await started();
  await world.say("soup for all", { ...room, id: "1" });
  await world.say("bread for all", { ...attic, id: "1", author: bob });
  await remove(world, attic, "1");
  const prompt = await asked(world);
  expect(prompt).toContain("soup for all");
  expect(prompt).not.toContain("bread for all");
});

test("an edit in another chat takes no earlier edit back", async () => {
  const world = await started();
  await world.say("soup", { ...room, id: "1" });
  await edit(world, room, "1", "hot soup");
  await edit(world, attic, "1", "bread", bob);
  expect(await asked(world)).toContain("hot soup");
});

test("an edit of what a turn has read is shown, whatever else has its id", async () => {
  const world = await started();
  await world.say("soup", { ...room, id: "1" });
  await world.say("bread", { ...attic, id: "1", author: bob });
  await asked(world);
  await edit(world, attic, "1", "fresh bread", bob);
  await edit(world, room, "1", "hot soup");
  const prompt = await asked(world);
  expect(prompt).toContain("fresh bread");
  expect(prompt).toContain("hot soup");
});

test("a deletion takes no edit of another chat's message out", async () => {
  const world = await started();
  await world.say("soup", { ...room, id: "1" });
  await asked(world);
  await edit(world, room, "1", "hot soup");
  await remove(world, attic, "1");
  expect(await asked(world)).toContain("hot soup");
});

test("a deletion of a waiting message leaves the one of another chat waiting", async () => {
  const world = await started();
  await world.say("soup?", { ...room, ...called, id: "1" });
  await world.say("bread?", { ...attic, ...called, id: "1", author: bob });
  await remove(world, attic, "1");
  await world.pass(20_000);
  expect(world.sent.map(({ chat, replyTo }) => [chat, replyTo])).toEqual([["room", "1"]]);
});

test("an answer replies to no id that was heard in another chat only", async () => {
  const world = await started();
  await world.say("bread", { ...attic, id: "7", author: bob });
  await world.say("soup", { ...room, id: "8" });
  world.runs.push({ afterMs: 0, steps: [{ text: "[[reply_to: 7]]Yes." }] });
  await asked(world);
  world.runs.push({ afterMs: 0, steps: [{ text: "[[reply_to: 8]]No." }] });
  await asked(world);
  expect(world.sent.map(({ replyTo }) => replyTo)).not.toContain("7");
  expect(world.sent.at(-1)?.replyTo).toBe("8");
});

test("a reply or a reaction to another chat's id is none to us", async () => {
  const world = await started();
  await asked(world);
  expect(world.sent).toHaveLength(1);
  await world.say("I agree", { ...attic, author: bob, replyTo: { id: "p1" } });
  await world.pass(1_000);
  expect(world.decisions().at(-1)).toMatchObject({ decision: "observe" });
  const reaction = reactionSchema.parse({ ...attic, id: "p1", author: bob, added: ["👍"] });
  await world.runtime.ingest("telegram", "default", [{ type: "reaction", reaction }]);
  expect(await asked(world)).not.toContain("👍");
  await world.say("I agree", { ...room, author: bob, replyTo: { id: "p1" } });
  await world.pass(1_000);
  expect(world.decisions().at(-1)?.decision).toBe("engage");
});
