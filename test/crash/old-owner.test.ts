/**
 * A process that stood still while another one took its database over, as on a disk that two machines
 * share: when it goes on, its store refuses every commit, nothing of it is sent, and its status says why.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { SimulatedClock } from "../../src/actors/simulation/simulated-clock.ts";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import type { Store, StoreWrite } from "../../src/domain/ports/index.ts";
import { createTestJournal } from "../support/runtime/test-journal.ts";
import { World, type WorldOptions } from "../support/runtime/world.ts";

const hour = 3_600_000;
const folders: string[] = [];
const stores: Store[] = [];
const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.stop();
  for (const store of stores.splice(0)) await store.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const config = { session: { dmScope: "per-peer" }, turn: { maxMs: hour, idleMs: hour } };

async function opened(path: string): Promise<Store> {
  const store = await openSqliteStore({ path });
  stores.push(store);
  return store;
}

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "earshot-owner-"));
  folders.push(folder);
  return join(folder, "earshot.db");
}

async function world(path: string, now?: number, options: WorldOptions = {}): Promise<World> {
  const store = options.store ?? (await opened(path));
  const made = new World({ config, ...options, store });
  if (now !== undefined) made.clock.advanceTo(now);
  worlds.push(made);
  return made;
}

/** The first process stands still with a turn that runs and an answer that waits; a second one starts. */
async function takenOver() {
  const path = newPath();
  const old = await (await world(path)).start();
  const says = (who: string, id: string, by: World) =>
    by.say(id, { id, chat: { id: who, kind: "direct" }, author: { id: who } });
  old.runs.push({ afterMs: 0, steps: [{ text: "one" }] });
  await says("ann", "m1", old);
  await old.pass(3_000);
  old.fates.push("429");
  old.runs.push({ afterMs: 0, steps: [{ text: "two" }] });
  await says("ann", "m2", old);
  await old.pass(1_000);
  old.runs.push({ afterMs: 5_000, steps: [{ text: "three, of the old one" }] });
  await says("bob", "m3", old);
  await old.pass(900);
  expect(old.sent.map(({ text }) => text)).toEqual(["one"]);
  const young = await world(path, old.clock.now() + 60_000);
  young.runs.push({ afterMs: 0, steps: [{ text: "three" }] });
  await young.start();
  await young.pass(30_000);
  return { old, young, says };
}

test("a process whose database another one took over sends nothing more, and says so", async () => {
  const { old, young, says } = await takenOver();
  const said = young.sent.map(({ text }) => text);
  expect(said).toContain("three");
  await old.pass(hour * 2);
  expect(old.sent.map(({ text }) => text)).toEqual(["one"]);
  await expect(says("ann", "m4", old)).rejects.toMatchObject({ code: "EAR_STATE_LOCKED" });
  const status = old.runtime.status();
  expect(status.ready).toBe(false);
  expect(status.problem).toMatch(/another earshot has started/);

  await says("ann", "m4", young);
  young.runs.push({ afterMs: 0, steps: [{ text: "four" }] });
  await young.pass(30_000);
  expect(young.sent.map(({ text }) => text)).toEqual([...said, "four"]);
  expect(young.runtime.status()).toMatchObject({ ready: true, problem: null });
  const rows = await young.store.outboxByState(["sent"], 100);
  expect(rows.filter(({ kind }) => kind === "reply").length).toBe(
    old.sent.length + young.sent.length,
  );
});

test("a process that woke up leaves the records and the journal of its successor alone", async () => {
  const { old, young } = await takenOver();
  await young.runtime.passivateAll();
  const before = [await young.store.conversations({ limit: 100 }), await young.store.lastSeq()];
  await old.runtime.passivateAll().catch(() => undefined);
  await old.pass(hour * 2);
  await expect(stores[0]?.prune(old.clock.now(), 1_000)).rejects.toMatchObject({
    code: "EAR_STATE_LOCKED",
  });
  expect([await young.store.conversations({ limit: 100 }), await young.store.lastSeq()]).toEqual(
    before,
  );
});

/** What an old one has done outside. */
const doneBy = ({ sent, edited, reactions, typed }: World) => ({
  sent: sent.length,
  edited: edited.length,
  reactions: reactions.length,
  typed: typed.length,
});

/** Another process starts, and the old one goes on for two hours. Returns what the old one did before. */
async function overtake(path: string, old: World): Promise<ReturnType<typeof doneBy>> {
  await (await world(path, old.clock.now() + 60_000)).start();
  const before = doneBy(old);
  await old.pass(hour * 2);
  return before;
}

/** The store of a process that stands still after the commit of such a row, until it goes on. */
async function standsAfter(path: string, isIt: (write: StoreWrite) => boolean) {
  const store = await opened(path);
  let stand = () => {};
  const stands = new Promise<void>((done) => {
    stand = done;
  });
  let goOn = () => {};
  const goesOn = new Promise<void>((done) => {
    goOn = done;
  });
  let isStanding = false;
  const slow: Store = {
    ...store,
    async commit(writes, until) {
      const answers = await store.commit(writes, until);
      if (!writes.some(isIt)) return answers;
      isStanding = true;
      stand();
      return answers;
    },
    async sync() {
      if (isStanding) await goesOn;
      await store.sync();
    },
  };
  return { store: slow, stands, goOn };
}

test("a message that is marked as being sent is not sent once another process has started", async () => {
  const path = newPath();
  const still = await standsAfter(
    path,
    (write) => write.kind === "outbox" && write.row.state === "sending",
  );
  const old = await (await world(path, undefined, { store: still.store })).start();
  await old.say("hello", { direct: true });
  const passing = old.pass(10_000);
  await still.stands;
  const young = await (await world(path, old.clock.now() + 1_000)).start();
  still.goOn();
  await passing;
  await young.pass(10_000);
  expect(old.sent).toEqual([]);
  expect(young.sent).toHaveLength(1);
  expect(old.runtime.status().problem).toMatch(/another earshot has started/);
});

test("what waits for a sync is not done once another process has started", async () => {
  const path = newPath();
  const store = await opened(path);
  const journal = createTestJournal({ clock: new SimulatedClock(), store });
  await journal.keep([{ kind: "start", boot: 1 }]);
  await journal.synced();
  expect(journal.mayAct()).toBe(true);
  await (await opened(path)).commit([{ kind: "start", boot: 2 }]);
  await expect(journal.synced()).rejects.toMatchObject({ code: "EAR_STATE_LOCKED" });
  expect(journal.mayAct()).toBe(false);
  expect(journal.failing()?.code).toBe("EAR_STATE_LOCKED");
  await journal.stop();
});

test("no reaction is put or taken off once another process has started", async () => {
  const path = newPath();
  const messages = { ackReaction: "👀" };
  const old = await (await world(path, undefined, { config: { ...config, messages } })).start();
  old.runs.push({ afterMs: hour, steps: [] });
  old.reactionFates.push("429");
  await old.say("hello", { direct: true });
  await old.pass(1_500);
  expect(old.reactionFates).toEqual([]);
  expect(await overtake(path, old)).toMatchObject({ reactions: 0 });
  expect(old.reactions).toEqual([]);
});

test("typing is not shown any longer once another process has started", async () => {
  const path = newPath();
  const old = await (await world(path)).start();
  old.runs.push({ afterMs: hour, steps: [] });
  await old.say("hello", { direct: true });
  await old.pass(8_000);
  const before = await overtake(path, old);
  expect(before.typed).toBeGreaterThan(0);
  expect(doneBy(old)).toEqual(before);
});

test("a message that grows stays as it is once another process has started", async () => {
  const path = newPath();
  const draft = { config: { ...config, stream: { mode: "draft" } } };
  const old = await (await world(path, undefined, draft)).start();
  const steps = Array.from({ length: 60 }, () => [
    { text: "some more words of it. " },
    { waitMs: 500 },
  ]).flat();
  old.runs.push({ afterMs: 0, steps });
  await old.say("hello", { direct: true });
  await old.pass(8_000);
  const before = await overtake(path, old);
  expect(before.edited).toBeGreaterThan(1);
  expect(doneBy(old)).toEqual(before);
});
