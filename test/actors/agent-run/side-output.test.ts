/**
 * What a session shows besides the answers: thoughts and tool steps, through the whole runtime.
 */
import { describe, expect, test } from "vitest";
import type { ScriptedRun } from "../../../src/domain/scenario/script.ts";
import { World } from "../../support/runtime/world.ts";

type Step = ScriptedRun["steps"][number];
const key = "agent:main:main";
const pause: Step = { waitMs: 1_500 };

async function asking(
  patch: object,
  steps: readonly Step[],
  options: { config?: Record<string, unknown>; canEdit?: boolean } = {},
): Promise<World> {
  const world = await new World({ config: options.config ?? {} }).start();
  world.canEdit = options.canEdit ?? true;
  await world.runtime.updateSession(key, patch);
  world.runs.push({ afterMs: 0, steps: [...steps] });
  await world.say("tea?", { direct: true });
  await world.pass(60_000);
  return world;
}

/** The agent's earlier answers in the prompt of its next turn. */
async function remembered(world: World): Promise<string[]> {
  const session = await world.runtime.session(key);
  const lines = await world.store.transcript({ sessionId: session?.sessionId ?? "", limit: 100 });
  return lines.flatMap(({ role, text }) => (role === "assistant" ? [text] : []));
}

const tools: readonly Step[] = [
  { tool: "kettle", input: { cups: 2 } },
  pause,
  { tool: "shelf", input: {} },
  pause,
];

describe("reasoning", () => {
  const steps: readonly Step[] = [
    { reasoning: "They would like tea. There is " },
    pause,
    { reasoning: "some on the shelf." },
    pause,
    { text: "Tea it is." },
  ];

  test("is hidden by default", async () => {
    expect((await asking({}, steps)).shown()).toEqual(["Tea it is."]);
  });

  test("on: a marked message before the answer, not remembered", async () => {
    const world = await asking({ reasoning: "on" }, steps);
    expect(world.shown()).toEqual([
      "💭 Reasoning\n> They would like tea. There is some on the shelf.",
      "Tea it is.",
    ]);
    expect(world.sends()[0]).toMatchObject({ aside: "reasoning" });
    expect(await remembered(world)).toEqual(["Tea it is."]);
  });

  test("stream: live in the message that the answer then takes over", async () => {
    const world = await asking({ reasoning: "stream" }, steps);
    expect(world.sent).toHaveLength(1);
    expect(world.edited[0]?.text).toContain("some on the shelf");
    expect(world.shown()).toEqual(["Tea it is."]);
    expect(await remembered(world)).toEqual(["Tea it is."]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
  });

  test("stream: a message before the answer where the platform cannot edit", async () => {
    const world = await asking({ reasoning: "stream" }, steps, { canEdit: false });
    expect(world.shown()).toHaveLength(2);
    expect(world.shown()[1]).toBe("Tea it is.");
  });
});

describe("tool steps", () => {
  test("are one message, edited in place, and not the answer", async () => {
    const world = await asking({ verbose: "on" }, [...tools, { text: "Here you are." }]);
    expect(world.sent).toHaveLength(2);
    const [status = "", answer] = world.shown();
    expect(status).toMatch(/`kettle`[\s\S]*`shelf`/);
    expect(status).not.toContain("cups");
    expect(answer).toBe("Here you are.");
    expect(await remembered(world)).toEqual(["Here you are."]);
  });

  test("are shown in the middle of an answer, too", async () => {
    const steps = [{ text: "Let me see." }, { messageEnd: true } as const, pause, ...tools];
    const world = await asking({ verbose: "on" }, [...steps, { text: "Here you are." }]);
    const [first, status = "", last] = world.shown();
    expect([first, last]).toEqual(["Let me see.", "Here you are."]);
    expect(status).toMatch(/`kettle`[\s\S]*`shelf`/);
  });

  test("full: with what they were given", async () => {
    const world = await asking({ verbose: "full" }, [...tools, { text: "Here you are." }]);
    expect(world.shown()[0]).toContain('`{"cups":2}`');
  });

  test("of a silent turn leave it silent", async () => {
    const world = await asking({ verbose: "on" }, [...tools, { text: "NO_REPLY" }]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "silent" }]);
    expect(world.shown()).toHaveLength(1);
  });

  test("were shown when the host died: the turn goes on, and says its answer once", async () => {
    const world = await new World({}).start();
    await world.runtime.updateSession(key, { verbose: "on" });
    world.runs.push(
      { afterMs: 0, steps: [...tools, { text: "Here you are." }] },
      { afterMs: 0, steps: [{ text: "never asked for" }] },
    );
    await world.say("tea?", { direct: true });
    await world.pass(1_500);
    expect(world.sent).toHaveLength(1);
    await world.runtime.crashHost();
    await world.pass(60_000);
    expect(world.shown().filter((text) => text === "Here you are.")).toHaveLength(1);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
  });
});
