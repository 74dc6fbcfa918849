/**
 * A conversation that is active on a node: what it has stored, and how it ends. A node that stops lets its
 * conversations finish; one that Restate gives to another node meanwhile does not keep the node from ending: while it
 * is there, the calls that it refuses come to it again and again.
 */
import { afterEach, describe, expect, test } from "vitest";
import { conversationOf, newEvent } from "../../../src/actors/protocol/event-codec.ts";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import type { Clock, KeptRow, Store } from "../../../src/domain/ports/index.ts";
import {
  type Activation,
  type ActiveRuntime,
  activate,
  type Work,
} from "../../../src/engines/restate/activation.ts";
import { untold } from "../../../src/engines/restate/feed/node-mirror.ts";
import { called } from "../../support/restate/offers.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

/** A turn that never ends: it is waited for until the time is over, by the clock that it was given. */
function busyRuntime(clock: Clock, stopped: number[]): ActiveRuntime {
  let stopping: Promise<void> | null = null;
  const stop = ({ drainMs = 0 } = {}) => {
    stopping ??= new Promise<void>((done) => {
      const over = () => {
        stopped.push(drainMs);
        done();
      };
      if (drainMs === 0) over();
      else clock.setTimer(clock.now() + drainMs, over);
    });
    return stopping;
  };
  return { start: async () => undefined, stop } as Partial<ActiveRuntime> as ActiveRuntime;
}

/** An activation with this runtime. */
function activated(
  create: (own: { readonly store: Store; readonly clock: Clock }) => ActiveRuntime,
  rows: readonly KeptRow[] = [],
) {
  let last = 1_000_000;
  return activate(groupKey("active"), rows, false, {
    times: { lookMs: 1, restMs: 1 },
    clock: createSystemClock(),
    log: () => undefined,
    retentionMs: () => 86_400_000,
    open: openKeptStore,
    rows: untold,
    numbers: {
      above: async () => undefined,
      next() {
        last += 1;
        return last;
      },
    },
    create: (_key, own) => create(own),
  });
}

test("one that is cut off while it finishes has ended when its time is over", async () => {
  const stopped: number[] = [];
  const activation = activated(({ clock }) => busyRuntime(clock, stopped));
  const drained = activation.drain(50);
  await new Promise(setImmediate);
  await Promise.all([activation.end(), drained]);
  expect(stopped).toEqual([50]);
});

describe("what somebody waits for", () => {
  let store: Store | null = null;
  let activation: Activation | null = null;
  const open = async () => {
    activation = activated((own) => {
      store = own.store;
      return busyRuntime(own.clock, []);
    });
    await new Promise(setImmediate);
    return { activation, store: store as Store | null as Store };
  };
  afterEach(async () => {
    await activation?.end();
  });
  const write = (one: Store, name: string) =>
    one.commit([{ kind: "meta", name, value: "1" }], "durable");
  /** Whether it has happened within a turn of the event loop. */
  const isOver = async (one: Promise<unknown>) => {
    let over = false;
    void one.then(() => {
      over = true;
    });
    await new Promise(setImmediate);
    return over;
  };
  const names = ({ changes }: Work) => changes.map(({ id }) => id);

  test("is stored in one piece of work, and what is stored already in none", async () => {
    const { activation, store } = await open();
    const first = write(store, "first");
    expect(names(await activation.next())).toEqual(['["first"]']);
    const same = store.sync();
    expect(await isOver(Promise.race([first, same]))).toBe(false);
    activation.stored();
    await Promise.all([first, same, store.sync()]);
    const next = activation.next();
    expect(await isOver(next)).toBe(false);
    const second = write(store, "second");
    expect(names(await next)).toEqual(['["second"]']);
    activation.stored();
    await second;
  });

  test("waits for what is being stored, and is not done with what comes behind it", async () => {
    const { activation, store } = await open();
    const first = write(store, "first");
    await activation.next();
    const second = write(store, "second");
    const both = store.sync();
    await new Promise(setImmediate);
    activation.stored();
    await first;
    expect(await isOver(Promise.race([second, both]))).toBe(false);
    expect(names(await activation.next())).toEqual(['["second"]']);
    activation.stored();
    await Promise.all([second, both]);
  });

  test("is not done where the conversation is cut off", async () => {
    const { activation, store } = await open();
    const first = write(store, "first");
    await activation.next();
    const failed = Promise.allSettled([first, store.sync()]);
    await activation.end();
    expect((await failed).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(store.sync()).rejects.toThrow("another node has the conversation");
  });
});

describe("one that is quiet", () => {
  /** Rests at once; its runtime has done nothing with what was there. */
  const quiet: ActiveRuntime = {
    ...busyRuntime(createSystemClock(), []),
    passivateAll: async () => undefined,
    isSettled: async () => true,
    status: () => ({ turns: { running: 0, waiting: 0 }, outbox: {}, heartbeats: [] }) as never,
  };
  const rests = async (rows: readonly KeptRow[]) => {
    const activation = activated(() => quiet, rows);
    try {
      return (await activation.next()).rests;
    } finally {
      await activation.end();
    }
  };
  const event = async () => {
    const store = openKeptStore([]);
    const { event, ...identity } = called("active", "1");
    await store.commit([newEvent(conversationOf(groupKey("active")), 1, event, identity).write]);
    const rows = store.changes();
    await store.close();
    return rows;
  };

  test("rests where everything is applied", async () => {
    const rows = await event();
    const seq = JSON.parse(rows.find(({ table }) => table === "journal")?.id ?? "[]")[0] as number;
    const applied = { table: "applied", id: `[${seq}]`, row: { seq, code: 1 } };
    expect(await rests([...rows, applied])).toBe(true);
    expect(await rests([])).toBe(true);
  });

  test("looks again later while something is being stored, and no more once it has ended", async () => {
    let looks = 0;
    const storing: ActiveRuntime = {
      ...quiet,
      isSettled: async () => {
        looks += 1;
        return looks === 3;
      },
    };
    const activation = activated(() => storing);
    expect((await activation.next()).rests).toBe(true);
    expect(looks).toBe(3);
    await activation.end();

    looks = 4;
    const endless = activated(() => storing);
    void endless.next().catch(() => undefined);
    await expect.poll(() => looks).toBeGreaterThan(4);
    await endless.end();
    const before = looks;
    // Other work has its turn between two looks, as a timer does.
    await new Promise((done) => setTimeout(done, 20));
    expect(looks).toBe(before);
  });

  test("does not rest with an event that nobody has applied: its call fails, and is made again", async () => {
    await expect(rests(await event())).rejects.toThrow("1 of its events are not applied");
  });
});
