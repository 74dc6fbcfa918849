/**
 * The log of a database in a file is synced beside the main thread: once for all that waits, and a sync
 * that failed is believed again only when everything is in the database itself.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { conversationOf, newEvent } from "../../../src/actors/protocol/event-codec.ts";
import type { HostEntry } from "../../../src/actors/protocol/host-protocol.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { loadDriver } from "../../../src/adapters/stores/sqlite-driver.ts";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { StoreWrite } from "../../../src/domain/ports/index.ts";
import { createTestJournal } from "../../support/runtime/test-journal.ts";

const meta = (name: string): StoreWrite[] => [{ kind: "meta", name, value: name }];
const room = conversationOf("agent:main:telegram:group:1");
const event = (name: string) =>
  newEvent(room, 1, { type: "deadline.due", at: 5, id: name }, { identity: name });
const failure = () => Promise.reject(Object.assign(new Error("EIO: i/o error"), { code: "EIO" }));

/** A store whose syncs wait to be let through, or fail. */
async function world() {
  const folder = mkdtempSync(join(tmpdir(), "earshot-wal-"));
  const path = join(folder, "earshot.db");
  const syncs: { done: () => void; fail: () => void }[] = [];
  let isOver = false;
  const syncFile = () =>
    new Promise<void>((done, fail) => {
      if (isOver) done();
      else syncs.push({ done, fail: () => failure().catch(fail) });
    });
  const store = await openSqliteStore({ path, syncFile });
  // SQLite syncs the first one itself.
  await store.commit(meta("first"));
  onTestFinished(async () => {
    isOver = true;
    for (const { done } of syncs) done();
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const { DatabaseSync } = loadDriver();
  const inDatabase = (name: string) => {
    const reader = new DatabaseSync(path);
    const row = reader.prepare("SELECT value FROM meta WHERE name = ?").get(name);
    reader.close();
    return row !== undefined;
  };
  return { store, syncs, inDatabase };
}
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a commit that is ordered does not wait, one that is durable does, and a sync covers both", async () => {
  const { store, syncs } = await world();
  await store.commit(meta("a"), "ordered");
  expect(syncs).toHaveLength(0);
  let isDone = false;
  const durable = store.commit(meta("b")).then(() => {
    isDone = true;
  });
  await turn();
  expect([isDone, syncs.length]).toEqual([false, 1]);
  syncs[0]?.done();
  await durable;
  await store.sync();
  expect(syncs).toHaveLength(1);
});

test("what is written during a sync waits for the next one", async () => {
  const { store, syncs } = await world();
  await store.commit(meta("a"), "ordered");
  const before = store.sync();
  await turn();
  await store.commit(meta("b"), "ordered");
  let isDone = false;
  const after = store.sync().then(() => {
    isDone = true;
  });
  syncs[0]?.done();
  await before;
  await turn();
  expect([isDone, syncs.length]).toEqual([false, 2]);
  syncs[1]?.done();
  await after;
});

test("after a failed sync nothing is believed before a checkpoint", async () => {
  const { store, syncs, inDatabase } = await world();
  await store.commit(meta("a"), "ordered");
  const failing = store.sync();
  await turn();
  syncs[0]?.fail();
  await expect(failing).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
  await store.sync();
  expect(syncs).toHaveLength(1);
  expect(inDatabase("a")).toBe(true);
  await store.commit(meta("b"), "ordered");
  const again = store.sync();
  await turn();
  syncs[1]?.done();
  await again;
});

test("the journal keeps what was written before a failed sync, and passes each event on once", async () => {
  const { store, syncs } = await world();
  const clock = new SimulatedClock();
  const passed: HostEntry[] = [];
  const health: (string | null)[] = [];
  const journal = createTestJournal({
    clock,
    store,
    startGate: { pass: (entries) => void passed.push(...entries) },
    onHealth: (error) => health.push(error?.code ?? null),
  });
  const offered = journal.offer([event("a")]);
  while (syncs.length === 0) await turn();
  const late = journal.append([event("b")], [], "ordered");
  expect(await late).toEqual([2]);
  syncs[0]?.fail();
  while (health.length === 0) await turn();
  await expect(journal.offer([event("c")])).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
  clock.advanceTo(200);
  // The journal's attempt, after the checkpoint.
  while (syncs.length < 2) await turn();
  syncs[1]?.done();
  expect(await offered).toEqual([1]);
  expect(health).toEqual(["EAR_STORE_FAILED", null]);
  expect(passed.map(({ seq }) => seq)).toEqual([1, 2]);
  const next = journal.offer([event("d")]);
  while (syncs.length < 3) await turn();
  syncs[2]?.done();
  expect(await next).toEqual([3]);
});

test("what nobody waits for is synced a little later", async () => {
  const { store, syncs } = await world();
  const clock = new SimulatedClock();
  const journal = createTestJournal({ clock, store });
  await journal.append([event("a")], [], "ordered");
  expect(syncs).toHaveLength(0);
  clock.advanceTo(100);
  while (syncs.length === 0) await turn();
  syncs[0]?.done();
});

test("a sync that is begun ahead is the one that is waited for; nothing is believed before its end", async () => {
  const { store, syncs } = await world();
  const clock = new SimulatedClock();
  const journal = createTestJournal({ clock, store });
  await journal.append([event("a")], [], "ordered");
  journal.syncAhead();
  while (syncs.length === 0) await turn();
  let isDone = false;
  const synced = journal.synced().then(() => {
    isDone = true;
  });
  await turn();
  expect(isDone).toBe(false);
  syncs[0]?.done();
  await synced;
  expect(syncs).toHaveLength(1);
  // What is written after it needs one of its own.
  await journal.append([event("b")], [], "ordered");
  const again = journal.synced();
  while (syncs.length < 2) await turn();
  syncs[1]?.done();
  await again;
});
