/**
 * What-if through a real daemon: its own journal under other rules, the ladders of both, the rules
 * put over the config and taken back, and what is refused.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type {
  WhatIfApplied,
  WhatIfFrame,
  WhatIfLadders,
  WhatIfRecording,
  WhatIfResult,
} from "../../../src/daemon/api-types/what-if.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { call, line, roomKey, say, writeRoomConfig } from "../../support/daemon/room-daemon.ts";

const stateDir = newFolder();
let daemon: Daemon;
let recording: WhatIfRecording;
beforeAll(async () => {
  writeRoomConfig(stateDir, []);
  daemon = await startDaemon({
    stateDir,
    port: 0,
    workers: 0,
    env: {},
    writeLog: () => undefined,
  });
  await say(daemon, "m1", "ann", "morning", { mentions: ["bo"] });
  await say(daemon, "m2", "bo", "navi, which branch is on staging?");
  await say(daemon, "m3", "cy", "scout, status?");
  await say(daemon, "m4", "bo", "does navi know?");
  recording = await asked<WhatIfRecording>("recordings", { since: 0, name: "Everything" });
});
afterAll(() => daemon.stop({ drainMs: 0 }));

async function asked<Answer>(path: string, body: unknown): Promise<Answer> {
  const answer = await call(daemon, `/api/what-if/${path}`, body);
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}
const configFile = join(stateDir, "earshot.json5");
async function apply(rules: string): Promise<WhatIfApplied> {
  const plan = await asked<{ lines: string[]; token: string }>("plan", { rules });
  expect(plan.lines.join("\n")).toMatch(/^\+.*navi/mu);
  return asked<WhatIfApplied>("apply", { rules, token: plan.token });
}
async function tried(rules: string, id = recording.id): Promise<WhatIfFrame[]> {
  const answer = await call(daemon, "/api/what-if/run", { recording: id, rules });
  const events = (await answer.text()).split("\n\n").filter((event) => event !== "");
  return events.map((event) => JSON.parse(event.slice("data: ".length)) as WhatIfFrame);
}
const resultIn = (frames: readonly WhatIfFrame[]): WhatIfResult => {
  const last = frames.at(-1);
  if (last?.type !== "result") throw new Error(JSON.stringify(last));
  return last.result;
};
const listens = (rules: string) =>
  rules.replace(/aliases: \[[^\]]*\]/, 'aliases: ["scout", "navi"]');

describe("what if", () => {
  test("a recording of the journal comes with the rules in force, and no change changes nothing", async () => {
    expect(recording).toMatchObject({ messages: 4, rooms: 1, isOurs: true, name: "Everything" });
    expect(recording.rules).toMatch(/aliases: \[\s*"scout",?\s*\]/);
    const frames = await tried(recording.rules);
    expect(frames[0]).toEqual({ type: "valid", edits: [] });
    expect(resultIn(frames)).toMatchObject({ messages: 4, changed: 0, otherRule: 0, changes: [] });
  });

  test("another name for the agent engages who used it, and says so with both decisions", async () => {
    const frames = await tried(listens(recording.rules));
    expect(frames[0]).toMatchObject({
      edits: [{ path: "agents.list.0.aliases", before: ["scout"], after: ["scout", "navi"] }],
    });
    const result = resultIn(frames);
    expect(result).toMatchObject({ changed: 2, nowEngage: 2, nowObserve: 0, otherRule: 0 });
    expect(result.changes).toMatchObject([
      {
        id: "m2",
        author: "Bo",
        room: "#release-room",
        text: "navi, which branch is on staging?",
        before: { decision: "observe", rule: "default" },
        after: { decision: "engage", rule: "alias" },
      },
      { id: "m4", after: { decision: "engage" } },
    ]);
    const n = result.changes[0]?.n;
    const asking = { recording: recording.id, rules: listens(recording.rules), n };
    const ladders = await asked<WhatIfLadders>("ladders", asking);
    expect(ladders.before?.explanation?.verdict.rule).toBe("default");
    expect(ladders.after?.explanation?.verdict.rule).toBe("alias");
  });

  test("what is wrong is named with its place and line, and nothing is run", async () => {
    const wrong = recording.rules.replace(/windowMs: \d+/, "windowMs: -1");
    const line = wrong.slice(0, wrong.indexOf("windowMs: -1")).split("\n").length;
    expect(await tried(wrong)).toMatchObject([
      { type: "invalid", problems: [{ path: "engagement.stickiness.windowMs", line }] },
    ]);
    expect(await tried("{ engagement: { triger: [] } }")).toMatchObject([
      {
        type: "invalid",
        problems: [{ message: expect.stringContaining('Did you mean "trigger"') }],
      },
    ]);
    expect(await tried("{ engagement:\n oh }")).toMatchObject([
      { type: "invalid", problems: [{ path: "", line: 2 }] },
    ]);
  });

  test("applied rules are shown first, count at once, are in the file, and can be taken back", async () => {
    expect(await say(daemon, "m5", "dee", "navi, hello")).toBe("observe default");
    const before = readFileSync(configFile, "utf8");
    const applied = await apply(listens(recording.rules));
    expect(applied.edits.map(({ path }) => path)).toEqual(["agents.list.0.aliases"]);
    expect(applied.rules).toContain('"navi"');
    expect(await say(daemon, "m6", "dee", "navi, hello again")).toBe("engage alias");
    expect(readFileSync(configFile, "utf8")).toContain('"navi"');
    expect(existsSync(join(stateDir, "config-set.json"))).toBe(false);
    const undone = await asked<{ rules: string }>("undo", { undo: applied.undo });
    expect(undone.rules).toBe(recording.rules);
    expect(await say(daemon, "m7", "ann", "navi, are you there?")).toBe("observe default");
    const twice = await call(daemon, "/api/what-if/undo", { undo: applied.undo });
    expect(twice.status).toBe(400);
    expect(readFileSync(configFile, "utf8")).toBe(before);
  });

  test("who was not let in stays out under other rules, and who was stays in", async () => {
    const stranger = { ...line("o1", "dee", "navi, from afar"), outside: true };
    const frames = await call(daemon, "/api/inbound?wait=decision", stranger);
    expect(await frames.json()).toMatchObject({ taken: [{ decision: "denied" }] });
    const body = { since: 0, name: "With a stranger" };
    const { id, rules } = await asked<WhatIfRecording>("recordings", body);
    const changed = resultIn(await tried(listens(rules), id)).changes.map((one) => one.id);
    expect(changed).toContain("m2");
    expect(changed).not.toContain("o1");
  });

  test("of several values, one that may not be set here leaves all as they were", async () => {
    const rules = listens(recording.rules).replace(/^\{/, '{ access: { allowFrom: ["mallory"] },');
    const before = readFileSync(configFile, "utf8");
    const refused = await call(daemon, "/api/what-if/plan", { rules });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("access.allowFrom");
    expect(await say(daemon, "m8", "ann", "navi, and now?")).toBe("observe default");
    const late = await call(daemon, "/api/what-if/apply", { rules, token: "x" });
    expect(late.status).toBe(400);
    expect(readFileSync(configFile, "utf8")).toBe(before);
  });

  test("a file of somebody else is asked about under its own rules, and a bad one is refused by line", async () => {
    const upload = (text: string) =>
      fetch(`${daemon.base}/api/what-if/files?name=theirs.jsonl`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${daemon.token}`,
          "content-type": "application/jsonl",
        },
        body: text,
      });
    const header = { earshot: 1, config: { agents: { list: [{ id: "main", name: "Hal" }] } } };
    const message = { chat: { id: "r", kind: "group" }, id: "1", author: { id: "a" } };
    const lines = [
      header,
      { t: 0, in: { channel: "x", ...message, text: "hal?", mentions: [{ id: "b" }] } },
      { t: 5, in: { channel: "x", ...message, id: "2", author: { id: "b" }, text: "hal?" } },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    const theirs = (await (await upload(text)).json()) as WhatIfRecording;
    expect(theirs).toMatchObject({ messages: 2, isOurs: false });
    expect(theirs.rules).toContain('"Hal"');
    const result = resultIn(await tried(theirs.rules.replace('"Hal"', '"Dave"'), theirs.id));
    expect(result).toMatchObject({ changed: 2, nowObserve: 2 });
    const bad = await upload(`${text}\n{"t":1}`);
    expect(bad.status).toBe(400);
    expect(await bad.text()).toContain("theirs.jsonl:4");
  });

  test("closing a try ends it, and the next one runs", async () => {
    const stop = new AbortController();
    const running = fetch(`${daemon.base}/api/what-if/run`, {
      method: "POST",
      headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
      body: JSON.stringify({ recording: recording.id, rules: `${listens(recording.rules)} ` }),
      signal: stop.signal,
    }).then((answer) => answer.text());
    stop.abort();
    await expect(running).rejects.toThrow();
    await expect
      .poll(async () => (await tried(listens(recording.rules))).at(-1)?.type, { timeout: 60_000 })
      .toBe("result");
  });

  test("both configs are measured on the messages that somebody labelled", async () => {
    expect(resultIn(await tried(recording.rules)).labelled).toBeNull();
    const key = encodeURIComponent(roomKey);
    for (const [id, expected] of [
      ["m1", "observe"],
      ["m2", "engage"],
      ["m3", "engage"],
      ["m4", "engage"],
      ["m4", "observe"],
      ["m3", "observe"],
      ["m3", "engage"],
    ]) {
      const answer = await call(daemon, `/api/rooms/${key}/label`, { id, expected });
      expect(answer.status).toBe(200);
    }
    const { id, rules } = await asked<WhatIfRecording>("recordings", { since: 0, name: "Labels" });
    const { labelled } = resultIn(await tried(listens(rules), id));
    expect(labelled).toEqual({
      messages: 4,
      undecided: 0,
      before: { meant: 2, engaged: 1, right: 1, precision: 1, recall: 0.5 },
      after: { meant: 2, engaged: 3, right: 2, precision: 2 / 3, recall: 1 },
    });
    for (const taken of ["m1", "m2", "m3", "m4"])
      await call(daemon, `/api/rooms/${key}/label`, { id: taken, expected: null });
    const again = await asked<WhatIfRecording>("recordings", { since: 0, name: "None" });
    expect(resultIn(await tried(again.rules, again.id)).labelled).toBeNull();
  });
});

test("rules apply on a default install, without a config file, and stay after a restart", async () => {
  const empty = newFolder();
  const start = () =>
    startDaemon({ stateDir: empty, port: 0, workers: 0, env: {}, writeLog: () => undefined });
  let fresh = await start();
  try {
    const body = { since: 0, name: "Nothing yet" };
    const made = await call(fresh, "/api/what-if/recordings", body);
    const { rules } = (await made.json()) as WhatIfRecording;
    const plan = await call(fresh, "/api/what-if/plan", { rules: listens(rules) });
    const { token } = (await plan.json()) as { token: string };
    const answer = await call(fresh, "/api/what-if/apply", { rules: listens(rules), token });
    expect(await answer.json()).toMatchObject({ edits: [{ path: "agents.list.0.aliases" }] });
    await fresh.stop({ drainMs: 0 });
    fresh = await start();
    const after = await call(fresh, "/api/what-if/recordings", body);
    expect(((await after.json()) as WhatIfRecording).rules).toBe(listens(rules));
  } finally {
    await fresh.stop({ drainMs: 0 });
  }
});
