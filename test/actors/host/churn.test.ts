/**
 * Conversations that are evicted and loaded again: a host that can keep one decides the same as a
 * host that keeps all, across restarts, from records and from tails, with every store.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { Store } from "../../../src/domain/ports/index.ts";
import { rounds } from "../../support/rounds.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

const opened: Store[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function onDisk(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), "earshot-churn-"));
  folders.push(folder);
  return openSqliteStore({ path: join(folder, "earshot.db") });
}

const kinds: readonly [string, () => Promise<Store>][] = [
  ["temporary", async () => createTestStore()],
  ["sqlite", onDisk],
];

const rooms = 7;
/** One restart of the world is among them, or two. */
const times = rounds(14, 24);

/** Some talk, now and then a question to the agent; what was decided and said, in order. */
async function talk(store: Store, liveConversations: number) {
  let loads = 0;
  opened.push(store);
  const counting: Store = {
    ...store,
    tail: (conv, after, before) => {
      // A turn that looks for deletions reads to the end.
      if (before !== undefined) loads += 1;
      return store.tail(conv, after, before);
    },
  };
  const config = { workers: { liveConversations } };
  const world = await new World({ store: counting, config }).start();
  for (let round = 0; round < times; round += 1) {
    for (let room = 0; room < rooms; room += 1) {
      const asks = (round * rooms + room) % 11 === 0;
      await world.say(`line ${round}`, {
        id: `m${round}-${room}`,
        chat: { id: `r${room}`, kind: "group" },
        author: { id: `u${(round + room) % 3}`, name: "U" },
        ...(asks ? { mentions: [{ id: "bot", isSelf: true }] } : {}),
      });
    }
    await world.pass(round % 4 === 0 ? 3_000 : 40);
    if (round % 10 === 9) await world.restart();
  }
  await world.pass(60_000);
  const decided = world.decisions().map(({ id, decision, rule }) => `${id} ${decision} ${rule}`);
  await world.runtime.stop();
  return { decided: decided.sort(), sent: world.sent.map(({ id }) => id).sort(), loads };
}

test.each(kinds)("on the %s store", async (_kind, create) => {
  const calm = await talk(await create(), 1_000);
  const churned = await talk(await create(), 1);
  expect(churned.decided).toEqual(calm.decided);
  expect(churned.sent).toEqual(calm.sent);
  expect(calm.decided).toHaveLength(rooms * times);
  expect(new Set(calm.decided.map((line) => line.split(" ")[1])).size).toBeGreaterThan(1);
  // Otherwise nothing was evicted.
  expect(churned.loads).toBeGreaterThan(4 * calm.loads);
});
