/** Recorded answers of judges: in scenarios, in recordings, redacted, and under another judge. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { recordingText } from "../../../src/daemon/replay/recording.ts";
import { simulateScenario } from "../../../src/daemon/replay/simulate.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { scenarioOf } from "../../../src/domain/scenario/read-scenario.ts";
import { headerSchema, type ScenarioLine } from "../../../src/domain/scenario/scenario.ts";
import { Redactor } from "../../../src/machines/redaction/redact.ts";
import { type CommandResult, runCommand } from "../../support/built/command.ts";
import { builtFile } from "../../support/built/files.ts";
import { decisions, play, sends } from "../../support/replay/replay.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const folder = mkdtempSync(join(tmpdir(), "earshot-judged-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = "agent:main:irc:group:kitchen";
const judge = { kind: "command", command: "judge", minConfidence: 0.6 };
const configOf = (one: object | null) => ({
  agents: { list: [{ id: "main", name: "Scout" }] },
  engagement: { judge: one },
});
const said = (t: number, id: string, text: string, author = { id: "bo", name: "Bo" }) => ({
  t,
  in: {
    channel: "irc",
    chat: { id: "kitchen", kind: "group" },
    id,
    author,
    text,
  },
});
const answered = (t: number, id: string, answer: object) => ({
  t,
  judge: { key, id, engage: true, confidence: 0.8, why: "Bo asks for a table", ...answer },
});
const header = { earshot: 1, config: configOf(judge) };
const room = [
  header,
  { t: 0, membership: { channel: "irc", chat: "kitchen", humans: 3, bots: 0 } },
  { t: 0, agent: { key, runs: [{ steps: [{ text: "a table for four, at eight" }] }] } },
  said(1_000, "m1", "nice weather"),
  answered(1_500, "m1", { engage: false, why: "small talk" }),
  said(5_000, "m2", "can somebody book a table?"),
  answered(6_000, "m2", {}),
  said(60_000, "m3", "and the bill?", { id: "cy", name: "Cy" }),
  answered(61_000, "m3", { confidence: 0.5 }),
  { t: 90_000, end: true },
];
const due = [
  "m1 observe judge none",
  "m2 observe judge none",
  "m2 engage judge none",
  "m3 observe judge none",
];

const decided = (lines: Awaited<ReturnType<typeof play>>) =>
  decisions(lines).map(({ id, decision, rule, credit }) => `${id} ${decision} ${rule} ${credit}`);

async function recorded(): Promise<Record<string, unknown>[]> {
  const store = createTestStore();
  await simulateScenario(scenarioOf(room, "room"), { store });
  let text = "";
  for await (const line of recordingText(store, { since: 0 })) text += line;
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("an answer of a scenario engages its line, and a replay asks nobody", async () => {
  const lines = await play(room);
  expect(decided(lines)).toEqual(due);
  expect(sends(lines).map(({ text }) => text)).toEqual(["a table for four, at eight"]);
});

test("a recording has the answers, and replays the same, redacted too", async () => {
  const lines = await recorded();
  expect(lines.filter((line) => "judge" in line)).toHaveLength(3);
  const again = await play(lines);
  expect(decided(again)).toEqual(due);
  expect(sends(again).map(({ text }) => text)).toEqual(["a table for four, at eight"]);
  const [first, ...rest] = lines;
  const redactor = new Redactor("k", headerSchema.parse(first), (config) => scenarioConfig(config));
  const redacted = [
    redactor.header(headerSchema.parse(first)),
    ...scenarioOf(lines, "room").lines,
  ].map((line, index) => (index === 0 ? line : redactor.line(line as ScenarioLine)));
  expect(rest.length + 1).toBe(redacted.length);
  const text = JSON.stringify(redacted);
  expect(text).not.toContain("Bo asks");
  expect(text).not.toContain('"command":"judge"');
  const rules = decided(await play(redacted)).map((one) => one.split(" ").slice(1).join(" "));
  expect(rules).toEqual(due.map((one) => one.split(" ").slice(1).join(" ")));
});

let files = 0;
const program = builtFile("test/replay-program");

function against(config: object): Promise<CommandResult> {
  const scene = join(folder, "room.jsonl");
  writeFileSync(scene, room.map((line) => JSON.stringify(line)).join("\n"));
  files += 1;
  const other = join(folder, `other${files}.json5`);
  writeFileSync(other, JSON.stringify(config));
  const env = { HOME: folder, NO_COLOR: "1" };
  return runCommand(["replay", scene, "--against", other], { program, env });
}

test("under another judge the lines are undecided; one that only has to be surer decides", async () => {
  const [other, surer, none] = await Promise.all([
    against(configOf({ ...judge, command: "another-judge" })),
    against(configOf({ ...judge, minConfidence: 0.9 })),
    against(configOf(null)),
  ]);
  expect(other.out).toMatch(/decision m1: observe by judge → undecided by judge/);
  expect(other.out).toMatch(/decision m2: engage by judge → undecided by judge/);
  expect(other.out).toContain(
    "Undecided: a judge would be asked, and the file has no answer of it.",
  );
  expect(other.out).not.toMatch(/decision m\d: \S+ by judge → nothing/);
  expect(surer.out).not.toContain("undecided");
  expect(surer.out).toMatch(/decision m2: engage by judge → observe by judge/);
  expect(none.out).toMatch(/decision m1: observe by judge → observe by default/);
  expect([other.code, surer.code, none.code]).toEqual([1, 1, 1]);
});
