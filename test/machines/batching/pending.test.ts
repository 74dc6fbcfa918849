/** Changes of what waits: exactly the messages meant, and the same lists where nothing changes. */
import { describe, expect, test } from "vitest";
import type { Route } from "../../../src/domain/message.ts";
import {
  type BufferEntry,
  type ContextBuffer,
  closeQuestions,
  editBuffered,
  emptyBuffer,
  remember,
  rememberLate,
  removeBuffered,
  seedBuffer,
  splitBuffer,
  takeBuffer,
} from "../../../src/machines/batching/context-buffer.ts";
import type { PendingMessage } from "../../../src/machines/batching/inbox.ts";
import {
  editPending,
  isOvertaken,
  overtake,
  release,
  removePending,
} from "../../../src/machines/batching/pending.ts";

const place: Route = {
  channel: "irc",
  account: "default",
  chat: { id: "room", kind: "group" },
  thread: null,
};
const thread = { ...place, thread: { id: "t", kind: "thread" as const } };
const elsewhere: readonly Route[] = [
  { ...place, channel: "sms" },
  { ...place, account: "work" },
  { ...place, chat: { id: "cellar", kind: "group" } },
];
const message = (id: string, author = "ann"): PendingMessage => ({
  seq: Number(id.slice(1)),
  id,
  at: 1,
  author,
  ack: null,
  gist: "",
});
const batch = (messages: readonly PendingMessage[], over: object = {}) => ({
  route: place as Route,
  messages,
  holds: true,
  overtaken: false,
  ...over,
});

describe("an edit of what waits", () => {
  const batches = [
    batch([message("m1"), message("m2")]),
    batch([message("m2")], { route: thread }),
  ];

  test("moves the number of its message's text, in every thread of the chat", () => {
    expect(editPending(batches, place, "m2", 9)).toEqual([
      batch([message("m1"), { ...message("m2"), editSeq: 9 }]),
      batch([{ ...message("m2"), editSeq: 9 }], { route: thread }),
    ]);
  });

  test("leaves batches without it, and what is said elsewhere, as they are", () => {
    const edited = editPending(batches, thread, "m1", 9);
    expect(edited[0]).not.toBe(batches[0]);
    expect(edited[1]).toBe(batches[1]);
    expect(editPending(batches, place, "m3", 9)).toBe(batches);
    for (const route of elsewhere) expect(editPending(batches, route, "m1", 9)).toBe(batches);
    const apart = [...batches, ...elsewhere.map((route) => batch([message("m1")], { route }))];
    expect(editPending(apart, place, "m1", 9).slice(2)).toEqual(apart.slice(2));
  });
});

describe("a deletion of what waits", () => {
  test("takes the message out, and its batch with the last one", () => {
    const batches = [batch([message("m1"), message("m2")]), batch([message("m3")])];
    expect(removePending(batches, place, "m1")).toEqual({
      batches: [batch([message("m2")]), batch([message("m3")])],
      removed: message("m1"),
      from: batches[0],
    });
    expect(removePending(batches, place, "m3")).toEqual({
      batches: [batches[0]],
      removed: message("m3"),
      from: batches[1],
    });
  });

  test("of a message that does not wait here changes nothing", () => {
    const batches = [batch([message("m1")])];
    for (const [route, id] of [[place, "m2"], ...elsewhere.map((one) => [one, "m1"])] as const) {
      const after = removePending(batches, route as Route, id as string);
      expect(after.removed).toBeNull();
      expect(after.batches).toBe(batches);
    }
    const apart = [batch([message("m1")], { route: elsewhere[0] }), ...batches];
    expect(removePending(apart, place, "m1").batches).toEqual([apart[0]]);
  });
});

describe("somebody else's line", () => {
  const two = batch([message("m1"), message("m2", "bob")]);

  test("overtakes what waits in its place for others", () => {
    expect(isOvertaken(two, place, "cy")).toBe(true);
    expect(isOvertaken(two, place, "bob")).toBe(false);
    expect(isOvertaken(two, place, "ann")).toBe(false);
    expect(isOvertaken(two, thread, "cy")).toBe(false);
    expect(isOvertaken({ ...two, overtaken: true }, place, "cy")).toBe(false);
  });

  test("marks those batches, and gives back the same list where there is none", () => {
    const batches = [two, batch([message("m3", "cy")])];
    const after = overtake(batches, place, "cy");
    expect(after).toEqual([{ ...two, overtaken: true }, batches[1]]);
    expect(after[1]).toBe(batches[1]);
    expect(overtake(after, place, "cy")).toBe(after);
    expect(overtake(batches, thread, "dan")).toBe(batches);
  });
});

test("backing off holds nobody any more", () => {
  const batches = [batch([message("m1")]), batch([message("m2")], { holds: false })];
  const after = release(batches);
  expect(after.map(({ holds }) => holds)).toEqual([false, false]);
  expect(release(after)).toBe(after);
});

describe("the context buffer", () => {
  const entry = (seq: number, over: Partial<BufferEntry> = {}): BufferEntry => ({
    seq,
    id: `m${seq}`,
    at: seq,
    author: "ann",
    self: false,
    ...over,
  });
  const buffer = (dropped: number, ...entries: BufferEntry[]): ContextBuffer => ({
    entries,
    dropped,
  });
  const asked = { route: place, media: false, group: null, gist: "" };

  test("counts what falls off, and keeps the count of before", () => {
    expect(remember(buffer(3, entry(1)), entry(2), 2)).toEqual({
      buffer: buffer(3, entry(1), entry(2)),
      dropped: [],
    });
    expect(remember(buffer(3, entry(1), entry(2)), entry(3), 2)).toEqual({
      buffer: buffer(4, entry(2), entry(3)),
      dropped: [entry(1)],
    });
    expect(remember(emptyBuffer, entry(1), -5)).toEqual({
      buffer: buffer(1),
      dropped: [entry(1)],
    });
  });

  test("takes in what comes late at its place, and history in front, each message once", () => {
    const before = buffer(2, entry(1), entry(5));
    expect(rememberLate(before, [entry(9), entry(3)])).toEqual(
      buffer(2, entry(1), entry(3), entry(5), entry(9)),
    );
    expect(seedBuffer(before, [entry(0), entry(5, { author: "bob" })])).toEqual(
      buffer(2, entry(0), entry(1), entry(5)),
    );
  });

  test("shows what is not too old, and counts the rest with what was dropped", () => {
    const given = buffer(2, entry(1, { at: 10 }), entry(2, { at: 11 }), entry(3, { at: 30 }));
    expect(takeBuffer(given, 31, 20)).toEqual({
      shown: [given.entries[1], given.entries[2]],
      aged: [given.entries[0]],
      omitted: 3,
    });
    expect(takeBuffer(given, 31, 0).omitted).toBe(2);
    expect(takeBuffer(given, 1_000, -1).aged).toEqual([]);
  });

  test("is split before a message; what was dropped was before", () => {
    expect(splitBuffer(buffer(2, entry(1), entry(2), entry(3)), 2)).toEqual([
      buffer(2, entry(1)),
      buffer(0, entry(2), entry(3)),
    ]);
  });

  test("edits and deletes leave the rest, and its count, as it is", () => {
    const given = buffer(2, entry(1), entry(2));
    expect(editBuffered(given, { id: "m2" }, 9)).toEqual(
      buffer(2, entry(1), entry(2, { editSeq: 9 })),
    );
    expect(editBuffered(given, { id: "m2" }, 9).entries[0]).toBe(given.entries[0]);
    expect(removeBuffered(given, { id: "m2" })).toEqual(buffer(2, entry(1)));
  });

  test("closes its questions, all or one", () => {
    const given = buffer(2, entry(1, { asked }), entry(2), entry(3, { asked }));
    expect(closeQuestions(given)).toStrictEqual(buffer(2, entry(1), entry(2), entry(3)));
    const one = closeQuestions(given, { id: "m3" });
    expect(one).toStrictEqual(buffer(2, entry(1, { asked }), entry(2), entry(3)));
    expect(one.entries[0]).toBe(given.entries[0]);
    expect(closeQuestions(given, { id: "m2" })).toBe(given);
    expect(closeQuestions(one, { id: "m3" })).toBe(one);
    const none = buffer(2, entry(1));
    expect(closeQuestions(none)).toBe(none);
  });
});
