/**
 * A daemon is killed with messages in its journal that it has not stepped on. The next one is ready before it
 * has read them: `status` must say so, as somebody may stop or replace a daemon in which nothing seems open.
 */

import { join } from "node:path";
import { expect, test } from "vitest";
import { conversationOf, newEvent } from "../../src/actors/protocol/event-codec.ts";
import { loadDriver } from "../../src/adapters/stores/sqlite-driver.ts";
import type { MessageReceived } from "../../src/machines/events/events.ts";
import {
  atRest,
  end,
  openPlatform,
  start,
  stateDirFor,
  statusOf,
  underWay,
} from "../crash/http-daemon.ts";
import { rounds } from "../support/rounds.ts";

const left = rounds(2_000, 6_000);
const perCommit = 1_000;

/** Messages as a daemon journals them, of which none is applied. */
const leave = (stateDir: string) =>
  atRest(stateDir, async (store) => {
    const [row] = await store.eventsByMessage("m0");
    const first = JSON.parse(row?.body ?? "") as MessageReceived;
    const { key } = (await store.conversation(row?.conv ?? 0)) ?? { key: "" };
    for (let from = 0; from < left; from += perCommit)
      await store.commit(
        Array.from({ length: perCommit }, (_, n) => {
          const message = { ...first.message, id: `left${from + n}` };
          const named = { identity: message.id, messageId: message.id };
          return newEvent(conversationOf(key), row?.cfg ?? 0, { ...first, message }, named).write;
        }),
      );
  });

test("status never says that nothing is left while journalled events are not applied", async () => {
  const platform = await openPlatform();
  const stateDir = stateDirFor(platform.url);
  const first = await start(stateDir);
  const message = {
    id: "m0",
    chat: { id: "peer", kind: "direct" },
    author: { id: "peer" },
    text: "hi",
  };
  const { base, headers } = first;
  const body = JSON.stringify(message);
  const taken = await fetch(`${base}/api/inbound?wait=decision`, { method: "POST", headers, body });
  expect(taken.status).toBe(200);
  await expect.poll(() => underWay(first), { timeout: 60_000 }).toBe(0);
  expect(await end(first, "SIGKILL")).toBe("SIGKILL");
  await leave(stateDir);

  const second = await start(stateDir);
  const { DatabaseSync } = loadDriver();
  const database = new DatabaseSync(join(stateDir, "earshot.db"), { readOnly: true });
  const unapplied = database.prepare(
    "SELECT count(*) AS n FROM journal j LEFT JOIN applied a ON a.seq = j.seq " +
      "WHERE a.seq IS NULL AND j.mid LIKE 'left%'",
  );
  const all = database.prepare("SELECT count(*) AS n FROM journal WHERE mid LIKE 'left%'");
  expect(all.get()).toEqual({ n: left });
  const said: number[] = [];
  for (;;) {
    const { events, reading } = (await statusOf(second)).unapplied;
    said.push(events);
    if (reading) continue;
    // Of those that were left: they only become fewer, while turns add events of their own.
    expect(events).toBeGreaterThanOrEqual((unapplied.get() as { n: number }).n);
    if (events === 0) break;
  }
  expect(Math.max(...said)).toBeLessThanOrEqual(left + 1);
  expect(unapplied.get()).toEqual({ n: 0 });
  database.close();
  expect(await end(second)).toBe(0);
  platform.close();
});
