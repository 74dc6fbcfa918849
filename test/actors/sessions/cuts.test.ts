/**
 * A session that begins by hand is a cut: what was said before it is answered in the session before
 * it, also if it was still in its window or in line, and never together with what came after.
 */
import { describe, expect, test } from "vitest";
import { saying } from "../../support/agents/recording-agent.ts";
import {
  directKey,
  roomKey,
  type SessionWorld,
  sessionWorld,
} from "../../support/runtime/session-world.ts";

/** The words of people in each session of a conversation, oldest session first. */
async function heardIn(world: SessionWorld, key: string) {
  const found = await world.store.sessions({ all: true, limit: 10 });
  const own = found.filter((session) => session.key === key);
  own.sort((a, b) => Number(b.archivedAt !== null) - Number(a.archivedAt !== null));
  return Promise.all(
    own.map(async ({ sessionId }) => {
      const lines = await world.transcript(sessionId);
      return lines.flatMap(({ role, text }) => (role === "user" ? [text] : []));
    }),
  );
}

const batches = (world: SessionWorld) =>
  world.events("agent_start").flatMap((line) => ("batch" in line ? [line.batch] : []));

describe("what was said before /new", () => {
  test("and is still in its window belongs to the session before", async () => {
    const world = await sessionWorld();
    await world.say("old question", { direct: true, id: "old" });
    await world.pass(100);
    await world.say("/new fresh start", { direct: true, id: "fresh" });
    await world.pass(10_000);
    expect(batches(world)).toEqual([["old"], ["fresh"]]);
    expect(await heardIn(world, directKey)).toEqual([["old question"], ["fresh start"]]);
    expect(world.turns.at(-1)?.transcript).toEqual([]);
    await world.runtime.stop();
  });

  test.each(["collect", "followup", "queue", "steer"])(
    "and waits in line behind a turn belongs to the session before (%s)",
    async (mode) => {
      const world = await sessionWorld({ messages: { queue: { mode } } });
      world.answers.push(async function* () {
        await world.released;
        yield* saying("one");
      });
      await world.say("first", { direct: true, id: "first" });
      await world.pass(1_000);
      await world.say("queued question", { direct: true, id: "queued" });
      await world.pass(1_000);
      await world.say("/new fresh start", { direct: true, id: "fresh" });
      await world.pass(1_000);
      world.open();
      await world.pass(20_000);
      expect(batches(world).at(-1)).toEqual(["fresh"]);
      expect(await heardIn(world, directKey)).toEqual([
        ["first", "queued question"],
        ["fresh start"],
      ]);
      expect(world.turns.at(-1)?.transcript).toEqual([]);
      await world.runtime.stop();
    },
  );

  test.each([1, 2, 3, 4, 5])(
    "and is in a turn that a process which ended right then has begun (%d) belongs to the session before",
    async (commits) => {
      const world = await sessionWorld();
      await world.talk("first", { direct: true, id: "first" });
      await world.talk("/new", { direct: true });
      await world.say("old question", { direct: true, id: "old" });
      await world.pass(499);
      world.clock.advanceTo(world.clock.now() + 1);
      for (let tick = 0; tick < 40; tick += 1) await Promise.resolve();
      await world.say("/new", { direct: true });
      world.disk.fail({ at: commits, forever: true });
      await world.runtime.settled();
      world.disk.drop(true);
      world.disk.heal();
      await world.kill();
      await world.pass(10_000);
      await world.talk("fresh start", { direct: true, id: "fresh" });
      expect(await heardIn(world, directKey)).toEqual([
        ["first"],
        ["old question"],
        ["fresh start"],
      ]);
      await world.runtime.stop();
    },
  );

  test("and is in a turn that is stopped before its agent was called belongs to the session before", async () => {
    const world = await sessionWorld();
    await world.talk("first", { direct: true, id: "first" });
    await world.say("old question", { direct: true, id: "old" });
    await world.pass(499);
    world.clock.advanceTo(world.clock.now() + 1);
    for (let tick = 0; tick < 40; tick += 1) await Promise.resolve();
    const ordered = ["/new", "/stop"].map((text) => world.say(text, { direct: true }));
    await Promise.all(ordered);
    await world.pass(10_000);
    expect(world.events("agent_end").at(-1)).toMatchObject({ outcome: "cancelled" });
    expect(await heardIn(world, directKey)).toEqual([["first", "old question"], []]);
    await world.runtime.stop();
  });

  test("by the operator's hand is a cut, too", async () => {
    const world = await sessionWorld();
    await world.talk("hello", { direct: true });
    await world.say("old question", { direct: true, id: "old" });
    await world.pass(100);
    await world.runtime.resetSession(directKey);
    await world.pass(10_000);
    expect(await heardIn(world, directKey)).toEqual([["hello", "old question"], []]);
    await world.runtime.stop();
  });

  test("and was only overheard stays with the turn that it came before", async () => {
    const world = await sessionWorld();
    const bob = { author: { id: "bob", name: "Bob" } };
    await world.say("early chatter", bob);
    await world.say("earshot, old question", { id: "old" });
    await world.pass(100);
    await world.say("/new", {});
    await world.say("late chatter", bob);
    await world.pass(10_000);
    await world.say("earshot, fresh start", { id: "fresh" });
    await world.pass(10_000);
    const [old, fresh] = world.turns.map(({ prompt }) => prompt);
    expect(old).toContain("early chatter");
    expect(old).not.toContain("late chatter");
    expect(fresh).toContain("late chatter");
    expect(await heardIn(world, roomKey)).toEqual([
      ["earshot, old question"],
      ["earshot, fresh start"],
    ]);
    await world.runtime.stop();
  });
});

describe("a trigger with a colon", () => {
  test.each(["/new: fresh start", "/NEW:fresh start", "/reset: fresh start"])(
    "%s begins a session with what follows it",
    async (text) => {
      const world = await sessionWorld();
      await world.talk("hello", { direct: true });
      await world.talk(text, { direct: true });
      expect(await heardIn(world, directKey)).toEqual([["hello"], ["fresh start"]]);
      await world.runtime.stop();
    },
  );

  test("/new: alone begins one without a turn", async () => {
    const world = await sessionWorld();
    await world.talk("hello", { direct: true });
    await world.talk("/new:", { direct: true });
    expect(world.turns).toHaveLength(1);
    expect(await heardIn(world, directKey)).toEqual([["hello"], []]);
    await world.runtime.stop();
  });
});
