/** `earshot replay` and `earshot why` as a person and a program call them. */
import {
  fdatasyncSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runScenario } from "../../../src/actors/simulation/simulation.ts";
import { createScriptedDriver } from "../../../src/adapters/agents/scripted/driver.ts";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { renderWhy } from "../../../src/daemon/cli/output/explanation.ts";
import { ReplayTable } from "../../../src/daemon/cli/output/replay-table.ts";
import { simulate } from "../../../src/daemon/replay/simulate.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import { scenarioOf } from "../../../src/domain/scenario/read-scenario.ts";
import { runCommand } from "../../support/built/command.ts";
import { builtFile } from "../../support/built/files.ts";
import { expectedOf, playRoom, printed, roomLines } from "../../support/replay/replay.ts";

/** No screen: nothing is cut or wrapped. */
const unbounded = { colour: false, columns: Number.POSITIVE_INFINITY };
const folder = mkdtempSync(join(tmpdir(), "earshot-replay-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = builtFile("test/replay-program");
const room = (name: string) =>
  resolve(import.meta.dirname, "../../fixtures/rooms", `${name}.jsonl`);
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const earshot = (args: readonly string[], input = "") =>
  runCommand(args, { program, env: { HOME: folder, NO_COLOR: "1" }, input });
const slow = 120_000;

describe("earshot replay", () => {
  test(
    "--json prints the lines on file; standard input and --seed work alike",
    async () => {
      const [plain, piped, seeded] = await Promise.all([
        earshot(["replay", room("mention"), "--json", "--prompts"]),
        earshot(["replay", "-", "--json", "--prompts"], readFileSync(room("mention"), "utf8")),
        earshot(["replay", room("mention"), "--json", "--seed", "7"]),
      ]);
      expect(plain).toEqual({ code: 0, out: readFileSync(expectedOf("mention"), "utf8"), err: "" });
      expect(piped.out).toBe(plain.out);
      expect(seeded.out).toBe(printed(await playRoom("mention", { seed: 7 })));
      expect(seeded.out).not.toBe(printed(await playRoom("mention")));
    },
    slow,
  );

  test(
    "people get a table that no message can draw on, under the config they name",
    async () => {
      const config = file("earshot.json5", "{ agents: { list: [{ id: 'main', name: 'Ada' }] } }");
      const chat = { id: "g", kind: "group" };
      const line = (id: string, text: string) =>
        JSON.stringify({ t: 0, in: { channel: "irc", chat, id, author: { id: "ann" }, text } });
      const two = JSON.stringify({ t: 0, membership: { channel: "irc", chat: "g", humans: 2 } });
      const scenario = file(
        "room.jsonl",
        `${two}\n${line("m1", "Ada?")}\n${line("m2", "\u001b[2Jx\u202e")}\n`,
      );
      const { code, out } = await earshot(["replay", scenario, "--config", config]);
      expect(code).toBe(0);
      expect(out).toMatch(/\[engage\]\s+alias\s+ann\s+Ada\?/);
      expect(out).toMatch(/1 engage by alias/);
      expect(out.replaceAll("\n", "")).not.toMatch(/\p{Cc}|\u202e/u);
    },
    slow,
  );

  test(
    "bad input ends with one line that names file, line and path, and code 2; nothing is run",
    async () => {
      const good = JSON.stringify(roomLines("mention")[2]);
      const scenario = file("bad.jsonl", `${good}\n{"t":1,"in":{"channel":"irc"}}\n`);
      const results = await Promise.all([
        earshot(["replay", scenario, "--json"]),
        earshot(["replay", join(folder, "missing.jsonl")]),
        earshot(["replay", room("mention"), "--seed", "-1"]),
        earshot(["replay", file("header.jsonl", '{"earshot":1,"config":{"engagment":{}}}\n')]),
        earshot(["replay", room("mention"), "--config", file("broken.json5", "{ a: ")]),
      ]);
      expect(results.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2]);
      expect(results.map(({ out }) => out)).toEqual(["", "", "", "", ""]);
      expect(results[0]?.err).toContain("bad.jsonl:2 at in.chat");
      expect(results[1]?.err).toContain("missing.jsonl");
      expect(results[3]?.err).toMatch(/header\.jsonl:1 at config.*engagment.*engagement/);
      expect(results[4]?.err).toContain("broken.json5");
    },
    slow,
  );
});

test.each(["--threads", "--workers"])(
  "%s, which replays had once, is refused by name",
  async (option) => {
    const { code, out, err } = await earshot(["replay", room("mention"), option, "2"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(option);
    expect(err).toContain("A replay runs on one thread. Remove the option.");
  },
);

test("the summary counts decisions, turns and replies, in that order and one below the other", () => {
  const table = new ReplayTable(unbounded);
  const send = {
    t: 0,
    key: "k",
    out: "send",
    status: "sent",
    text: "ok",
    chat: "g",
    replyTo: null,
  };
  const end = { t: 0, key: "k", event: "agent_end", turn: 1, outcome: "replied" };
  for (const line of [...Array(10).fill(send), end, end])
    table.row(line as unknown as Parameters<ReplayTable["row"]>[0]);
  expect(table.summary()).toBe(" 2 turns replied\n10 replies sent");
});

test("on eighty columns no row of the table and of a why is wider", async () => {
  const columns = 80;
  const long = JSON.stringify("words that go on ".repeat(20));
  const lines = roomLines("mention").map((line) =>
    JSON.parse(JSON.stringify(line).replaceAll(/"text":"[^"]*"/g, `"text":${long}`)),
  );
  const table = new ReplayTable({ colour: false, columns });
  for (const line of scenarioOf(lines, "long").lines) {
    table.measure(line);
    table.noteMessage(line);
  }
  const rows: string[] = [];
  const { lines: told, why } = await simulate(lines, { explain: true });
  for (const line of told) rows.push(table.row(line) ?? "");
  rows.push(...renderWhy(Object.values(why), { colour: false, columns }).split("\n"));
  expect(rows.some((row) => row.includes("words that go…") || row.endsWith("…"))).toBe(true);
  for (const row of rows) expect(row.length).toBeLessThanOrEqual(columns);
});

test("a host that does not stay up ends the run with an error, never with silence", async () => {
  const [header, ...lines] = roomLines("mention");
  const crashes = Array.from({ length: 30 }, () => ({ t: 0, crash: "host" }));
  await expect(simulate([header, ...crashes, ...lines])).rejects.toThrow(/does not stay up/);
});

describe("earshot why", () => {
  test(
    "without a daemon the journal itself is read, and left as it was",
    async () => {
      const stateDir = mkdtempSync(join(folder, "state-"));
      // Simulated time does not wait for another thread's sync.
      const store = await openSqliteStore({
        path: join(stateDir, "earshot.db"),
        syncFile: async (opened) => fdatasyncSync(opened),
      });
      const scenario = scenarioOf(roomLines("sticky"), "sticky");
      const driver = createScriptedDriver() as AgentDriver;
      const config = scenarioConfig({
        ...scenario.header.config,
        agents: { list: [{ id: "main", name: "Scout", driver: "scripted" }] },
      });
      const options = { seed: 1, prompts: false, explain: false, onLine: () => {} };
      const reading = () => null;
      const drivers = () => new Map([[driver.kind, driver]]);
      const ports = { config, reading, store, log: () => {}, digest: sha256, drivers };
      await runScenario(scenario, ports, options);
      const before = await store.lastSeq();
      await store.close();

      const asked = ["--state-dir", stateDir];
      const answer = await earshot(["why", "m3", ...asked]);
      expect(answer.code).toBe(0);
      expect(answer.out).toMatch(/engage by sticky \(credit consumed\)/);
      expect(answer.out).toMatch(/● sticky\s+credit of Ann, 14:02 left/);
      expect(answer.out).toMatch(/fate\s+turn 2 .* with m3: replied/);
      const json = await earshot(["why", "m6", "--json", ...asked]);
      expect(JSON.parse(json.out).why[0].recorded).toMatchObject({ rule: "default" });
      expect((await earshot(["why", "never", ...asked])).code).toBe(1);
      expect((await earshot(["why", "m3", "--state-dir", join(folder, "none")])).code).toBe(2);

      const after = await openSqliteStore({ path: join(stateDir, "earshot.db") });
      expect(await after.lastSeq()).toBe(before);
      await after.close();

      // The config may keep the journal under another name, and secrets that are not at hand.
      for (const name of readdirSync(stateDir).filter((one) => one.startsWith("earshot.db")))
        renameSync(join(stateDir, name), join(stateDir, name.replace("earshot", "heard")));
      const configFile = join(stateDir, "earshot.json5");
      const telegram = `{ accounts: { default: { botToken: "\${NEVER_SET}" } } }`;
      const text = `{ store: { path: "<state>/heard.db" }, channels: { telegram: ${telegram} } }`;
      writeFileSync(configFile, text, { mode: 0o600 });
      const moved = await earshot(["why", "m3", ...asked]);
      expect(moved.err).toBe("");
      expect(moved.out).toBe(answer.out);
    },
    slow,
  );

  test("the whole ladder is drawn, matched rung and what was not reached", async () => {
    const { why } = await simulate(roomLines("addressed-elsewhere"), { explain: true });
    expect(Object.keys(why)).toEqual(["m1", "m2", "m3", "m4", "m5"]);
    expect(why.m3?.recorded).toEqual(why.m3?.explanation?.verdict);
    const text = renderWhy([why.m3 as NonNullable<typeof why.m3>], unbounded);
    expect(text).toMatch(/observe by addressed-elsewhere \(credit kept\)/);
    expect(text).toMatch(
      /2 ● addressed-elsewhere {2}mentions someone else only; credit of Ann kept/,
    );
    expect(text).toMatch(/3 · alias\s+not reached/);
    expect(text).toMatch(/people\s+3 \(member list, 20 s old\)/);
  });

  test("a name in the answer cannot draw on the terminal", async () => {
    const lines = roomLines("mention").map((line) =>
      JSON.parse(JSON.stringify(line).replaceAll('"name":"Ann"', '"name":"A\\u001b[2J\\nn"')),
    );
    const { why } = await simulate(lines, { explain: ["m1"] });
    expect(Object.keys(why)).toEqual(["m1"]);
    const text = renderWhy(Object.values(why), unbounded);
    expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    expect(text).toContain("A[2J n in agent:main");
  });
});
