/**
 * Decisions are published once, also when a host dies before their marks are durable.
 */

import { expect, test } from "vitest";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { Store } from "../../../src/domain/ports/index.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { inTurn } from "../../support/rounds.ts";
import { systemPorts } from "../../support/runtime/system-ports.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

/** So many that no conversation comes to the events after which its record is written. */
const rooms = 10;
const count = 400;

/** A store that, once switched on, holds every commit with marks until it is released. */
function slowMarks() {
  const memory = createTestStore();
  let letGo: () => void = () => undefined;
  let free = Promise.resolve();
  const hold = () => {
    free = new Promise((resolve) => {
      letGo = resolve;
    });
  };
  /** Rows that were read for a host while their marks were on their way. */
  const unmarked: number[] = [];
  const store: Store = {
    ...memory,
    async commit(writes) {
      if (writes.some(({ kind }) => kind === "applied")) await free;
      return memory.commit(writes);
    },
    async tail(conv, after) {
      const rows = await memory.tail(conv, after);
      unmarked.push(...rows.flatMap(({ seq, code }) => (code === null ? [seq] : [])));
      return rows;
    },
  };
  return { store, hold, letGo: () => letGo(), unmarked };
}

async function crowd(workers: number) {
  const { store, hold, letGo, unmarked } = slowMarks();
  const reported: string[] = [];
  let held = false;
  let crashed: Promise<void> | null = null;
  const nobody = {
    hasAccount: () => false,
    outbound: () => null,
    ready: () => false,
    refreshMembership: () => undefined,
  };
  const runtime = createRuntime({
    ...systemPorts(),
    store,
    config: scenarioConfig({ agents: { defaults: { driver: { kind: "scripted" } } } }),
    drivers,
    directory: {
      ...nobody,
      textLimit: () => 4_096,
      typingIntervalMs: () => 5_000,
      isLocal: () => false,
      membership: () => ({ humans: 9, bots: 1, truncated: false, fetchedAt: Date.now() }),
    },
    events: createRuntimeEvents(() => undefined, {
      line: (line: StreamLine) => {
        if (!("decision" in line)) return;
        reported.push(String(line.id));
        if (!held) return;
        // The first decision is out, its mark is not: the host dies with the rest in its hands.
        crashed ??= runtime.crashHost();
      },
    }),
    workers,
  });
  await runtime.start();
  const events = Array.from({ length: count }, (_, n) => ({
    type: "message" as const,
    message: inboundSchema.parse({
      channel: "telegram",
      chat: { id: `room${n % rooms}`, kind: "group" },
      id: `m${n}`,
      text: "hm",
      author: { id: "ann" },
    }),
  }));
  // A new author causes a read of the members: an effect, whose commit is awaited.
  await runtime.ingest("telegram", "default", events.slice(0, rooms));
  await runtime.settled();
  held = true;
  hold();
  await runtime.ingest("telegram", "default", events.slice(rooms));
  while (crashed === null) await new Promise(setImmediate);
  await crashed;
  const before = [...reported];
  for (let ticks = 0; ticks < 50; ticks += 1) await new Promise(setImmediate);
  expect(await runtime.isSettled()).toBe(false);
  letGo();
  await runtime.settled();
  expect(await runtime.isSettled()).toBe(true);
  const codes = (await store.scan(0, count)).map(({ code }) => code);
  await runtime.stop();
  return { reported, before, unmarked, codes };
}

test.each(inTurn([0, 1], 1))(
  "with %i workers a decision whose mark is on its way is not told again after a crash",
  async (workers) => {
    const { reported, before, unmarked, codes } = await crowd(workers);
    expect(reported.toSorted()).toEqual(
      Array.from({ length: count }, (_, n) => `m${n}`).toSorted(),
    );
    expect(codes).not.toContain(null);
    // The claim is not empty: some were published, and the store did not know of it yet.
    expect(before.length).toBeGreaterThan(rooms);
    expect(before.length).toBeLessThan(count);
    expect(unmarked).toContain(rooms + 1);
  },
);
