/**
 * Several agents in one earshot: each with its own driver, model, tools and rules over shared
 * defaults, in its own session; a broken, removed or added agent does not affect the others.
 */
import { describe, expect, test } from "vitest";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import type { AgentDriver, AgentTurn } from "../../../src/domain/ports/index.ts";
import { createRecorder } from "../../support/agents/recording-agent.ts";
import { roommate } from "../../support/agents/roommate-agent.ts";
import { World } from "../../support/runtime/world.ts";

const minute = 60_000;
const recording = { kind: "recording" };
const key = (agentId: string) => `agent:${agentId}:telegram:group:room`;
const room = (ids: readonly string[], more: object = {}) => ({
  broadcast: { strategy: "sequential", "telegram:room": ids },
  engagement: { activation: "always" },
  ...more,
});

async function open(config: Record<string, unknown>) {
  const recorder = createRecorder();
  const drivers = [recorder.driver, roommate as AgentDriver];
  const world = await new World({ drivers, config }).start();
  const turnOf = (agentId: string) =>
    recorder.turns.find((turn) => turn.agentId === agentId) as AgentTurn;
  return { world, recorder, turnOf };
}
const said = (world: World) => world.sent.map(({ text }) => text);

describe("an agent of several", () => {
  test("has the shared defaults, and what its own entry says instead", async () => {
    const { world, turnOf } = await open({
      agents: {
        defaults: { driver: recording, model: "small", thinking: "low" },
        list: [
          { id: "scout", system: "You scout." },
          { id: "rover", model: "large", thinking: "high", tools: ["channel_react"] },
        ],
      },
      ...room(["scout", "rover"]),
    });
    await world.say("hello", { id: "1" });
    await world.pass(minute);
    const [scout, rover] = [turnOf("scout"), turnOf("rover")];
    expect([scout.model, scout.thinking]).toEqual(["small", "low"]);
    expect([rover.model, rover.thinking]).toEqual(["large", "high"]);
    expect(scout.system).toMatch(/^You are scout, .*\n\nYou scout\.$/su);
    expect(rover.system).not.toContain("You scout.");
    expect(scout.tools.map(({ name }) => name)).toContain("channel_disengage");
    expect(rover.tools.map(({ name }) => name)).toEqual(["channel_react"]);
    expect(scout.sessionKey).not.toBe(rover.sessionKey);
    const ids = (await world.runtime.sessions({ limit: 9 })).map(({ agentId }) => agentId);
    expect(ids.toSorted()).toEqual(["rover", "scout"]);
  });

  test("may not use a tool that it was not given", async () => {
    const answers: string[] = [];
    const { world, recorder } = await open({
      agents: { list: [{ id: "rover", driver: recording, tools: ["channel_react"] }] },
      engagement: { activation: "always" },
    });
    recorder.answers.push(async function* (turn) {
      for (const [name, input] of [
        ["channel_send", { text: "psst" }],
        ["channel_react", { emoji: "👍" }],
      ] as const)
        answers.push(await turn.callTool(name, input));
      yield { type: "text", text: "done" };
    });
    await world.say("hello", { id: "1" });
    await world.pass(minute);
    expect(answers).toEqual(["Refused: there is no such tool here.", "Reacted."]);
    expect(said(world)).toEqual(["done"]);
  });

  test("has rules of its own", async () => {
    const { world } = await open({
      agents: {
        defaults: { driver: recording },
        list: [
          { id: "scout", aliases: ["boss"], engagement: { activation: "mention" } },
          { id: "rover", loopGuard: { hardLimit: 1 } },
        ],
      },
      ...room(["scout", "rover"]),
    });
    await world.say("hello", { id: "1" });
    await world.say("boss?", { id: "2", author: { id: "bob" } });
    await world.pass(minute);
    const rules = world
      .decisions()
      .map(({ id, key, rule }) => `${id} ${String(key).split(":")[1]} ${rule}`);
    expect(rules.toSorted()).toEqual([
      ...["1 rover always", "1 scout default", "2 rover addressed-elsewhere", "2 scout alias"],
    ]);
  });

  test("whose driver is not there, or throws at once, leaves the others alone", async () => {
    for (const driver of [{ kind: "nowhere" }, { kind: "roommate", does: "fail", afterMs: 0 }]) {
      const { world } = await open({
        agents: {
          list: [
            { id: "scout", driver },
            { id: "rover", driver: recording },
          ],
        },
        ...room(["scout", "rover"]),
      });
      await world.say("hello", { id: "1" });
      await world.pass(5 * minute);
      expect(said(world)).toContain("re: hello");
      expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
    }
  });
});

describe("a new config", () => {
  const agents = (ids: readonly string[]) => ({
    agents: {
      list: ids.map((id) => ({ id, driver: { kind: "roommate", afterMs: 5_000, words: "here" } })),
    },
    ...room(ids),
  });

  test("puts an agent in: it hears from the next message on", async () => {
    const { world } = await open(agents(["scout"]));
    await world.say("one", { id: "1" });
    await world.pass(minute);
    await world.runtime.reload(scenarioConfig(agents(["scout", "rover"])));
    await world.say("two", { id: "2" });
    await world.pass(minute);
    expect(said(world)).toEqual(["scout: here", "scout: here", "rover: here"]);
  });

  test("takes an agent out while its turn runs and another waits for it", async () => {
    const { world } = await open(agents(["scout", "rover"]));
    await world.say("one", { id: "1" });
    await world.pass(3_000);
    await world.runtime.reload(scenarioConfig(agents(["rover"])));
    await world.pass(minute);
    expect(said(world)).toContain("rover: here");
    await world.say("two", { id: "2" });
    await world.pass(minute);
    expect(said(world).at(-1)).toBe("rover: here");
    expect(
      world
        .decisions()
        .filter(({ id }) => id === "2")
        .map((line) => line.key),
    ).toEqual([key("rover")]);
    expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
    expect(world.runtime.status().quarantined).toEqual([]);
  });

  test("takes an agent out whose turn has not begun, and the others still answer", async () => {
    const { world } = await open(agents(["scout", "rover", "medic"]));
    await world.say("one", { id: "1" });
    await world.pass(100);
    await world.runtime.reload(scenarioConfig(agents(["rover", "medic"])));
    await world.restart(agents(["rover", "medic"]));
    await world.pass(5 * minute);
    expect(said(world).filter((text) => !text.startsWith("scout"))).toEqual([
      "rover: here",
      "medic: here",
    ]);
    expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
  });
});
