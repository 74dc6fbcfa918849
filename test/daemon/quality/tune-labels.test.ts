/**
 * `POST /api/what-if/tune` on a real daemon: rules for what the owner labelled, one search at a time,
 * and nothing is applied.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TuneFound, TuneFrame } from "../../../src/daemon/api-types/tune.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { labelledLines, labelTalk } from "../../support/daemon/labelled-talk.ts";
import { call, say, writeRoomConfig } from "../../support/daemon/room-daemon.ts";

const stateDir = newFolder();
let daemon: Daemon;
beforeAll(async () => {
  writeRoomConfig(stateDir, []);
  daemon = await startDaemon({
    stateDir,
    port: 0,
    workers: 0,
    env: {},
    writeLog: () => undefined,
  });
});
afterAll(() => daemon.stop({ drainMs: 0 }));

const asked = { since: 0, measure: "precision", atLeast: 0.9 };
const framesIn = (text: string) =>
  text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(event.slice("data: ".length)) as TuneFrame);
async function tuned(body: object = asked): Promise<readonly TuneFrame[]> {
  const answer = await call(daemon, "/api/what-if/tune", body);
  expect(answer.status).toBe(200);
  return framesIn(await answer.text());
}
const foundIn = (frames: readonly TuneFrame[]): TuneFound => {
  const last = frames.at(-1);
  if (last?.type !== "found") throw new Error(JSON.stringify(last));
  return last.found;
};

test("without labels it says what to do", async () => {
  expect(await tuned()).toEqual([
    { type: "failed", message: expect.stringContaining("nobody has labelled a message") },
  ]);
});

test("the name that people use is found, as rules that nobody applied", async () => {
  await labelTalk(daemon);
  const frames = await tuned();
  expect(frames.some(({ type }) => type === "progress")).toBe(true);
  const found = foundIn(frames);
  expect(found).toMatchObject({ rooms: 1, labels: labelledLines, reached: true });
  expect(found.edits).toContainEqual({
    path: "agents.list[0].aliases",
    before: ["scout"],
    after: ["scout", "navi"],
  });
  expect(found.rules).toContain('aliases: ["scout", "navi"]');
  expect(found.best.recall.mean).toBeGreaterThan(found.given.recall.mean);
  expect(await say(daemon, "later", "ann", "navi, still there?")).toBe("observe default");
  expect(foundIn(await tuned()).rules).toBe(found.rules);
});

test("its rules decide as it said when they are applied", async () => {
  const { rules } = foundIn(await tuned());
  const plan = await call(daemon, "/api/what-if/plan", { rules });
  const { token } = (await plan.json()) as { token: string };
  const applied = await call(daemon, "/api/what-if/apply", { rules, token });
  expect(applied.status).toBe(200);
  const { undo } = (await applied.json()) as { undo: unknown };
  expect(await say(daemon, "applied", "ann", "navi, and now?")).toBe("engage alias");
  expect((await call(daemon, "/api/what-if/undo", { undo })).status).toBe(200);
});

test("one search runs at a time, and one whose reader goes makes place", async () => {
  const stop = new AbortController();
  const first = await fetch(`${daemon.base}/api/what-if/tune`, {
    method: "POST",
    headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
    body: JSON.stringify(asked),
    signal: stop.signal,
  });
  expect(first.status).toBe(200);
  expect(await tuned()).toEqual([
    { type: "failed", message: expect.stringContaining("another search runs") },
  ]);
  stop.abort();
  await expect
    .poll(async () => (await tuned()).at(-1)?.type, { timeout: 20_000, interval: 100 })
    .toBe("found");
});

test.each([
  { ...asked, measure: "speed" },
  { ...asked, atLeast: 2 },
  { measure: "f1", atLeast: null },
])("bad bodies are refused: %j", async (body) => {
  expect((await call(daemon, "/api/what-if/tune", body)).status).toBe(400);
});

test("only with the token", async () => {
  const answer = await fetch(`${daemon.base}/api/what-if/tune`, { method: "POST", body: "{}" });
  expect(answer.status).toBe(401);
});
