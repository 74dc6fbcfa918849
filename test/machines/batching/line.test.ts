/** Batches to the letter: what joins which, what closes, what a full line lets go, what a turn takes. */
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import type { Route } from "../../../src/domain/message.ts";
import {
  type Arrival,
  closeDue,
  enqueue,
  type Flush,
  type Forming,
  flushOf,
  gather,
  type PendingMessage,
  refOf,
  takeNext,
} from "../../../src/machines/batching/inbox.ts";

const debounce = { idleMs: 500, maxMs: 2_000 };
const room: Route = {
  channel: "irc",
  account: "default",
  chat: { id: "room", kind: "group" },
  thread: null,
};
const thread: Route = { ...room, thread: { id: "t", kind: "thread" } };
const message = (seq: number, over: Partial<PendingMessage> = {}): PendingMessage => ({
  seq,
  id: `m${seq}`,
  at: seq,
  author: "ann",
  ack: null,
  gist: `line ${seq}`,
  ...over,
});
const arrival = (one: PendingMessage, over: Partial<Arrival> = {}): Arrival => ({
  message: one,
  route: room,
  media: false,
  group: null,
  instant: false,
  ...over,
});
const forming = (messages: readonly PendingMessage[], over: Partial<Forming> = {}): Forming => ({
  author: messages[0]?.author ?? "",
  route: room,
  group: null,
  messages,
  instant: false,
  holds: true,
  overtaken: false,
  firstAt: messages[0]?.at ?? 0,
  closesAt: (messages.at(-1)?.at ?? 0) + 500,
  ...over,
});
const flush = (messages: readonly PendingMessage[], over: Partial<Flush> = {}): Flush => ({
  ...flushOf(forming(messages), true),
  ...over,
});

test("a message is named with its edit, where there is one", () => {
  expect(refOf(message(1))).toStrictEqual({ seq: 1, id: "m1" });
  expect(refOf(message(1, { editSeq: 4 }))).toStrictEqual({ seq: 1, id: "m1", editSeq: 4 });
});

describe("an arrival", () => {
  const add = (open: readonly Forming[], one: Arrival) => gather(open, one, debounce);
  const first = forming([message(1)]);

  test("begins a batch, or joins its author's newest in that place", () => {
    expect(add([], arrival(message(1)))).toEqual({ forming: [first], closed: [] });
    expect(add([first], arrival(message(2)))).toEqual({
      forming: [forming([message(1), message(2)])],
      closed: [],
    });
    const bob = arrival(message(2, { author: "bob" }), { instant: true });
    expect(add([first], bob).forming).toEqual([
      first,
      forming([message(2, { author: "bob" })], { instant: true }),
    ]);
    expect(add([first], arrival(message(2), { route: thread })).forming).toHaveLength(2);
    const older = forming([message(0)], { instant: true });
    expect(add([older, first], arrival(message(2))).forming).toEqual([
      older,
      forming([message(1), message(2)]),
    ]);
    expect(add([older], arrival(message(2))).forming).toMatchObject([{ instant: true }]);
  });

  test("that comes late is put where it was said", () => {
    const said = forming([message(1), message(5)]);
    const late = message(3, { at: 6 });
    expect(add([said], arrival(late)).forming).toMatchObject([
      { messages: [{ seq: 1 }, { seq: 3 }, { seq: 5 }], closesAt: 506 },
    ]);
    expect(add([said], arrival(message(7))).forming[0]?.messages.map(({ seq }) => seq)).toEqual([
      1, 5, 7,
    ]);
  });

  test("with a file closes what is open before it, and goes by itself", () => {
    const bob = forming([message(2, { author: "bob" })]);
    const photo = arrival(message(3), { media: true });
    expect(add([first, bob], photo)).toEqual({
      forming: [],
      closed: [first, bob, forming([message(3)])],
    });
  });

  test("of an album waits for the rest of it, and for nothing else", () => {
    const part = (seq: number) => arrival(message(seq), { media: true, group: "g" });
    const begun = add([first], part(2));
    expect(begun).toEqual({ forming: [forming([message(2)], { group: "g" })], closed: [first] });
    expect(add(begun.forming, part(3))).toEqual({
      forming: [forming([message(2), message(3)], { group: "g" })],
      closed: [],
    });
    expect(add(begun.forming, arrival(message(3))).forming).toHaveLength(2);
    const other = arrival(message(3), { media: true, group: "h" });
    expect(add(begun.forming, other)).toEqual({
      forming: [forming([message(3)], { group: "h" })],
      closed: begun.forming,
    });
  });

  test("closes what is due by then, and a batch that is full, with all before it", () => {
    expect(add([first], arrival(message(501))).closed).toEqual([first]);
    const most = limits.batchMessagesCountMax;
    const said = Array.from({ length: most - 1 }, (_, n) => message(n, { at: 0 }));
    const bob = forming([message(0, { author: "bob" })]);
    const after = forming([message(most + 1, { author: "cy", at: 0 })]);
    const full = forming([...said, message(most, { at: 0 })]);
    expect(add([bob, forming(said), after], arrival(message(most, { at: 0 })))).toEqual({
      forming: [after],
      closed: [bob, full],
    });
    const fewer = add([forming(said.slice(1))], arrival(message(most, { at: 0 })));
    expect(fewer.closed).toEqual([]);
  });

  test("in a room without a debounce is closed at once", () => {
    const now = gather([], arrival(message(1)), { idleMs: 0, maxMs: 0 });
    expect(now).toEqual({ forming: [], closed: [forming([message(1)], { closesAt: 1 })] });
  });
});

test("what is due waits for what began before it", () => {
  const [one, two] = [
    forming([message(1)], { closesAt: 9 }),
    forming([message(2)], { closesAt: 5 }),
  ];
  expect(closeDue([one, two], 8)).toEqual({ forming: [one, two], closed: [] });
  expect(closeDue([two, one], 8)).toEqual({ forming: [one], closed: [two] });
  expect(closeDue([one, two], 9)).toEqual({ forming: [], closed: [one, two] });
  expect(closeDue([], 9)).toEqual({ forming: [], closed: [] });
});

test("a closed batch is no longer formed", () => {
  expect(flushOf(forming([message(1)], { overtaken: true, instant: true }), false)).toStrictEqual({
    route: room,
    messages: [message(1)],
    instant: true,
    holds: true,
    overtaken: true,
    backlog: false,
    steeredAt: null,
  });
});

describe("a full line", () => {
  const [a, b, c] = [flush([message(1), message(2)]), flush([message(3)]), flush([message(4)])];
  const queue = (drop: "old" | "new" | "summarize", cap: number, ...inbox: Flush[]) =>
    enqueue(inbox, c, { mode: "queue", debounceMs: 0, cap, drop });

  test("lets go of the oldest, of the newest, or of the oldest with a note for each line", () => {
    expect(queue("old", 2, a, b)).toEqual({
      inbox: [b, c],
      dropped: [a],
      why: "queue-cap-old",
      notes: [],
    });
    expect(queue("new", 2, a, b)).toEqual({
      inbox: [a, b],
      dropped: [c],
      why: "queue-cap-new",
      notes: [],
    });
    expect(queue("summarize", 2, a, b)).toEqual({
      inbox: [b, c],
      dropped: [a],
      why: "queue-cap-summarized",
      notes: ["line 1", "line 2"],
    });
  });

  test("is full at its cap, and a smaller cap lets go of more", () => {
    expect(queue("summarize", 3, a, b)).toEqual({
      inbox: [a, b, c],
      dropped: [],
      why: "queue-cap-old",
      notes: [],
    });
    expect(queue("old", 1, a, b)).toMatchObject({ inbox: [c], dropped: [a, b] });
    expect(queue("old", 0, a)).toMatchObject({ inbox: [c], dropped: [a] });
    const many = Array.from({ length: limits.inboxFlushesMax }, () => a);
    expect(queue("old", 1e9, ...many).dropped).toHaveLength(1);
  });
});

describe("a turn", () => {
  test("that interrupts takes the newest of the first one's person and place", () => {
    const own = flush([message(1)]);
    const bob = flush([message(2, { author: "bob" })]);
    const there = flush([message(3)], { route: thread });
    const newest = flush([message(4)]);
    expect(takeNext([own, bob, there, newest], "interrupt")).toEqual({
      flush: newest,
      inbox: [bob, there],
      dropped: [own],
    });
    expect(takeNext([own, bob], "interrupt")).toEqual({ flush: own, inbox: [bob], dropped: [] });
  });

  test("that collects joins no session with another, and lets nothing overtake what stayed", () => {
    const past = (seq: number) => flush([message(seq)], { past: 1 });
    const now = (seq: number) => flush([message(seq)]);
    const taken = takeNext([past(1), past(2), now(3), past(4)], "collect");
    expect(taken.flush?.messages.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(taken.inbox).toEqual([now(3), past(4)]);
    expect(taken.dropped).toEqual([]);
  });

  test("that collects takes as many messages as a batch may have", () => {
    const most = limits.batchMessagesCountMax;
    const many = (count: number) => flush(Array.from({ length: count }, (_, n) => message(n)));
    const sizes = (...counts: number[]) => {
      const taken = takeNext(counts.map(many), "collect");
      return [taken.flush?.messages.length, taken.inbox.map(({ messages }) => messages.length)];
    };
    expect(sizes(most - 1, 1)).toEqual([most, []]);
    expect(sizes(most - 1, 2, 1)).toEqual([most - 1, [2, 1]]);
    const there = flush([message(1), message(2)], { route: thread });
    const taken = takeNext([many(most - 1), there, many(1)], "collect");
    expect(taken).toMatchObject({ flush: { messages: { length: most } }, inbox: [there] });
  });

  test("finds nothing in an empty line", () => {
    expect(takeNext([], "interrupt")).toEqual({ flush: null, inbox: [], dropped: [] });
  });
});
