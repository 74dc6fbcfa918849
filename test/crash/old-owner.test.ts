/**
 * A process that stood still while another one took its database over, as on a disk that two machines
 * share: when it goes on, its store refuses every commit, nothing of it is sent, and its status says why.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import type { Store } from "../../src/domain/ports/index.ts";
import { World } from "../support/runtime/world.ts";

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

async function world(path: string, now?: number): Promise<World> {
  const store = await openSqliteStore({ path });
  stores.push(store);
  const made = new World({ store, config });
  if (now !== undefined) made.clock.advanceTo(now);
  worlds.push(made);
  return made;
}

/** The first process stands still with a turn that runs and an answer that waits; a second one starts. */
async function takenOver() {
  const folder = mkdtempSync(join(tmpdir(), "earshot-owner-"));
  folders.push(folder);
  const path = join(folder, "earshot.db");
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
