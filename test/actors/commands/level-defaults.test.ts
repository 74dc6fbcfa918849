/** The levels of an agent's config hold where neither the session nor a message says otherwise. */
import { expect, test } from "vitest";
import { saying } from "../../support/agents/recording-agent.ts";
import { directKey, sessionWorld } from "../../support/runtime/session-world.ts";

const direct = { direct: true };
const agents = {
  list: [{ id: "main", name: "Scout" }],
  defaults: {
    driver: { kind: "recording" },
    thinking: "low",
    reasoningDefault: "on",
    elevatedDefault: "ask",
    verboseDefault: "full",
  },
};

test("reasoning is shown as configured, as the session says, and as a message says for its turn", async () => {
  const world = await sessionWorld({ agents });
  const shown = async (text: string) => {
    const before = world.sent.length;
    world.answers.push(async function* () {
      yield { type: "reasoning", text: "because" };
      yield* saying("so");
    });
    await world.talk(text, direct);
    return world.sent.slice(before).map((sent) => sent.text);
  };
  expect(await shown("why?")).toEqual(["💭 Reasoning\n> because", "so"]);
  expect(await shown("/reasoning off why?")).toEqual(["so"]);
  expect(await shown("why?")).toEqual(["💭 Reasoning\n> because", "so"]);
  await world.talk("/reasoning off", direct);
  expect(await shown("why?")).toEqual(["so"]);
  const settings = (await world.runtime.session(directKey))?.settings;
  expect(settings).toMatchObject({ reasoning: "off", verbose: null, elevated: null });
  await world.runtime.updateSession(directKey, { reasoning: null });
  expect(await shown("why?")).toEqual(["💭 Reasoning\n> because", "so"]);
  await world.runtime.stop();
});

test("a turn may do what is configured, and /status says so", async () => {
  const world = await sessionWorld({ agents });
  await world.talk("hello", direct);
  expect(world.turns[0]?.permissions).toMatchObject({ elevated: "ask" });
  await world.talk("/status", direct);
  expect(world.sent.at(-1)?.text).toContain(
    "thinking low, verbose full, reasoning on, elevated ask",
  );
  await world.talk("/verbose", direct);
  expect(world.sent.at(-1)?.text).toBe("Verbose: full.");
  await world.runtime.stop();
});

test("an agent's own level is over the shared one", async () => {
  const own = { id: "main", name: "Scout", verboseDefault: "off" };
  const world = await sessionWorld({ agents: { ...agents, list: [own] } });
  await world.talk("/verbose", direct);
  expect(world.sent.at(-1)?.text).toBe("Verbose: off.");
  await world.runtime.stop();
});
