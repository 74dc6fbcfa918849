/** Watching the list of rooms while its store cannot be read. */

import { expect, test } from "vitest";
import { nothingLive } from "../../../src/actors/protocol/conversation-summary.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import type { RoomsLook } from "../../../src/daemon/api-types/rooms.ts";
import { createRoomList } from "../../../src/daemon/room-list/room-list.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const lookAtAll: RoomsLook = {
  filter: "all",
  find: "",
  from: 0,
  limit: 50,
  follow: true,
  sort: false,
  at: "",
};

test("a list that could not be read is told once it can be, and the failure is logged", async () => {
  const memory = createTestStore();
  let failures = 2;
  const errors: string[] = [];
  const rooms = createRoomList({
    clock: createSystemClock(),
    log: (level, event) => void errors.push(`${level} ${event}`),
    store: {
      lastSeq: () => memory.lastSeq(),
      numberBefore: (seq, rows) => memory.numberBefore(seq, rows),
      scan: (after, limit) => memory.scan(after, limit),
      conversations: async (options) => {
        failures -= 1;
        if (failures >= 0) throw new Error("the disk is away");
        return memory.conversations(options);
      },
    },
    summaries: async () => new Map(),
    counts: async () => nothingLive,
  });
  const frames: string[] = [];
  const off = rooms.watch({ send: (frame) => frames.push(frame), idle: () => true }, lookAtAll);
  await expect.poll(() => frames.at(-1), { timeout: 60_000 }).toContain('"window"');
  expect(errors).toEqual(["error rooms.unreadable", "error rooms.unreadable"]);
  off();
});

test("nobody is told anything, and no host is asked, while nobody watches", async () => {
  let asked = 0;
  const rooms = createRoomList({
    clock: createSystemClock(),
    log: () => undefined,
    store: createTestStore(),
    summaries: async () => {
      asked += 1;
      return new Map();
    },
    counts: async () => nothingLive,
  });
  const at = Date.now();
  const author = { id: "ann", name: "Ann", isBot: false, isSelf: false };
  for (let n = 1; n <= 1_000; n += 1)
    rooms.listener.decided(
      n % 10,
      `agent:main:webhook:group:r${n % 10}`,
      {
        type: "message.received",
        at,
        seq: n,
        authority: { commandAuthorized: false, owner: false },
        message: {
          channel: "webhook",
          account: "default",
          thread: null,
          id: `m${n}`,
          text: "hello",
          author,
          mentions: [],
          mentionsEveryone: false,
          replyTo: null,
          attachments: [],
          chat: { id: `r${n % 10}`, kind: "group" },
          explicitOnly: false,
        },
      },
      { decision: "observe", rule: "default", credit: "none" },
    );
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(asked).toBe(0);
  const { rows } = await rooms.list({ find: "", state: null, from: 0, limit: 100 });
  expect(rows).toHaveLength(10);
  expect(rows.every(({ recent }) => recent === "o".repeat(22))).toBe(true);
  expect(rooms.heardAt("webhook", "default")).toBe(at);
  const copy = { channel: "webhook", account: "default", chat: { id: "r1", kind: "group" } };
  const verdict = { decision: "duplicate", rule: "duplicate", credit: "none" } as const;
  rooms.listener.ended?.(
    inboundSchema.parse({ ...copy, id: "m", author: { id: "a" } }),
    null,
    verdict,
    at,
  );
  expect(rooms.duplicatesOf("webhook", "default")).toBe(1);
  expect(rooms.duplicatesOf("webhook", "other")).toBe(0);
});

test("what was noted as it happened is not read again, and nobody waits for the rest", async () => {
  const memory = createTestStore();
  const read: number[] = [];
  let scans = 0;
  const rooms = createRoomList({
    clock: createSystemClock(),
    log: () => undefined,
    store: {
      conversations: (options) => memory.conversations(options),
      lastSeq: async () => (scans === 0 ? 1_000 : 50_000),
      numberBefore: async (seq, rows) => Math.max(0, seq - rows),
      // As long as the journal is, it holds nothing that a list would note.
      async scan(after, limit) {
        scans += 1;
        read.push(after);
        const row = { conv: 1, key: "", at: 0, identity: null, code: null, body: "{}", cfg: 1 };
        return Array.from({ length: limit }, (_, n) => ({ ...row, seq: after + n + 1 }));
      },
    },
    summaries: async () => new Map(),
    counts: async () => nothingLive,
  });
  let turns = 0;
  let done = false;
  const others = async () => {
    while (!done) {
      turns += 1;
      await new Promise(setImmediate);
    }
  };
  const watching = others();
  await rooms.load();
  done = true;
  await watching;
  expect(read).toEqual([0, 200, 400, 600, 800]);
  expect(turns).toBeGreaterThanOrEqual(read.length);
});
