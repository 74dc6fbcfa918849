/**
 * kill -9 while a judge is asked, and just after it has answered: a daemon in a process of its own,
 * the judge outside of it. Each line is decided once, a question that was cut short leaves its line
 * observed, and what was engaged is answered once. EARSHOT_SEED repeats a run's choices. What comes after
 * the last kill of a test runs in this process.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { decodeEvent } from "../../src/actors/protocol/event-codec.ts";
import type { Why } from "../../src/actors/protocol/why.ts";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import type { JournalEvent } from "../../src/machines/events/events.ts";
import { builtPages } from "../support/built/files.ts";
import { type DaemonProcess, startLast, startProcess } from "../support/daemon/daemon-process.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { rounds } from "../support/rounds.ts";
import { type JudgeServer, startJudgeServer } from "../support/servers/judge.ts";
import { chance } from "./world.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const patience = { timeout: 30_000, interval: 20 };
const yes = { engage: true, confidence: 0.9, why: "it asks" };
const echo = `export default async function* (turn) {
  yield { type: "text", text: "Scout: " + turn.said };
}`;

let stateDir = "";
let judge: JudgeServer;
let daemon: DaemonProcess;

beforeEach(async () => {
  stateDir = newFolder();
  judge = await startJudgeServer();
  writeFileSync(join(stateDir, "echo.mjs"), echo);
  const driver = { kind: "module", module: "./echo.mjs" };
  const asked = { kind: "webhook", url: judge.url, secret: "sixteen letters at least" };
  const config = {
    agents: { list: [{ id: "main", name: "Scout", driver }] },
    messages: { inbound: { debounceMs: 0 } },
    engagement: {
      stickiness: { enabled: false },
      judge: { ...asked, minConfidence: 0.6, perMinuteMax: 1_000, timeoutMs: 20_000 },
    },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  daemon = await startProcess(stateDir, builtPages);
});
afterEach(async () => {
  await daemon.kill();
  await judge.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function call(path: string, body?: unknown): Promise<unknown> {
  const { origin, hash } = daemon.page;
  const headers = {
    authorization: `Bearer ${hash.slice("#token=".length)}`,
    "content-type": "application/json",
  };
  const how = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(`${origin}/api${path}`, { headers, ...how });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Somebody of several; resolves when it is decided. */
async function say(id: string, over: object = {}): Promise<string> {
  const author = Number(id.slice(1)) % 2 === 0 ? { id: "ann", name: "Ann" } : { id: "bo" };
  const chat = { id: "kitchen", kind: "group" };
  const message = { channel: "webhook", chat, id, author, text: `line ${id}`, ...over };
  const { taken } = (await call("/inbound?wait=decision", message)) as {
    taken: { decision: string; rule: string }[];
  };
  return `${taken[0]?.decision} ${taken[0]?.rule}`;
}

/** `isLast`: nothing kills the next one. */
async function crash(isLast: boolean): Promise<void> {
  await daemon.kill();
  daemon = await (isLast ? startLast : startProcess)(stateDir, builtPages);
}

const asked = (id: string) =>
  judge.questions.filter(({ lines }) => lines.at(-1)?.text === `line ${id}`).length;

async function whyOf(id: string): Promise<Why> {
  const { why } = (await call(`/why/${id}`)) as { why: [Why] };
  return why[0];
}

async function sent(): Promise<readonly string[]> {
  const { outbound } = (await call("/outbound")) as { outbound: { text: string }[] };
  return outbound.map(({ text }) => text);
}

/** Nobody is alone with the agent: two people write to somebody else. */
async function begin(): Promise<void> {
  const mentions = [{ id: "zoe" }];
  expect(await say("m0", { mentions })).toBe("observe mentions-others");
  expect(await say("m1", { mentions })).toBe("observe mentions-others");
}

test("a kill in mid-question leaves the line observed, and the next turn is shown it", async () => {
  await begin();
  expect(await say("m2")).toBe("observe judge");
  await expect.poll(() => asked("m2"), patience).toBe(1);
  await crash(true);
  // The platform delivers it again: it is known.
  expect(await say("m2")).toBe("duplicate duplicate");
  // An answer to the process that is gone reaches nobody.
  judge.answer("line m2", yes);
  judge.answer("line m3", yes);
  expect(await say("m3")).toBe("observe judge");
  await expect.poll(sent, patience).toEqual(["Scout: line m3"]);
  const { recorded, judgement, fate } = await whyOf("m2");
  expect(recorded).toMatchObject({ decision: "observe", rule: "judge" });
  expect(judgement).toBeUndefined();
  expect(fate.turnId).toBeNull();
  const question = judge.questions.find(({ lines }) => lines.at(-1)?.text === "line m3");
  expect(question?.lines.map(({ text }) => text)).toContain("line m2");
  expect(asked("m2")).toBe(1);
});

test("kills around a judge's answer: each line is decided once and answered at most once", async () => {
  const random = chance(seed);
  const ids = Array.from({ length: rounds(1, 20) }, (_, index) => `m${index + 2}`);
  await begin();
  for (const id of ids) {
    expect(await say(id), `seed ${seed}`).toBe("observe judge");
    await expect.poll(() => asked(id), patience).toBe(1);
    judge.answer(`line ${id}`, yes);
    await new Promise((done) => setTimeout(done, random() * 60));
    await crash(id === ids.at(-1));
  }
  /** A turn was shown the line before the answer came, which closes the question. */
  const shown: string[] = [];
  for (const id of ids) {
    const { recorded, judgement } = await whyOf(id);
    expect(recorded, `seed ${seed}`).toMatchObject({ decision: "observe", rule: "judge" });
    if (judgement === undefined) continue;
    expect(judgement, `seed ${seed}: ${id}`).toMatchObject({ engage: true });
    if (!judgement.engaged) {
      shown.push(id);
      continue;
    }
    // What was engaged is answered, also where the turn was cut short.
    const outcome = async () => (await whyOf(id)).fate.outcome;
    await expect.poll(outcome, patience).not.toBeNull();
  }
  const texts = await sent();
  expect(new Set(texts).size, `seed ${seed}: ${texts.join(", ")}`).toBe(texts.length);
  await daemon.kill();
  const store = await openSqliteStore({ path: join(stateDir, "earshot.db") });
  const rows = await store.scan(0, 100_000);
  await store.close();
  const events = rows.map((row) => decodeEvent(row));
  for (const id of ids) {
    const isJudged = (event: JournalEvent) => event.type === "judge.answered" && event.id === id;
    const isHeard = (event: JournalEvent) =>
      event.type === "message.received" && event.message.id === id;
    expect(events.filter(isHeard).length, `seed ${seed}`).toBe(1);
    expect(events.filter(isJudged).length, `seed ${seed}`).toBeLessThanOrEqual(1);
    expect(asked(id), `seed ${seed}`).toBe(1);
    if (!shown.includes(id)) continue;
    const [from, to] = [events.findIndex(isHeard), events.findIndex(isJudged)];
    const between = events.slice(from, to).map(({ type }) => type);
    expect(between, `seed ${seed}: ${id}`).toContain("lane.granted");
  }
  expect(rows.every(({ code }) => code !== null)).toBe(true);
});
