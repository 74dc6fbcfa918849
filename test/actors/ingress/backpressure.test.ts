/**
 * The intake waits while too many events wait for the hosts, and no longer.
 */

import { expect, test } from "vitest";
import { openAccessStore } from "../../../src/actors/access/access-store.ts";
import { createWaiters } from "../../../src/actors/effects/decision-waiters.ts";
import { createIngress } from "../../../src/actors/ingress/ingress.ts";
import { openConfigs } from "../../../src/actors/journal/config-versions.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { Backpressure } from "../../../src/actors/supervisor/backpressure.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { createRandom } from "../../../src/adapters/system/ids.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import { limits } from "../../../src/domain/limits.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import { createTestJournal } from "../../support/runtime/test-journal.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const ticks = async () => {
  for (let n = 0; n < 5; n += 1) await new Promise(setImmediate);
};

/** A backlog whose size is set by the test. */
function rig(size: number) {
  const world = { size, wake: () => undefined as undefined };
  const change = () =>
    new Promise<void>((resolve) => {
      world.wake = () => void resolve();
    });
  const backlog = new Backpressure(() => world.size, change);
  return { world, backlog };
}

test("there is room up to the limit, and again when half of it is gone", async () => {
  const { world, backlog } = rig(limits.backlogEventsMax);
  expect(backlog.capacity()).toBeNull();
  world.size += 1;
  let free = false;
  const room = backlog.capacity() as Promise<void>;
  expect(backlog.capacity()).toBe(room);
  void room.then(() => {
    free = true;
  });
  world.size = limits.backlogEventsMax - 10;
  world.wake();
  await ticks();
  expect(free).toBe(false);
  world.size = limits.backlogEventsMax / 2;
  world.wake();
  await room;
  expect(backlog.capacity()).toBeNull();
});

async function intake(size: number) {
  const { world, backlog } = rig(size);
  const clock = createSystemClock();
  const store = createTestStore();
  const { configs } = await openConfigs(store, parseConfig({}));
  const log = () => undefined;
  const events = createRuntimeEvents(log);
  const journal = createTestJournal({ clock, store, events });
  const ingress = createIngress({
    clock,
    log,
    journal,
    store,
    configs,
    waiters: createWaiters(events),
    live: true,
    supervisor: backlog,
    ids: { next: () => "id" },
    directory: { isLocal: () => false, membership: () => null },
    events,
    heartbeats: { noteRoute: () => null },
    access: openAccessStore([], {
      clock,
      random: createRandom(),
      digest: sha256,
      journal,
      configs,
    }),
    outbox: { enqueue: () => undefined, textOf: () => null },
    onPoint: () => undefined,
  });
  const chat = { id: "room", kind: "group" };
  const message = (id: string) =>
    inboundSchema.parse({
      channel: "telegram",
      chat,
      id,
      author: { id: "ann", name: "A" },
      text: "",
    });
  const bring = (id: string) =>
    ingress.ingest("telegram", "default", [{ type: "message", message: message(id) }]);
  return { world, store, journal, ingress, bring };
}

test("the intake waits for the hosts, then takes what waited", async () => {
  const { world, store, journal, ingress, bring } = await intake(limits.backlogEventsMax + 1);
  const waiting = [bring("m1"), bring("m2")];
  await ticks();
  expect([await store.lastSeq(), ingress.pending()]).toEqual([0, 2]);
  world.size = 0;
  world.wake();
  await Promise.all(waiting);
  expect([await store.lastSeq(), ingress.pending()]).toEqual([2, 0]);
  await journal.stop();
});

test("who waits for the hosts is refused when the store fails meanwhile", async () => {
  const { store, journal, bring } = await intake(limits.backlogEventsMax + 1);
  const waiting = bring("m1");
  await ticks();
  store.fail({ at: 1 });
  await expect(journal.offer([], [{ kind: "meta", name: "n", value: "v" }])).rejects.toThrow();
  await expect(waiting).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
  await journal.stop();
});
