/**
 * Files and choices in an answer: their place in the order, their outcome, what a channel without
 * them sends, what the agent learns, and what a request that cannot be carried out costs.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordScenario } from "../../../src/actors/recording/recorder.ts";
import { openOutgoingFiles } from "../../../src/adapters/media/outgoing-files.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { AgentEvent, AgentTurn, OutgoingFiles } from "../../../src/domain/ports/index.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { play } from "../../support/replay/replay.ts";
import { type SessionWorld, sessionWorld } from "../../support/runtime/session-world.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import type { Fate } from "../../support/runtime/world.ts";
import { sampleFiles } from "../../support/servers/media.ts";

type Answer = (turn: AgentTurn) => AsyncIterable<AgentEvent>;

/** A workspace with a picture, and the files of a world in which the agent has it. */
function place() {
  const stateDir = newFolder();
  const workspace = join(stateDir, "agents", "main");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "chart.png"), sampleFiles.png);
  writeFileSync(join(workspace, "empty"), "");
  mkdirSync(join(workspace, "folder"));
  mkdirSync(join(workspace, "sessions"));
  writeFileSync(join(workspace, "sessions", "sessions.json"), "{}");
  symlinkSync("/etc/passwd", join(workspace, "link"));
  symlinkSync("/etc", join(workspace, "linked"));
  symlinkSync("loop", join(workspace, "loop"));
  symlinkSync("chart.png", join(workspace, "inner"));
  writeFileSync(join(workspace, "large"), "x".repeat(70_000));
  execFileSync("mkfifo", [join(workspace, "pipe")]);
  let ids = 0;
  const outgoing = openOutgoingFiles({
    folder: join(stateDir, "outgoing"),
    stateDir,
    closed: () => [join(workspace, "sessions")],
    now: () => 1_700_000_000_000,
    unique: () => `f${++ids}`,
    folderOf: () => workspace,
  });
  return { stateDir, workspace, outgoing };
}

async function answered(
  answer: Answer,
  {
    extras = true,
    fates = [],
    ...more
  }: { extras?: boolean; fates?: Fate[] } & Readonly<Record<string, unknown>> = {},
) {
  const files = place();
  const world = await sessionWorld(more as Record<string, unknown>, { outgoing: files.outgoing });
  world.takesExtras = extras;
  world.fates.push(...fates);
  world.answers.push(answer);
  await world.say("hi", { direct: true, id: "asked" });
  await until(world, () => world.events("agent_end").length === 1);
  return { world, ...files };
}

/** Files are read from a real disk, which the simulated time does not wait for. */
async function until(world: SessionWorld, done: () => boolean): Promise<void> {
  for (let tries = 0; !done() && tries < 400; tries += 1) {
    await new Promise((go) => setTimeout(go, 5));
    await world.pass(250);
  }
  expect(done()).toBe(true);
}

const said = ({ sent }: SessionWorld) => sent.map(({ text }) => text);
const blocks = { stream: { mode: "block", break: "message_end", coalesceIdleMs: 0 } };

async function* chartBetweenWords(): AsyncGenerator<AgentEvent> {
  yield { type: "text", text: "here it is:" };
  yield { type: "media", source: "chart.png", caption: "sales" };
  yield { type: "text", text: "and so on" };
}
async function* question(): AsyncGenerator<AgentEvent> {
  yield { type: "choices", text: "Which?", options: ["tea", "coffee"] };
}

describe.each([{}, blocks])("an answer with a file and choices (%j)", (config) => {
  test("sends the file in its place between the texts, and counts as one answer", async () => {
    const { world } = await answered(chartBetweenWords, config);
    expect(said(world)).toEqual(["here it is:", "<chart.png>", "and so on"]);
    expect(world.extras).toMatchObject([
      { kind: "image", mime: "image/png", name: "chart.png", caption: "sales" },
    ]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
    expect(world.sends()).toMatchObject([
      {},
      { media: "image", text: "sales\n[image: chart.png]" },
      {},
    ]);
    await world.runtime.stop();
  });

  test("sends choices with their options", async () => {
    const { world } = await answered(question, config);
    expect(world.extras).toMatchObject([
      { choices: { text: "Which?", options: ["tea", "coffee"] } },
    ]);
    await world.runtime.stop();
  });

  test("follows a link inside the workspace", async () => {
    const { world } = await answered(async function* () {
      yield { type: "media", source: "inner", name: "my chart.png" };
    }, config);
    expect(world.extras).toMatchObject([{ kind: "image", name: "my chart.png" }]);
    await world.runtime.stop();
  });

  test("sends their text where the channel has neither", async () => {
    const { world } = await answered(
      async function* () {
        yield* chartBetweenWords();
        yield* question();
      },
      { ...config, extras: false },
    );
    expect(said(world)).toEqual([
      "here it is:",
      "sales\n[image: chart.png]",
      "and so on",
      "Which?\n1. tea\n2. coffee",
    ]);
    await world.runtime.stop();
  });
});

test("what was sent is remembered by its text", async () => {
  const { world } = await answered(chartBetweenWords);
  const lines = (await world.transcript()).filter(({ role }) => role === "assistant");
  expect(lines.map(({ text }) => text)).toContain("sales\n[image: chart.png]");
  await world.runtime.stop();
});

test.each([{}, blocks])("its recording, replayed, sends the same texts (%j)", async (config) => {
  const { world } = await answered(async function* () {
    yield* chartBetweenWords();
    yield* question();
  }, config);
  const lines: Record<string, unknown>[] = [];
  for await (const line of recordScenario(world.store, { since: 0 }))
    lines.push(line as unknown as Record<string, unknown>);
  const played = (await play(lines)).flatMap((line) =>
    "out" in line && line.out === "send" ? [line.text] : [],
  );
  expect(played).toEqual(world.sends().map(({ text }) => text));
  expect(played).toHaveLength(4);
  await world.runtime.stop();
});

test("a file that the platform refuses is a part that did not arrive", async () => {
  const { world } = await answered(chartBetweenWords, { fates: ["ok", "refuse", "ok"] });
  expect(said(world)).toEqual(["here it is:", "and so on"]);
  expect(world.events("agent_end")).toMatchObject([{ outcome: "partly", reason: "dead" }]);
  await world.runtime.stop();
});

test("a file whose result nobody knows is in doubt, and what follows waits for the decision", async () => {
  const { world } = await answered(chartBetweenWords, { fates: ["ok", "odd"], ...blocks });
  expect(said(world)).toEqual(["here it is:", "<chart.png>", "and so on"]);
  expect(world.sends()).toContainEqual(expect.objectContaining({ status: "in-doubt" }));
  await world.runtime.stop();
});

test("a file is what it was when the agent sent it, also after a kill", async () => {
  const files = place();
  const store = createTestStore();
  const world = await sessionWorld({}, { outgoing: files.outgoing, store });
  world.takesExtras = true;
  world.ready = false;
  world.answers.push(chartBetweenWords);
  await world.say("hi", { direct: true });
  for (let tries = 0; tries < 40; tries += 1) {
    await new Promise((go) => setTimeout(go, 5));
    await world.pass(100);
  }
  expect(world.sent).toEqual([]);
  writeFileSync(join(files.workspace, "chart.png"), "changed");
  world.ready = true;
  await world.kill();
  await until(world, () => world.sent.length === 3);
  expect(said(world)).toEqual(["here it is:", "<chart.png>", "and so on"]);
  expect(Buffer.from((world.extras[0] as { data: Uint8Array }).data)).toEqual(sampleFiles.png);
  await world.runtime.stop();
});

test("a copy that is gone before it is sent costs the file, not its text", async () => {
  const files = place();
  const world = await sessionWorld({}, { outgoing: files.outgoing });
  world.takesExtras = true;
  world.ready = false;
  world.answers.push(chartBetweenWords);
  await world.say("hi", { direct: true });
  const copies = () => world.store.outboxByState(["pending", "waiting"], 9);
  for (let tries = 0; (await copies()).length < 3 && tries < 400; tries += 1) {
    await new Promise((go) => setTimeout(go, 5));
    await world.pass(100);
  }
  rmSync(join(files.stateDir, "outgoing"), { recursive: true });
  world.ready = true;
  await until(world, () => world.sent.length === 3);
  expect(said(world)).toEqual(["here it is:", "sales\n[image: chart.png]", "and so on"]);
  await world.runtime.stop();
});

test("a copy that cannot be reached now is sent later, as the file", async () => {
  const files = place();
  let failures = 0;
  const outgoing: OutgoingFiles = {
    ...files.outgoing,
    async read(id) {
      failures += 1;
      if (failures > 2) return files.outgoing.read(id);
      throw new EarshotError("EAR_STORE_FAILED", "Cannot reach the other nodes");
    },
  };
  const world = await sessionWorld({}, { outgoing });
  world.takesExtras = true;
  world.answers.push(chartBetweenWords);
  await world.say("hi", { direct: true });
  await until(world, () => world.sent.length === 3);
  expect(said(world)).toEqual(["here it is:", "<chart.png>", "and so on"]);
  expect(failures).toBe(3);
  await world.runtime.stop();
});

describe("channel_send", () => {
  /** The results of one call after the other. */
  const results = async (
    inputs: readonly object[],
    options: { fates?: Fate[]; extras?: boolean } = {},
  ) => {
    const answers: string[] = [];
    const { world, ...rest } = await answered(async function* (turn) {
      for (const input of inputs) answers.push(await turn.callTool("channel_send", input));
      yield { type: "text", text: "done" };
    }, options);
    return { world, answers, ...rest };
  };

  test("says that the platform took a file and choices, which are sent before the answer", async () => {
    const { world, answers } = await results([
      { text: "sales", media: { source: "chart.png" } },
      { text: "Which?", choices: { options: ["tea", "coffee"] } },
    ]);
    expect(answers).toEqual([
      "Sent. Do not repeat it in your answer.",
      "Sent. Do not repeat it in your answer.",
    ]);
    expect(said(world)).toEqual(["<chart.png>", "<tea|coffee>", "done"]);
    await world.runtime.stop();
  });

  test("says why the platform refused, and that a channel shows text instead", async () => {
    const refused = await results([{ media: { source: "chart.png" } }], { fates: ["refuse"] });
    expect(refused.answers).toEqual(["Not sent: blocked."]);
    expect(said(refused.world)).toEqual(["done"]);
    const plain = await results(
      [{ media: { source: "chart.png" } }, { text: "Which?", choices: { options: ["a", "b"] } }],
      { extras: false },
    );
    expect(plain.answers).toEqual([
      "Sent as text: no files can be shown here.",
      "Sent as a numbered list: no buttons can be shown here.",
    ]);
    await refused.world.runtime.stop();
    await plain.world.runtime.stop();
  });

  test.each([
    ["../../earshot.db", "there is no such file"],
    ["/etc/passwd", "it is outside your workspace"],
    ["file:///etc/passwd", "it is outside your workspace"],
    ["link", "it is outside your workspace"],
    ["linked/passwd", "it is outside your workspace"],
    ["loop", "its links go in a circle"],
    ["pipe", "it is not a plain file"],
    ["large", "it is larger than 65536 bytes"],
    ["/dev/zero", "it is outside your workspace"],
    ["sessions/sessions.json", "transcripts cannot be sent"],
    ["folder", "it is not a plain file"],
    ["empty", "it is empty"],
    ["ftp://example.org/x", "only paths in your workspace, http and https are allowed"],
    ["http://127.0.0.1:1/x.png", "it leads to a private place"],
    ["http://169.254.169.254/latest", "it leads to a private place"],
    ["http://[::1]:1/x.png", "it leads to a private place"],
    ["http://localhost:1/x.png", "it leads to a private place"],
    ["https://192.168.1.1/x.png", "it leads to a private place"],
  ])("refuses %s, and loses nothing of the answer", async (source, why) => {
    const answers: string[] = [];
    const { world } = await answered(
      async function* (turn) {
        answers.push(await turn.callTool("channel_send", { media: { source } }));
        yield { type: "text", text: "done" };
      },
      { media: { maxBytes: 65_536 } },
    );
    expect(answers[0]).toMatch(/^Refused: /);
    expect(answers[0]).toContain(why);
    expect(said(world)).toEqual(["done"]);
    await world.runtime.stop();
  });

  test("refuses a picture that is none, a poll of one option, and both at once", async () => {
    const { answers } = await results([
      { media: { source: "chart.png", kind: "video" } },
      { text: "Which?", choices: { options: ["a"], poll: true } },
      { text: "x", media: { source: "chart.png" }, choices: { options: ["a"] } },
      { choices: { options: ["a", "b"] } },
    ]);
    expect(answers).toEqual([
      "Refused: it is no video: its content is image/png.",
      "Refused: a poll needs two options.",
      "Refused: send the media and the choices one after the other.",
      "Refused: there is nothing to send.",
    ]);
  });
});

test("an invalid event costs nothing but itself: its caption is sent as text", async () => {
  const { world } = await answered(async function* () {
    yield { type: "media", source: "../secret", caption: "look" };
    yield { type: "choices", text: "Which?", options: [] };
    yield { type: "media" } as unknown as AgentEvent;
    yield { type: "text", text: "the rest" };
  });
  expect(said(world)).toEqual(["look", "Which?", "the rest"]);
  expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
  const refusals = world.logged.filter(({ event }) => event === "agent.media-refused");
  expect(refusals).toHaveLength(3);
  await world.runtime.stop();
});

describe("an answer that is too long for its room, with longAnswers: file", () => {
  const config = { stream: { groupMaxChars: 500, longAnswers: "file" } };
  const long = Array.from({ length: 60 }, (_, n) => `Line ${n} of a long answer.`).join("\n\n");
  async function* longAnswer(): AsyncGenerator<AgentEvent> {
    yield { type: "text", text: long };
  }
  /** The answer in a group, and what follows `continue`. */
  async function inGroup(outgoing: OutgoingFiles | null, extras = true) {
    const world = await sessionWorld(config, outgoing === null ? {} : { outgoing });
    world.takesExtras = extras;
    world.answers.push(longAnswer);
    await world.say("tell me all", { mentions: [{ id: "bot", isSelf: true }] });
    await until(world, () => world.events("agent_end").length === 1);
    return world;
  }

  test("is its beginning, and all of it as a file", async () => {
    const world = await inGroup(place().outgoing);
    expect(said(world).at(-1)).toBe("<answer.md>");
    expect(said(world).slice(0, -1).join("").length).toBeLessThanOrEqual(500);
    const [file] = world.extras as { data: Uint8Array; mime: string; kind: string }[];
    expect(file).toMatchObject({ kind: "file", mime: "text/markdown" });
    expect(Buffer.from(file?.data ?? []).toString()).toBe(long);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
    await world.runtime.stop();
  });

  test("says how to get the rest where the channel has no files", async () => {
    const world = await inGroup(place().outgoing, false);
    expect(said(world).join("")).toMatch(/Say "continue" for the rest\.\]$/);
    await world.runtime.stop();
  });

  test("says how to get the rest where the file cannot be stored, and the log says why", async () => {
    const { outgoing } = place();
    const full = () => Promise.reject(new EarshotError("EAR_STORE_FULL", "Cannot store it: full"));
    const world = await inGroup({ ...outgoing, keep: full });
    expect(said(world).join("")).toMatch(/Say "continue" for the rest\.\]$/);
    expect(world.logged.map(({ event }) => event)).toContain("agent.media-refused");
    await world.runtime.stop();
  });
});
