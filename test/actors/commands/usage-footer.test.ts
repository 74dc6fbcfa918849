/** Lines below an answer: what it used, and that another model answers than before. */
import { expect, test } from "vitest";
import type { AgentEvent } from "../../../src/domain/ports/index.ts";
import { directKey, sessionWorld } from "../../support/runtime/session-world.ts";

const direct = { direct: true };
const used = { type: "usage", inputTokens: 1_234, outputTokens: 56, costUsd: 0.0042 } as const;

async function world(defaults: object = {}) {
  const list = [{ id: "main", name: "Scout" }];
  const agents = { list, defaults: { driver: { kind: "recording" }, ...defaults } };
  const made = await sessionWorld({ agents });
  const ask = async (text: string, ...events: readonly AgentEvent[]) => {
    const before = made.sent.length;
    made.answers.push(async function* () {
      yield* events;
      yield { type: "text", text: "so" };
    });
    await made.talk(text, direct);
    return made.sent.slice(before).map((sent) => sent.text);
  };
  return { made, ask };
}

test("what an answer used stands below it as the session says, else as configured", async () => {
  const { made, ask } = await world({ usageDefault: "tokens" });
  expect(await ask("a", used)).toEqual(["so", "📊 1,234 tokens in, 56 out"]);
  expect(await ask("b")).toEqual(["so"]);
  await made.talk("/usage full", direct);
  expect(made.sent.at(-1)?.text).toContain("Below answers: full");
  const [, line] = await ask("c", used);
  expect(line).toMatch(/^📊 1,234 tokens in, 56 out, \$0\.0042, \d+\.\d s$/);
  await made.talk("/usage off", direct);
  expect(await ask("d", used)).toEqual(["so"]);
  await made.talk("/usage", direct);
  expect(made.sent.at(-1)?.text).toContain("Below answers: off");
  await made.runtime.stop();
});

test("the line is no part of what the agent is shown, and no silent turn has one", async () => {
  const { made, ask } = await world({ usageDefault: "full" });
  await ask("a", used);
  await ask("b");
  expect(JSON.stringify(made.turns.at(-1)?.transcript)).not.toContain("tokens in");
  const before = made.sent.length;
  made.answers.push(async function* () {
    yield used;
    yield { type: "text", text: "NO_REPLY" };
  });
  await made.talk("c", direct);
  expect(made.sent.slice(before)).toEqual([]);
  await made.runtime.stop();
});

test("a fallback is shown once where tool steps are, and once more when it is over", async () => {
  const fallback = {
    type: "fallback",
    from: "large",
    to: "small",
    why: "large failed (HTTP 429)",
  } as const;
  const { made, ask } = await world({ verboseDefault: "on" });
  expect(await ask("a", fallback)).toEqual([
    "so",
    "🔁 Answered by `small`. large failed (HTTP 429)",
  ]);
  expect(await ask("b", fallback)).toEqual(["so"]);
  expect(await ask("c", { ...fallback, to: "tiny" })).toHaveLength(2);
  expect(await ask("d")).toEqual(["so", "🔁 `large` answers again."]);
  expect(await ask("e")).toEqual(["so"]);
  await made.runtime.updateSession(directKey, { verbose: "off" });
  expect(await ask("f", fallback)).toEqual(["so"]);
  const logged = made.logged.filter(({ event }) => event.startsWith("agent.fallback"));
  expect(logged.map(({ event }) => event)).toEqual([
    "agent.fallback",
    "agent.fallback",
    "agent.fallback-over",
    "agent.fallback",
  ]);
  await made.runtime.stop();
});
