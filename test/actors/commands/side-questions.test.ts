/**
 * `/btw`: the agent answers beside the conversation. The session, a running turn and what waits stay
 * as they are.
 */
import { expect, test } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import { saying } from "../../support/agents/recording-agent.ts";
import { directKey, sessionWorld } from "../../support/runtime/session-world.ts";

const direct = { direct: true };

test("a side question is answered from the transcript while a turn runs, and changes neither", async () => {
  const world = await sessionWorld();
  await world.talk("we meet at eight", direct);
  world.answers.push(async function* () {
    await world.released;
    yield { type: "text", text: "a long story" };
  });
  await world.say("tell me a story", direct);
  await world.pass(1_000);
  const before = await world.transcript();
  world.answers.push(() => saying("At eight."));
  await world.say("/btw when do we\nmeet?", { ...direct, id: "aside" });
  await world.pass(5_000);
  expect(world.sent.at(-1)?.text).toBe("At eight.");
  expect(await world.transcript()).toEqual(before);
  const aside = world.turns.at(-1);
  expect(aside?.tools).toEqual([]);
  expect(aside?.prompt).toMatch(/^## Side question .*\n\n<room-text /);
  expect(aside?.prompt).toContain("when do we\n  meet?");
  expect(JSON.stringify(aside?.transcript)).toContain("we meet at eight");
  world.open();
  await world.pass(5_000);
  expect(world.sent.at(-1)?.text).toBe("a long story");
  await world.talk("and then?", direct);
  const last = JSON.stringify(world.turns.at(-1)?.transcript);
  expect(last).toContain("a long story");
  expect(last).not.toMatch(/when do we|At eight/);
  const used = (await world.runtime.session(directKey))?.usage;
  expect(used).toMatchObject({ turns: 3, inputTokens: 30 });
  await world.runtime.stop();
});

test("it is answered in a room without a session, too, and once", async () => {
  const world = await sessionWorld();
  await world.say("/btw who are you?", { ...direct, id: "aside" });
  await world.say("/btw who are you?", { ...direct, id: "aside" });
  await world.pass(5_000);
  expect(world.sent).toHaveLength(1);
  expect(world.turns).toHaveLength(1);
  expect(await world.runtime.session(directKey)).toBeNull();
  await world.runtime.stop();
});

test("a failed one says so, and so does one too many", async () => {
  const world = await sessionWorld();
  world.answers.push(() => {
    throw new Error("no model");
  });
  await world.talk("/btw really?", direct);
  expect(world.sent.at(-1)?.text).toMatch(/^\/btw: no answer \(/);
  for (let asked = 0; asked < limits.sideQuestionsCountMax; asked += 1)
    world.answers.push(async function* () {
      await world.released;
      yield { type: "text", text: "now" };
    });
  const before = world.sent.length;
  for (let asked = 0; asked <= limits.sideQuestionsCountMax; asked += 1)
    await world.say("/btw really?", direct);
  await world.pass(1_000);
  expect(world.sent.slice(before).map(({ text }) => text)).toEqual([
    "/btw: no answer (too many side questions at once).",
  ]);
  world.open();
  await world.pass(5_000);
  expect(world.sent.slice(before)).toHaveLength(limits.sideQuestionsCountMax + 1);
  await world.runtime.stop();
});

test("from somebody without authority it is text for the agent", async () => {
  const world = await sessionWorld();
  await world.talk("/btw who?", {
    direct: true,
    author: { id: "bob" },
    chat: { id: "bob", kind: "direct" },
  } as object);
  expect(world.turns.map(({ said }) => said)).toEqual(["/btw who?"]);
  await world.runtime.stop();
});
