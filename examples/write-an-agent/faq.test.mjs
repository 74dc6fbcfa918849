// The contract of every driver of earshot, checked for this one, and tests of its own.
import { readFileSync } from "node:fs";
import { agentContract, collect, openAgent, sampleTurn, spoken } from "earshot/testing";
import { expect, test } from "vitest";
import driver from "./faq.mjs";

const entries = JSON.parse(readFileSync(new URL("entries.json", import.meta.url), "utf8"));
const hello = (answer) => [{ about: "hello", answer }];

agentContract({
  name: "faq",
  driver,
  speaking: async () => ({ config: { entries: hello("Good morning!") }, answer: "Good morning!" }),
  hanging: async () => ({ entries: hello("One two"), paceMs: 60_000 }),
  babbling: async () => ({ entries: hello("la ".repeat(10_000)), paceMs: 1 }),
  calling: async (_name, { emoji = "🤷" }) => ({ entries: [], shrug: emoji }),
});

test("a question in other words finds its entry", async () => {
  const agent = await openAgent(driver, { entries, paceMs: 0 });
  const said = "hey, is there COFFEE somewhere?";
  expect(spoken(await collect(agent, sampleTurn({ said })))).toMatch(/^Second floor/u);
});

test("a question that is added while it speaks is answered in the same turn", async () => {
  const agent = await openAgent(driver, { entries, paceMs: 5 });
  const turn = sampleTurn({ said: "When is lunch?" });
  let said = "";
  for await (const event of agent.run(turn, { signal: new AbortController().signal })) {
    if (said === "") expect(agent.steer(turn.turnId, "and the coffee?")).toBe(true);
    said += event.text ?? "";
  }
  expect(said).toBe("At one o'clock.Second floor, beside the stairs.");
  expect(agent.steer(turn.turnId, "and tea?")).toBe(false);
});
