/** `earshot record` and `earshot replay --against` as a person and a program call them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { momentOf } from "../../../src/daemon/cli/lib/moment.ts";
import { recordingText, redacted } from "../../../src/daemon/replay/recording.ts";
import { simulateScenario } from "../../../src/daemon/replay/simulate.ts";
import { scenarioOf } from "../../../src/domain/scenario/read-scenario.ts";
import { runCommand } from "../../support/built/command.ts";
import { builtFile } from "../../support/built/files.ts";
import { startSmallServer } from "../../support/daemon/small-server.ts";
import { play, playRoom, roomLines, sends, verdicts } from "../../support/replay/replay.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const folder = mkdtempSync(join(tmpdir(), "earshot-record-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const program = builtFile("test/replay-program");
const room = (name: string) =>
  resolve(import.meta.dirname, "../../fixtures/rooms", `${name}.jsonl`);
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const slow = 60_000;

const earshot = (...args: readonly string[]) =>
  runCommand(args, { program, env: { HOME: folder, NO_COLOR: "1" } });

const parsed = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

async function recordedText(lines: readonly unknown[], query = {}): Promise<string> {
  const store = createTestStore();
  await simulateScenario(scenarioOf(lines, "room"), { store });
  let text = "";
  for await (const line of recordingText(store, { since: 0, ...query })) text += line;
  return text;
}

describe("earshot record", () => {
  test(
    "reads the journal without a daemon, leaves it as it was, and a replay tells the same",
    async () => {
      const stateDir = mkdtempSync(join(folder, "state-"));
      // A simulation does not wait for the disk: its time would go on meanwhile.
      const syncFile = async () => undefined;
      const store = await openSqliteStore({ path: join(stateDir, "earshot.db"), syncFile });
      await simulateScenario(scenarioOf(roomLines("sticky"), "sticky"), { store });
      const again = await openSqliteStore({ path: join(stateDir, "earshot.db") });
      const before = await again.lastSeq();
      await again.close();
      const from = ["--since", "2020-01-01", "--state-dir", stateDir];
      const [all, none, words] = await Promise.all([
        earshot("record", ...from),
        earshot("record", "--since", "2100-01-01", "--state-dir", join(folder, "none")),
        earshot("record", "--since", "yesterday", "--state-dir", stateDir),
      ]);
      expect(all.err).toBe("");
      expect(all.code).toBe(0);
      const lines = await play(parsed(all.out));
      expect(verdicts(lines)).toEqual(verdicts(await playRoom("sticky")));
      expect(sends(lines).map(({ text }) => text)).toEqual(
        sends(await playRoom("sticky")).map(({ text }) => text),
      );
      expect(none.code).toBe(2);
      expect(none.err).toMatch(/no journal at/);
      expect(words.code).toBe(2);
      expect(words.err).toMatch(/expected 30m, 12h, 7d/);
      const empty = await earshot("record", "--since", "2100-01-01", "--state-dir", stateDir);
      expect([empty.code, empty.out]).toEqual([1, ""]);
      const after = await openSqliteStore({ path: join(stateDir, "earshot.db") });
      expect(await after.lastSeq()).toBe(before);
      await after.close();
    },
    slow,
  );

  test("is streamed by the daemon, redacted where asked for, and refuses what it does not know", async () => {
    const server = await startSmallServer();
    try {
      await simulateScenario(scenarioOf(roomLines("mention"), "mention"), { store: server.store });
      const get = (query: string) =>
        fetch(`${server.base}/api/record?${query}`, {
          headers: { authorization: `Bearer ${server.token}` },
        });
      const plain = await (await get("since=0")).text();
      expect(verdicts(await play(parsed(plain)))).toEqual(verdicts(await playRoom("mention")));
      const other = await (await get("since=0&redact=1")).text();
      expect(plain).toMatch(/lunch/);
      expect(other).not.toMatch(/lunch/);
      expect(await (await get("since=0&redact=true")).text()).not.toMatch(/lunch/);
      expect((await get("since=0&redact=yes")).status).toBe(400);
      expect((await get("since=soon")).status).toBe(400);
      expect((await get("since=0&conversation=x")).status).toBe(400);
      expect((await fetch(`${server.base}/api/record?since=0`)).status).toBe(401);
    } finally {
      await server.stop();
    }
  });

  test("one conversation or one channel, and nothing else of the daemon", async () => {
    const said = (channel: string, id: string, t: number) => ({
      t,
      in: { channel, chat: { id: `g-${channel}`, kind: "group" }, id, author: { id: "u" } },
    });
    const lines = [said("irc", "m1", 0), said("xmpp", "m2", 5), said("irc", "m3", 900)];
    const ids = (text: string) =>
      parsed(text).flatMap((line) => ("in" in line ? [(line.in as { id: string }).id] : []));
    expect(ids(await recordedText(lines, { channel: "xmpp" }))).toEqual(["m2"]);
    const conversation = "agent:main:irc:group:g-irc";
    expect(ids(await recordedText(lines, { conversation }))).toEqual(["m1", "m3"]);
    expect(parsed(await recordedText(lines, { conversation }))[1]).toMatchObject({ t: 0 });
  });

  test("a config that changed on the way is a line of its own, and a replay changes with it", async () => {
    const member = { channel: "irc", chat: { id: "g", kind: "group" } };
    const lines = [
      { earshot: 1, config: { agents: { list: [{ id: "main", name: "Scout" }] } } },
      { t: 0, membership: { ...member, humans: 5 } },
      { t: 1, in: { ...member, id: "m1", author: { id: "u" }, text: "Rover, look" } },
      { t: 2, config: { agents: { list: [{ id: "main", name: "Rover" }] } } },
      { t: 3, in: { ...member, id: "m2", author: { id: "u" }, text: "Rover, look" } },
    ];
    const text = await recordedText(lines);
    expect(parsed(text).filter((line) => "config" in line && "t" in line)).toHaveLength(1);
    expect(verdicts(await play(parsed(text)))).toEqual(["m1 default", "m2 alias"]);
    expect(verdicts(await play(lines))).toEqual(["m1 default", "m2 alias"]);
  });

  test("a message that ordered something has its words back", async () => {
    const direct = { channel: "irc", chat: { id: "d", kind: "direct" } };
    const config = { commands: { allowFrom: { irc: ["u"] } } };
    const text = "/think high what about lunch?";
    const lines = [
      { earshot: 1, config },
      { t: 0, in: { ...direct, id: "m1", author: { id: "u" }, text } },
    ];
    const heard = parsed(await recordedText(lines)).flatMap((line) =>
      "in" in line ? [line.in] : [],
    );
    expect(heard).toMatchObject([{ text }]);
  });

  test("moments are spans back from now, or dates", () => {
    expect(momentOf("90s", 100_000)).toBe(10_000);
    expect(momentOf("1d", 86_400_001)).toBe(1);
    expect(momentOf("2026-11-21T18:00:00Z", 0)).toBe(Date.UTC(2026, 10, 21, 18));
    expect(() => momentOf("2026-13-45", 0)).toThrow(/Cannot read the time/);
  });
});

describe("earshot replay --against", () => {
  test(
    "counts and lists what differs, with exit 1; nothing where nothing does, with exit 0",
    async () => {
      const quiet = file(
        "quiet.json5",
        "{ engagement: { trigger: [], stickiness: { enabled: false } } }",
      );
      const broken = file("broken.json5", "{ engagment: {} }");
      const scene = room("sticky");
      const [table, json, same, bad] = await Promise.all([
        earshot("replay", scene, "--against", quiet),
        earshot("replay", scene, "--against", quiet, "--json"),
        earshot("replay", scene, "--config", quiet, "--against", quiet),
        earshot("replay", scene, "--against", broken),
      ]);
      expect(table.code).toBe(1);
      expect(table.out).toMatch(/decision m2: engage by mention → observe by default/);
      expect(table.out).toMatch(/Of 6 decisions:\n\d+ decisions differ/);
      const found = parsed(json.out);
      expect(json.code).toBe(1);
      expect(found).toContainEqual(
        expect.objectContaining({ what: "decision", id: "m2", before: "engage by mention" }),
      );
      expect(same).toEqual({ code: 0, out: "No difference in 6 decisions.\n", err: "" });
      expect(bad.code).toBe(2);
      expect(bad.out).toBe("");
      expect(bad.err).toMatch(/broken\.json5.*engagment/s);
    },
    slow,
  );
});

describe("labels of a recording", () => {
  const key = "agent:main:irc:group:g";
  const said = (t: number, id: string, who: string, text: string) => ({
    t,
    in: { channel: "irc", chat: { id: "g", kind: "group" }, id, author: { id: who }, text },
  });
  const label = (t: number, id: string, expected: string | null) => ({
    t,
    label: { key, id, expected },
  });
  const header = { earshot: 1, config: { agents: { list: [{ id: "main", name: "Scout" }] } } };
  const lines = [
    header,
    said(0, "m0", "ann", "morning"),
    said(1_000, "m1", "bo", "nice day"),
    said(2_000, "m2", "cy", "scout, where are you?"),
    said(60_000, "m3", "bo", "navi, hello"),
    label(61_000, "m1", "observe"),
    label(61_000, "m2", "observe"),
    label(62_000, "m3", "engage"),
    label(62_000, "m0", "engage"),
    label(63_000, "m0", null),
  ];
  const named = JSON.stringify({ agents: { list: [{ id: "main", name: "Navi" }] } });

  test(
    "give --against precision and recall of both sides, and change nothing else",
    async () => {
      const labelled = file("labelled.jsonl", lines.map((one) => JSON.stringify(one)).join("\n"));
      const bare = lines.filter((one) => !("label" in one));
      const plain = file("plain.jsonl", bare.map((one) => JSON.stringify(one)).join("\n"));
      const navi = file("navi.json5", named);
      const [text, json, without, run, runWithout] = await Promise.all([
        earshot("replay", labelled, "--against", navi),
        earshot("replay", labelled, "--against", navi, "--json"),
        earshot("replay", plain, "--against", navi, "--json"),
        earshot("replay", labelled, "--json"),
        earshot("replay", plain, "--json"),
      ]);
      expect(text.out).toContain(
        "On 3 labelled messages:\n" +
          "  precision 0.0 % (0 of 1) → 100.0 % (1 of 1)\n" +
          "  recall 0.0 % (0 of 1) → 100.0 % (1 of 1)\n",
      );
      const found = parsed(json.out);
      expect(found.at(-1)).toEqual({
        what: "labels",
        messages: 3,
        undecided: 0,
        before: { meant: 1, engaged: 1, right: 0, precision: 0, recall: 0 },
        after: { meant: 1, engaged: 1, right: 1, precision: 1, recall: 1 },
      });
      expect(found.slice(0, -1)).toEqual(parsed(without.out));
      expect(run).toEqual(runWithout);
    },
    slow,
  );

  test("are redacted like their messages", async () => {
    const texts: string[] = [];
    for await (const line of redacted(scenarioOf(lines, "labels").lines))
      texts.push(JSON.stringify(line));
    const all = texts.map((text) => JSON.parse(text) as Record<string, never>);
    const ids = all.flatMap((one) => ("in" in one ? [(one.in as { id: string }).id] : []));
    const labels = all.flatMap((one) =>
      "label" in one ? [one.label as { id: string; expected: string }] : [],
    );
    expect(labels.map(({ expected }) => expected)).toEqual([
      ...["observe", "observe", "engage", "engage", null],
    ]);
    expect(labels.map(({ id }) => ids.indexOf(id))).toEqual([1, 2, 3, 0, 0]);
    // No id stays itself; a pseudonym may well be the id of another message.
    expect(ids.filter((id, index) => id === `m${index}`)).toEqual([]);
  });
});

describe("a bad line", () => {
  test(
    "late in the file ends with its place and code 2, and nothing has run",
    async () => {
      const good = { channel: "irc", chat: { id: "g", kind: "group" }, author: { id: "u" } };
      const lines = Array.from({ length: 500 }, (_, t) =>
        JSON.stringify({ t, in: { ...good, id: `m${t}` } }),
      );
      const path = file("late.jsonl", [...lines, '{"t":501,"config":5}'].join("\n"));
      const { code, out, err } = await earshot("replay", path, "--json");
      expect([code, out]).toEqual([2, ""]);
      expect(err.replaceAll(/\s+/g, " ")).toContain("late.jsonl:501 at config:");
      const config = file(
        "config.jsonl",
        [...lines, '{"t":501,"config":{"engagment":{}}}'].join("\n"),
      );
      const second = await earshot("replay", config, "--json");
      expect([second.code, second.out]).toEqual([2, ""]);
      expect(second.err.replaceAll(/\s+/g, " ")).toMatch(/config\.jsonl:501 at config.*engagment/);
    },
    slow,
  );
});
