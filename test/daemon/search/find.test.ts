/**
 * The search of a running daemon: `GET /api/search` and `earshot find`, with and without the daemon,
 * and what switching it off and on does.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SearchAnswer } from "../../../src/daemon/api-types/search.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { runCommand } from "../../support/built/command.ts";
import { builtMain } from "../../support/built/files.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { call, roomKey, say, writeRoomConfig } from "../../support/daemon/room-daemon.ts";

const stateDir = newFolder();
const indexFile = join(stateDir, "earshot.search.db");
const how = { stateDir, port: 0, workers: 0, logLevel: "fatal", env: {} } as const;
let daemon: Daemon;
let runs = true;

beforeAll(async () => {
  writeRoomConfig(stateDir, []);
  daemon = await startDaemon(how);
  await say(daemon, "m1", "ann", "the soup is cold", { mentions: ["bo"] });
  await say(daemon, "m2", "bo", "soups \u001b[2J are fine", { mentions: ["ann"] });
  await say(daemon, "m3", "cy", "déjà vu", { mentions: ["ann"] });
});
afterAll(() => (runs ? daemon.stop({ drainMs: 0 }) : undefined));

async function search(query: string): Promise<SearchAnswer> {
  return (await (await call(daemon, `/api/search?${query}`)).json()) as SearchAnswer;
}
const ids = async (query: string) => (await search(query)).found.map(({ id }) => id);
const soon = <Found>(read: () => Promise<Found>) => expect.poll(read, { timeout: 60_000 });

const env = { HOME: stateDir, EARSHOT_STATE_DIR: stateDir };
async function find(...args: readonly string[]) {
  const { code, out, err } = await runCommand(["find", ...args], { env });
  return { status: code, stdout: out, stderr: err };
}

test("the API finds by text and facts, with the found words and a cursor", async () => {
  await soon(() => ids("text=deja")).toEqual(["m3"]);
  expect(await ids("text=soup")).toEqual(["m2", "m1"]);
  const { found, index } = await search("text=soup&author=ann");
  expect(found).toMatchObject([
    { key: roomKey, kind: "heard", author: { name: "Ann" }, decision: "observe" },
  ]);
  expect(found[0]?.room).toBe("#release-room");
  expect(found[0]?.marks).toEqual([[4, 8]]);
  expect(index).toMatchObject({ state: "ready", fullText: true, problem: null });
  expect(await ids("decision=engage")).toEqual([]);
  expect(await ids(`room=${encodeURIComponent("agent:main:webhook:group:other")}`)).toEqual([]);
  expect(await ids("text=deja&decision=observe,denied")).toEqual(["m3"]);
  expect(await ids(`until=${Date.now() - 3_600_000}`)).toEqual([]);
  const first = await search("limit=2");
  expect(first.found.map(({ id }) => id)).toEqual(["m3", "m2"]);
  expect(await ids(`limit=2&before=${first.next}`)).toEqual(["m1"]);
});

test("an edit or a deletion in one chat of a session leaves the message with its id in another", async () => {
  const place = (id: string) => ({ channel: "webhook", chat: { id, kind: "direct" } as const });
  const hear = (chat: string, text: string) =>
    call(daemon, "/api/inbound?wait=decision", {
      ...place(chat),
      id: "17",
      author: { id: chat },
      text,
    });
  await hear("eve", "an umbrella from Eve");
  await hear("fay", "an umbrella from Fay");
  const texts = async (query: string) =>
    (await search(query)).found.filter(({ kind }) => kind === "heard").map(({ text }) => text);
  await soon(() => texts("text=umbrella")).toEqual([
    "an umbrella from Fay",
    "an umbrella from Eve",
  ]);
  const of = (chat: string) => ({ ...place(chat), account: "default", thread: null, id: "17" });
  await daemon.runtime.ingest("webhook", "default", [
    { type: "edit", edit: { ...of("eve"), text: "a parasol from Eve" } },
  ]);
  await soon(() => texts("text=parasol")).toEqual(["a parasol from Eve"]);
  expect(await texts("text=umbrella")).toEqual(["an umbrella from Fay"]);
  await daemon.runtime.ingest("webhook", "default", [{ type: "delete", deletion: of("fay") }]);
  await soon(() => texts("text=umbrella")).toEqual([]);
  expect(await texts("text=parasol")).toEqual(["a parasol from Eve"]);
});

test.each([
  ["decision=maybe"],
  ["rule=magic"],
  ["outcome=fine"],
  ["room=nonsense"],
  ["since=yesterday"],
  ["limit=many"],
])("the API refuses %s", async (query) => {
  const answer = await call(daemon, `/api/search?${query}`);
  expect(answer.status).toBe(400);
});

test("the API wants the token", async () => {
  expect((await fetch(`${daemon.base}/api/search`)).status).toBe(401);
});

test("earshot find prints what it finds, marked where there are colours; 1: nothing", async () => {
  await soon(() => ids("text=soup")).toHaveLength(2);
  const plain = await find("soup");
  expect(plain).toMatchObject({ status: 0, stderr: "" });
  expect(plain.stdout).toMatch(/Bo {2}in #release-room {2}observe by /u);
  expect(plain.stdout).toContain("soups ␛[2J are fine");
  expect(plain.stdout).not.toContain("\u001b");
  // In a process of its own: whether there are colours is found out once in each.
  const coloured = await promisify(execFile)(process.execPath, [builtMain, "find", "soup"], {
    env: { ...env, PATH: process.env.PATH, FORCE_COLOR: "1" },
  });
  expect(coloured.stdout).toContain("\u001b[33msoup");
  expect(await find("nobody said that")).toMatchObject({
    status: 1,
    stdout: "",
    stderr: "No matching messages.\n",
  });
  const json = JSON.parse((await find("--author", "cy", "--since", "1h", "--json")).stdout);
  expect(json.found).toMatchObject([{ id: "m3" }]);
  const page = await find("--limit", "1", "--room", roomKey);
  expect(page.stdout).toMatch(/More results: add --before \d+/u);
  const [, before = ""] = /--before (\d+)/u.exec(page.stdout) ?? [];
  expect((await find("--limit", "1", "--before", before)).stdout).toContain("#m2");
  expect((await find("--", "soup", "-cold")).stdout).not.toContain("#m1");
});

test.each([
  [["--decision", "maybe"], "--decision"],
  [["--outcome", "replied,fine"], "--outcome"],
  [["--since", "soon"], "Cannot read the time"],
  [["--limit", "-1"], "--limit"],
  [["--room", "kitchen"], "not a session key"],
])("earshot find %j is a usage error", async (args, says) => {
  const { status, stderr } = await find(...args);
  expect(status).toBe(2);
  expect(stderr).toContain(says);
});

test("off deletes the index, on builds it again from the journal", async () => {
  const file = join(stateDir, "earshot.json5");
  const before = readFileSync(file, "utf8");
  expect(existsSync(indexFile)).toBe(true);
  const off = { ...JSON.parse(before), search: { enabled: false } };
  writeFileSync(file, JSON.stringify(off), { mode: 0o600 });
  await soon(async () => (await search("text=soup")).index.state).toBe("off");
  expect(existsSync(indexFile)).toBe(false);
  expect(await find("soup")).toMatchObject({ status: 2 });
  await say(daemon, "m4", "ann", "soup again", { mentions: ["bo"] });
  expect(existsSync(indexFile)).toBe(false);
  writeFileSync(file, before, { mode: 0o600 });
  await soon(() => ids("text=soup")).toEqual(["m4", "m2", "m1"]);
});

test("what a killed daemon had not indexed is found after the next start, and without one", async () => {
  await say(daemon, "m5", "ann", "soup for the last time", { mentions: ["bo"] });
  await daemon.stop({ drainMs: 0 });
  runs = false;
  expect((await find("last", "time")).stdout).toContain("#m5");
  expect(await find("never")).toMatchObject({ status: 1 });
  daemon = await startDaemon(how);
  runs = true;
  await soon(() => ids("text=soup")).toEqual(["m5", "m4", "m2", "m1"]);
});
