/**
 * A transcript that exceeds its agent's context: the same agent summarises the oldest part,
 * invisibly, nothing is deleted, and no turn fails because of it.
 */
import { expect, test } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import type { AgentTurn } from "../../../src/domain/ports/index.ts";
import { saying, untilStopped } from "../../support/agents/recording-agent.ts";
import {
  agentMain,
  directKey,
  type SessionWorld,
  sessionWorld,
} from "../../support/runtime/session-world.ts";

const small = {
  agents: { list: [{ ...agentMain, contextTokens: 1_000 }] },
  // Its tokens are counted, too.
  prompt: { system: "own" },
};
/** About 400 tokens. */
const long = (name: string) => `${name} ${"word ".repeat(315)}${name}`;
const said = ({ transcript }: AgentTurn) => transcript.map(({ text }) => text).join("\n");

/** Talks until one turn had to be summed up for; gives that turn. */
async function outgrow(world: SessionWorld, answers: SessionWorld["answers"] = []) {
  for (let n = 1; n <= 4; n += 1) {
    const before = world.turns.length;
    if (n === 3) world.answers.push(...answers);
    await world.talk(long(`m${n}`), { direct: true });
    if (world.turns.slice(before).some(world.isSummary)) return n;
  }
  return 0;
}
const short = () => saying("fine");

async function talked(answers: SessionWorld["answers"] = []) {
  const world = await sessionWorld(small);
  world.answers.push(short, short);
  const at = await outgrow(world, answers);
  return { world, at };
}

test("the oldest part is summed up in a turn without tools, which nobody is shown", async () => {
  const { world, at } = await talked([() => saying("they said m1 and m2"), short]);
  expect(at).toBe(3);
  const [summary, turn] = world.turns.slice(2) as [AgentTurn, AgentTurn];
  expect(world.isSummary(summary)).toBe(true);
  expect(summary).toMatchObject({ tools: [], system: turn.system });
  expect(await summary.callTool("channel_reply", { text: "hi" })).toMatch(/^Refused/);
  expect(said(summary)).toContain("m1");
  expect(said(turn)).toContain("they said m1 and m2");
  expect(said(turn)).not.toContain("m1 word");
  expect(world.sent.map(({ text }) => text)).toEqual(["fine", "fine", "fine"]);
  expect(world.events("agent_start")).toHaveLength(3);
});

const flushes = { session: { memoryFlush: true } };
const isFlush = ({ prompt }: AgentTurn) => prompt.includes("about to be summed up");

test("where the config asks for it, the agent writes down what lasts before each summary", async () => {
  const world = await sessionWorld({ ...small, ...flushes });
  const used = { type: "usage", inputTokens: 7_000, outputTokens: 1 } as const;
  world.answers.push(short, short);
  await outgrow(world, [
    async function* () {
      yield used;
      yield { type: "text", text: "NO_REPLY" };
    },
    () => saying("they said m1"),
    short,
  ]);
  const [flush, summary, turn] = world.turns.slice(2) as [AgentTurn, AgentTurn, AgentTurn];
  expect([isFlush(flush), world.isSummary(summary)]).toEqual([true, true]);
  expect(flush).toMatchObject({ tools: [], transcript: summary.transcript });
  expect(said(turn)).toContain("they said m1");
  expect(world.sent.map(({ text }) => text)).toEqual(["fine", "fine", "fine"]);
  expect(world.events("agent_start")).toHaveLength(3);
  const { usage } = (await world.runtime.session(directKey)) ?? {};
  expect(usage?.inputTokens).toBeGreaterThanOrEqual(7_000);
  expect(JSON.stringify(await world.transcript())).not.toContain("about to be");
});

test("one that fails is logged, and the summary is made", async () => {
  const session = { memoryFlush: "Write it down!" };
  const world = await sessionWorld({ ...small, session });
  world.answers.push(short, short);
  const fails: SessionWorld["answers"][number] = async function* () {
    yield { type: "error", message: "no", retryable: false };
  };
  await outgrow(world, [fails, () => saying("they said m1"), short]);
  expect(world.turns[2]?.prompt).toBe("Write it down!");
  expect(world.turns.filter(world.isSummary)).toHaveLength(1);
  expect(said(world.turns.at(-1) as AgentTurn)).toContain("they said m1");
  expect(world.logged).toContainEqual({ level: "warn", event: "sessions.memory-flush" });
});

test("its line stands for the old ones, which stay; it is counted and is in the file", async () => {
  const { world } = await talked([() => saying("they said m1"), short]);
  const lines = await world.transcript();
  const summary = lines.find(({ role }) => role === "summary");
  expect(summary?.text).toBe("they said m1");
  expect(lines.filter(({ role }) => role === "user")).toHaveLength(3);
  expect(lines.some(({ id }) => id === summary?.covers)).toBe(true);
  expect(world.files.lines()).toEqual(lines.map(({ sessionId: _, ...line }) => line));
  expect(await world.runtime.session(directKey)).toMatchObject({
    usage: { turns: 3, inputTokens: 40 },
  });
});

test("a later summary is made from the one before, and replaces it", async () => {
  const { world } = await talked([() => saying("first summary"), short]);
  for (let n = 4; n <= 8; n += 1) {
    world.answers.push((turn) => saying(world.isSummary(turn) ? `summary ${n}` : "fine"));
    world.answers.push((turn) => saying(world.isSummary(turn) ? `summary ${n}` : "fine"));
    await world.talk(long(`m${n}`), { direct: true });
    world.answers.splice(0);
  }
  const summaries = world.turns.filter(world.isSummary);
  expect(summaries.length).toBeGreaterThan(1);
  expect(said(summaries[1] as AgentTurn)).toContain("first summary");
  const last = world.turns.at(-1) as AgentTurn;
  expect(said(last)).not.toContain("first summary");
  expect(said(last)).toMatch(/summary \d/);
});

test.each([
  [
    "fails",
    async function* () {
      yield { type: "error", message: "no", retryable: false } as const;
    },
  ],
  ["says nothing", () => saying()],
] as const)(
  "an agent that %s at it loses the old lines, with a note, and not the turn",
  async (_, answer) => {
    const { world } = await talked([answer, short]);
    expect(world.sent.map(({ text }) => text)).toEqual(["fine", "fine", "fine"]);
    const turn = world.turns.at(-1) as AgentTurn;
    expect(said(turn)).toMatch(/\[\d earlier lines of this session were left out/);
    expect(said(turn)).not.toContain("m1 word");
    const note = (await world.transcript()).find(({ covers }) => covers !== undefined);
    expect(note).toMatchObject({ role: "note" });
    const rows = (await world.store.scan(0, 1_000)).map(({ body }) => JSON.parse(body) as object);
    expect(rows).toContainEqual(
      expect.objectContaining({ type: "session.compacted", summary: false }),
    );
    // Once: the next turn has room again.
    await world.talk("short", { direct: true });
    expect(world.turns.filter(world.isSummary)).toHaveLength(1);
  },
);

test("an agent that hangs at it is ended by the turn's time, and the turn goes on", async () => {
  const world = await sessionWorld({ ...small, turn: { maxMs: 10_000, idleMs: 10_000 } });
  world.answers.push(short, short);
  await outgrow(world, [(_, signal) => untilStopped(signal), short]);
  await world.pass(30_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["fine", "fine", "fine"]);
});

test("a stop ends the summary with the turn it was for, and leaves no note", async () => {
  const { world } = await talked([(_, signal) => untilStopped(signal)]);
  await world.runtime.abortTurn(directKey, "operator");
  await world.pass(5_000);
  expect(world.events("agent_end").at(-1)).toMatchObject({ outcome: "cancelled" });
  expect((await world.transcript()).filter(({ covers }) => covers !== undefined)).toEqual([]);
});

test("a process that dies meanwhile asks for it again", async () => {
  const { world } = await talked([(_, signal) => untilStopped(signal)]);
  expect(world.turns.filter(world.isSummary)).toHaveLength(1);
  world.answers.push(() => saying("what they said"), short);
  await world.restart();
  await world.pass(10_000);
  expect(world.turns.filter(world.isSummary)).toHaveLength(2);
  expect(world.sent.map(({ text }) => text)).toEqual(["fine", "fine", "fine"]);
  const lines = await world.transcript();
  expect(lines.filter(({ role }) => role === "summary")).toHaveLength(1);
  expect(lines.filter(({ role }) => role === "user")).toHaveLength(3);
});

test("by hand everything so far is summed up, once, and not while a turn runs", async () => {
  const world = await sessionWorld();
  expect(await world.runtime.compactSession(directKey)).toBe("empty");
  await world.talk("one", { direct: true });
  world.answers.push((_, signal) => untilStopped(signal));
  await world.talk("two", { direct: true });
  expect(await world.runtime.compactSession(directKey)).toBe("busy");
  await world.runtime.abortTurn(directKey, "operator");
  await world.pass(5_000);
  world.answers.push(() => saying("one was said"));
  expect(await world.runtime.compactSession(directKey)).toBe("done");
  expect(await world.runtime.compactSession(directKey)).toBe("empty");
  await world.talk("three", { direct: true });
  expect(world.turns.at(-1)?.transcript.map(({ text }) => text)).toEqual([
    "[Your summary of what was said before]\none was said",
  ]);
});

/** A summary is made by hand, until `open`, and "two" is said meanwhile. */
async function saidDuringSummary() {
  const world = await sessionWorld();
  await world.talk("one", { direct: true });
  world.answers.push(async function* () {
    await world.released;
    yield* saying("one was said");
  });
  const done = world.runtime.compactSession(directKey);
  await world.say("two", { direct: true });
  return { world, done };
}

test("a turn that comes while a summary is made by hand waits for it", async () => {
  const { world, done } = await saidDuringSummary();
  world.clock.advanceTo(world.clock.now() + 1_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(world.turns).toHaveLength(2);
  world.open();
  expect(await done).toBe("done");
  await world.pass(5_000);
  expect(world.turns.at(-1)?.transcript.at(0)?.text).toContain("one was said");
});

test("a turn that waits for a summary made by hand can be stopped meanwhile", async () => {
  const { world, done } = await saidDuringSummary();
  await world.pass(1_000);
  await world.say("/stop", { direct: true });
  await world.pass(2_000);
  expect(world.events("agent_end").at(-1)).toMatchObject({ turn: 2, outcome: "cancelled" });
  expect(world.typing.at(-1)).toBe(false);
  world.open();
  expect(await done).toBe("done");
  await world.talk("three", { direct: true });
  expect(world.sent.at(-1)?.text).toBe("re: three");
});

test("a transcript that fits is given as it is", async () => {
  const world = await sessionWorld(small);
  for (let n = 0; n < 5; n += 1) await world.talk(`short ${n}`, { direct: true });
  expect(world.turns.filter(world.isSummary)).toEqual([]);
  expect(world.turns.at(-1)?.transcript).toHaveLength(8);
});

test("a transcript of as many lines as a turn may get is summed up, however short they are", async () => {
  const world = await sessionWorld();
  await world.talk("one", { direct: true });
  const [said] = await world.transcript();
  if (said === undefined) throw new Error("nothing was written");
  const older = Array.from({ length: limits.transcriptLinesMax }, (_, n) => ({
    ...said,
    id: said.id + 100 + n,
    turnId: `t${n}`,
    text: `line ${n}`,
  }));
  await world.store.commit(older.map((line) => ({ kind: "transcript", conv: 1, line }) as const));
  await world.restart();
  await world.talk("two", { direct: true });
  expect(world.turns.filter(world.isSummary)).toHaveLength(1);
  expect(world.turns.at(-1)?.transcript.length).toBeLessThan(limits.transcriptLinesMax);
});
