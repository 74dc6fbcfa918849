/**
 * The index follows the journal of a real daemon: what people and the agent wrote, with decision,
 * rule and outcome, edits and deletions; after a crash at any point it is whole.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { conversationOf } from "../../../src/actors/protocol/event-codec.ts";
import { openSearchIndex } from "../../../src/adapters/search/search-database.ts";
import { openSqliteStore, openTemporaryStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { createFollower } from "../../../src/daemon/search/follower.ts";
import type { SearchIndex, Store } from "../../../src/domain/ports/index.ts";
import { parseQuery } from "../../../src/domain/search/query.ts";
import { call, line, roomKey, say, writeRoomConfig } from "../../support/daemon/room-daemon.ts";
import { property } from "../../support/property.ts";

const folder = mkdtempSync(join(tmpdir(), "earshot-follow-"));
const agentOf = () => ({ id: "main", name: "Scout" });
let store: Store;

/** Waits in a hook, where `expect.poll` is not to be had. */
const soon = (holds: () => Promise<boolean>) => vi.waitUntil(holds, { timeout: 30_000 });

async function outcomes(daemon: Daemon): Promise<string[]> {
  const answer = await call(daemon, `/api/search?limit=200&room=${encodeURIComponent(roomKey)}`);
  const { found } = (await answer.json()) as { found: { outcome: string | null }[] };
  return found.flatMap(({ outcome }) => outcome ?? []);
}

beforeAll(async () => {
  writeRoomConfig(folder, [
    { steps: [{ text: "the staging branch is green" }] },
    { steps: [{ text: "NO_REPLY" }] },
    { steps: [{ error: "out of tokens" }] },
  ]);
  const how = { stateDir: folder, port: 0, workers: 0, logLevel: "fatal", env: {} } as const;
  const daemon = await startDaemon(how);
  const aimed = { mentions: ["scout"] } as const;
  await say(daemon, "m1", "ann", "is staging green?", aimed);
  await soon(async () => (await outcomes(daemon)).join() === "replied,replied");
  await say(daemon, "m2", "bo", "thanks, that is all", aimed);
  await soon(async () => (await outcomes(daemon)).includes("silent"));
  await say(daemon, "m3", "cy", "and the tests?", aimed);
  await soon(async () => (await outcomes(daemon)).includes("failed"));
  await say(daemon, "m4", "dee", "lunch at noon", { mentions: ["bo"] });
  await say(daemon, "m5", "ann", "my password is hunter2", { mentions: ["bo"] });
  const { chat } = line("x", "ann", "");
  const place = { channel: "webhook", account: "default", chat, thread: null };
  await daemon.runtime.ingest("webhook", "default", [
    { type: "edit", edit: { ...place, id: "m4", text: "dinner at eight", editedAt: 1 } },
    { type: "delete", deletion: { ...place, id: "m5" } },
  ] as never);
  await soon(async () =>
    (await (await call(daemon, "/api/search?text=dinner")).text()).includes("m4"),
  );
  await daemon.stop({ drainMs: 0 });
  store = await openSqliteStore({ path: join(folder, "earshot.db") });
});
afterAll(async () => {
  await store?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function all(index: SearchIndex) {
  const { found } = await index.find({ terms: [], limit: 1_000 });
  return found.map(({ entry: _, ...message }) => message).reverse();
}

describe("what it makes of a journal", () => {
  test.each([true, false])("messages with their facts, in order (FTS5: %s)", async (fullText) => {
    const index = openSearchIndex({ path: null, fullText });
    await createFollower({ store, index, agentOf }).catchUp();
    const found = await all(index);
    expect(
      found.map(({ author, text, decision, rule, outcome }) =>
        [author.name, text, decision, rule, outcome].join(" | "),
      ),
    ).toEqual([
      "Ann | is staging green? | engage | mention | replied",
      "Scout | the staging branch is green |  |  | replied",
      "Bo | thanks, that is all | engage | mention | silent",
      "Cy | and the tests? | engage | mention | failed",
      "Dee | dinner at eight | observe | mentions-others | ",
    ]);
    expect(found.every(({ key }) => key === roomKey)).toBe(true);
    for (const gone of ["hunter2", "noon"])
      expect((await index.find({ terms: parseQuery(gone), limit: 9 })).found).toEqual([]);
    expect(index.waiting(0, 9)).toEqual([]);
    index.close();
  });

  property([fc.array(fc.nat(12), { maxLength: 6 })], { numRuns: 25 })(
    "is the same however often the process dies in between",
    async (deaths) => {
      const path = join(folder, "died.search.db");
      rmSync(path, { force: true });
      for (const steps of deaths) {
        const index = openSearchIndex({ path });
        await createFollower({ store: slow(store), index, agentOf })
          .catchUp(dyingAfter(steps))
          .finally(() => index.close());
      }
      const index = openSearchIndex({ path });
      await createFollower({ store: slow(store), index, agentOf }).catchUp();
      const whole = openSearchIndex({ path: null });
      await createFollower({ store, index: whole, agentOf }).catchUp();
      expect(await all(index)).toEqual(await all(whole));
      index.close();
      whole.close();
      for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    },
  );
});

/** Few rows at a time. */
const slow = (from: Store): Store => ({ ...from, scan: (after) => from.scan(after, 32) });

function dyingAfter(steps: number): () => boolean {
  let left = steps;
  return () => {
    left -= 1;
    return left < 0;
  };
}

test("another journal under the same path: what was of the old one goes", async () => {
  const index = openSearchIndex({ path: null });
  await createFollower({ store, index, agentOf }).catchUp();
  const empty = openTemporaryStore();
  await createFollower({ store: empty, index, agentOf }).catchUp();
  expect(index.size()).toBe(0);
  await empty.close();
  index.close();
});

test("rows that are not applied yet are found, and get their decision later", async () => {
  const journal = openTemporaryStore();
  const index = openSearchIndex({ path: null });
  const follower = createFollower({ store: journal, index, agentOf });
  const name = conversationOf(roomKey);
  const [row] = (await store.scan(0, 100)).filter(({ body }) =>
    body.includes('"is staging green?"'),
  );
  const event = { kind: "event", at: 1, eid: 1, identity: "x", cfg: 0, messageId: "m1" } as const;
  const [seq = 0] = await journal.commit([{ ...event, ...name, body: row?.body ?? "" }]);
  await follower.catchUp();
  expect(await all(index)).toMatchObject([{ id: "m1", decision: null }]);
  await journal.commit([{ kind: "applied", seq, code: row?.code ?? 0 }]);
  await follower.catchUp();
  expect(await all(index)).toMatchObject([{ id: "m1", decision: "engage", rule: "mention" }]);
  expect(index.waiting(0, 9)).toEqual([]);
  await journal.close();
  index.close();
});
