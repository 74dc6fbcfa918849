/**
 * `/wrong`: an owner's reply labels the decision on a message, or on the one that an answer was for,
 * once, whatever happens to the process or the store in between.
 */
import { describe, expect, test } from "vitest";
import { type SessionWorld, sessionWorld } from "../../support/runtime/session-world.ts";
import { World } from "../../support/runtime/world.ts";

const owner = { commands: { ownerAllowFrom: ["telegram:ann"] } };
const bo = { id: "bo", name: "Bo" };

/** Gives a command as a reply and returns what is answered. */
async function reply(world: World, text: string, to: string | null, more: object = {}) {
  const before = world.sent.length;
  await world.say(text, { ...(to === null ? {} : { replyTo: { id: to } }), ...more });
  await world.pass(5_000);
  return world.sent.slice(before).map((one) => one.text);
}
const labelsOf = async (world: World, id: string) =>
  (await world.runtime.why(id)).map(({ key, label }) => [key, label?.expected ?? null]);
const labelOf = async (world: World, id: string) => (await labelsOf(world, id))[0]?.[1];

async function room(): Promise<SessionWorld> {
  const world = await sessionWorld(owner);
  await world.talk("nice day", { id: "m1", author: bo });
  await world.talk("earshot, where are you?", { id: "m2", author: bo });
  return world;
}

describe("/wrong", () => {
  test("as a reply to a line says that the other decision was right, and undo takes it back", async () => {
    const world = await room();
    expect(await reply(world, "/wrong", "m1")).toEqual(["Noted: I should have answered `m1`."]);
    expect(await reply(world, "/wrong", "m2")).toEqual([
      "Noted: I should have stayed quiet on `m2`.",
    ]);
    expect([await labelOf(world, "m1"), await labelOf(world, "m2")]).toEqual(["engage", "observe"]);
    const [why] = await world.runtime.why("m1");
    expect(why?.label?.by).toBe("telegram:ann");
    expect(await reply(world, "/why", "m1")).toMatchObject([
      expect.stringContaining("Label: telegram:ann says it should be answered"),
    ]);
    expect(await reply(world, "/wrong undo", "m1")).toEqual([
      "Undone: `m1` no longer has a label.",
    ]);
    expect(await labelOf(world, "m1")).toBeNull();
  });

  test("and /why, are about the message of their own chat, where a session has several", async () => {
    const world = await sessionWorld(owner);
    const direct = (id: string) => ({
      chat: { id, kind: "direct" as const },
      author: { id, name: id },
    });
    await world.talk("from Ann", { ...direct("ann"), id: "17" });
    await world.talk("from Bo", { ...direct("bo"), id: "17" });
    const said = async () =>
      (await world.runtime.why("17")).map(({ message, label }) => [message.text, label?.expected]);
    expect(await reply(world, "/wrong", "17", direct("ann"))).toEqual([
      "Noted: I should have stayed quiet on `17`.",
    ]);
    expect(await said()).toEqual([
      ["from Ann", "observe"],
      ["from Bo", undefined],
    ]);
    expect(await reply(world, "/why", "17", direct("ann"))).toEqual([
      expect.stringContaining("Label: telegram:ann"),
    ]);
    expect(await reply(world, "/wrong undo", "17", direct("ann"))).toEqual([
      "Undone: `17` no longer has a label.",
    ]);
    expect(await said()).toEqual([
      ["from Ann", undefined],
      ["from Bo", undefined],
    ]);
  });

  test("as a reply to an answer is about the newest message that was answered", async () => {
    const world = await room();
    await world.say("earshot, two things", { id: "m3", author: bo });
    await world.say("the second one", { id: "m4", author: bo });
    await world.pass(5_000);
    expect(world.sent).toHaveLength(2);
    for (let n = 0; n < 30; n += 1) await world.say(`chatter ${n}`, { author: bo });
    await world.pass(1_000);
    expect(await reply(world, "/wrong", "p2")).toEqual([
      "Noted: I should have stayed quiet on `m4`.",
    ]);
    expect(await reply(world, "/wrong", "p1")).toEqual([
      "Noted: I should have stayed quiet on `m2`.",
    ]);
    expect([await labelOf(world, "m2"), await labelOf(world, "m3")]).toEqual(["observe", null]);
  });

  test("without a reply, or to what was not decided here, labels nothing", async () => {
    const world = await room();
    expect(await reply(world, "/wrong", null)).toEqual([
      "Reply with /wrong to the message, or to my answer.",
    ]);
    const none = ["No such message was decided here."];
    expect(await reply(world, "/wrong", "m99")).toEqual(none);
    const answers = await reply(world, "/wrong", null);
    expect(answers).toHaveLength(1);
    // The answer to a command is no answer of the agent.
    expect(await reply(world, "/wrong", `p${world.sent.length}`)).toEqual(none);
    expect(await reply(world, "/wrong sideways", "m1")).toEqual([
      expect.stringMatching(/^`\/wrong \[undo\]`/u),
    ]);
    expect(await labelOf(world, "m1")).toBeNull();
  });

  test("is for owners: from others it is text, also from those who may give other commands", async () => {
    const world = await sessionWorld({
      commands: { ownerAllowFrom: ["telegram:root"], allowFrom: { "*": ["telegram:ann"] } },
    });
    await world.talk("nice day", { id: "m1", author: bo });
    expect(await reply(world, "/wrong", "m1")).toEqual([]);
    expect(await reply(world, "/wrong", "m1", { author: bo })).toEqual([]);
    expect(await labelOf(world, "m1")).toBeNull();
  });

  test("labels once, though the store fails in between and the message comes twice", async () => {
    const world = await room();
    const order = { id: "w1", replyTo: { id: "m1" } };
    for (let at = 2; at < 7; at += 1) {
      world.disk.fail({ at });
      await world.say("/wrong", { ...order, id: `w${at}` }).catch(() => undefined);
      await world.pass(30_000);
      world.disk.heal();
      await world.say("/wrong", { ...order, id: `w${at}` });
      await world.pass(30_000);
    }
    await world.kill();
    await world.pass(30_000);
    expect(await labelOf(world, "m1")).toBe("engage");
    const rows = await world.store.eventsByMessage("m1");
    expect(rows.filter(({ body }) => body.includes("message.labelled"))).toHaveLength(1);
    const confirmed = world.sent.filter(({ text }) => text.startsWith("Noted"));
    expect(confirmed).toHaveLength(5);
  });
});

describe("/wrong where several agents share a room", () => {
  const key = (agentId: string) => `agent:${agentId}:telegram:group:room`;
  async function shared(): Promise<World> {
    const scripted = { kind: "scripted" };
    const world = await new World({
      config: {
        ...owner,
        agents: {
          list: ["scout", "rover"].map((id) => ({ id, name: id, driver: scripted })),
        },
        broadcast: { "telegram:room": ["scout", "rover"] },
      },
    }).start();
    world.runs.push({ afterMs: 0, steps: [{ text: "here" }] });
    await world.say("nice day", { id: "m1", author: bo });
    await world.say("scout, where are you?", { id: "m2", author: bo });
    await world.pass(5_000);
    return world;
  }

  test("the one that answered takes the label, on the line and on its answer", async () => {
    const world = await shared();
    for (const to of ["m2", "p1"]) {
      expect(await reply(world, "/wrong", to)).toEqual([
        "scout: Noted: I should have stayed quiet on `m2`.",
      ]);
      expect((await labelsOf(world, "m2")).toSorted()).toEqual([
        [key("rover"), null],
        [key("scout"), "observe"],
      ]);
    }
  });

  test("where none answered, it is asked which should have, and a name says so", async () => {
    const world = await shared();
    const answers = await reply(world, "/wrong", "m1");
    expect(answers).toEqual([expect.stringContaining("Which agent should have answered?")]);
    expect(await reply(world, "rover: /wrong", "m1")).toEqual([
      "rover: Noted: I should have answered `m1`.",
    ]);
    expect((await labelsOf(world, "m1")).toSorted()).toEqual([
      [key("rover"), "engage"],
      [key("scout"), null],
    ]);
  });
});
