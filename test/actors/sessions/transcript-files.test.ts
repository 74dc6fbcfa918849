/**
 * Transcript files follow the store: a line is in its file before anything of it is sent, a full
 * disk delays and loses nothing, and what a crash tore or lost is repaired.
 */
import { expect, test } from "vitest";
import type { SessionFile } from "../../../src/domain/ports/index.ts";
import { directKey, type SessionWorld, sessionWorld } from "../../support/runtime/session-world.ts";

const nameOf = async (world: SessionWorld) => {
  const session = await world.runtime.session(directKey);
  return `main/${session?.sessionId}`;
};
const ids = (lines: readonly { id: number }[]) => lines.map(({ id }) => id);

test("the file has every line of the store, as it is, in order", async () => {
  const world = await sessionWorld();
  for (const text of ["one", "two", "three"]) await world.talk(text, { direct: true });
  const stored = await world.transcript();
  expect(stored.length).toBe(9);
  expect(world.files.lines()).toEqual(stored.map(({ sessionId: _, ...line }) => line));
});

test("an answer is in the file when it is sent", async () => {
  const world = await sessionWorld();
  const seen: string[] = [];
  const directory = world.files;
  world.onSend = (text) => {
    seen.push(text);
    expect(directory.lines().map((line) => line.text)).toContain(text);
  };
  await world.talk("one", { direct: true });
  await world.talk("two", { direct: true });
  expect(seen).toEqual(["re: one", "re: two"]);
});

test("a full disk holds answers back, is told once, and loses nothing", async () => {
  const world = await sessionWorld();
  await world.talk("one", { direct: true });
  world.files.full = true;
  await world.say("two", { direct: true });
  await world.pass(60_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["re: one"]);
  expect(world.logged.filter(({ event }) => event === "sessions.failing")).toHaveLength(1);
  world.files.full = false;
  await world.pass(20_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["re: one", "re: two"]);
  expect(ids(world.files.lines())).toEqual(ids(await world.transcript()));
  expect(world.logged.map(({ event }) => event)).toContain("sessions.working");
});

test("a process that dies while the disk is full finds everything at its next start", async () => {
  const world = await sessionWorld();
  world.files.full = true;
  await world.say("one", { direct: true });
  await world.pass(10_000);
  world.files.full = false;
  await world.restart();
  await world.pass(30_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["re: one"]);
  expect(ids(world.files.lines())).toEqual(ids(await world.transcript()));
});

test("an answer that was committed and not yet written is written before the next start sends it", async () => {
  const world = await sessionWorld();
  const { append } = world.files;
  // What was said is written; from then on the disk is full, until the process has died of it.
  const fills = async (...args: Parameters<typeof append>) => {
    await append(...args);
    world.files.full = true;
  };
  Object.assign(world.files, { append: fills });
  await world.say("one", { direct: true });
  await world.pass(10_000);
  expect((await world.transcript()).map(({ text }) => text)).toContain("re: one");
  expect(world.sent).toEqual([]);
  Object.assign(world.files, { append, full: false });
  world.onSend = (text) => expect(world.files.lines().map((line) => line.text)).toContain(text);
  await world.restart();
  await world.pass(10_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["re: one"]);
});

test("a file that was lost, cut or torn is mended at the next start", async () => {
  const world = await sessionWorld();
  for (const text of ["one", "two"]) await world.talk(text, { direct: true });
  const name = await nameOf(world);
  const whole = world.files.files.get(name) ?? "";
  expect(whole.length).toBeGreaterThan(100);
  for (const damaged of [null, "", whole.slice(0, 90), whole.slice(0, -1)]) {
    if (damaged === null) world.files.files.delete(name);
    else world.files.files.set(name, damaged);
    await world.restart();
    expect(world.files.files.get(name)).toBe(whole);
  }
});

test("lines that come together are one write a file", async () => {
  const world = await sessionWorld();
  let slow = Promise.resolve();
  let go = () => {};
  const { append } = world.files;
  Object.assign(world.files, {
    async append(file: SessionFile, lines: string[]) {
      await slow;
      return append(file, lines);
    },
  });
  slow = new Promise((resolve) => {
    go = resolve;
  });
  for (let n = 0; n < 20; n += 1) {
    const id = `peer${n}`;
    await world.say("hi", { chat: { id, kind: "direct" }, author: { id, name: id } });
  }
  world.clock.advanceTo(world.clock.now() + 1_000);
  const before = world.files.writes.length;
  go();
  await world.pass(10_000);
  const lines = world.files.writes.slice(before).reduce((sum, one) => sum + one.lines, 0);
  expect(lines).toBe((await world.transcript()).length);
  expect(world.files.writes.length - before).toBeLessThan(lines);
});

test("the index names every session with its key, and is made again when it is missing", async () => {
  const world = await sessionWorld();
  await world.talk("one", { direct: true });
  await world.talk("earshot, two");
  await world.talk("/new three", { direct: true });
  await world.pass(10_000);
  const index = JSON.parse(world.files.indexes.get("main") ?? "{}") as {
    sessions: { sessionId: string; key: string; archivedAt: number | null }[];
  };
  const sessions = await world.runtime.sessions({ all: true, limit: 10 });
  expect(sessions).toHaveLength(3);
  expect(index.sessions).toEqual(
    sessions.map(({ sessionId, key, createdAt, archivedAt }) => ({
      sessionId,
      key,
      createdAt,
      archivedAt,
    })),
  );
  const written = world.files.indexes.get("main");
  world.files.indexes.clear();
  await world.restart();
  expect(world.files.indexes.get("main")).toBe(written);
});
