/**
 * Batches: which authors share one, when a window closes, what a full line does, what a turn takes.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Route } from "../../../src/domain/message.ts";
import {
  closeDue,
  enqueue,
  type Flush,
  type Forming,
  flushOf,
  gather,
  takeNext,
} from "../../../src/machines/batching/inbox.ts";
import { property } from "../../support/property.ts";

const debounce = { idleMs: 500, maxMs: 2_000 };
const place = (thread: string | null): Route => ({
  channel: "test",
  account: "default",
  chat: { id: "room", kind: "group" },
  thread: thread === null ? null : { id: thread, kind: "thread" },
});

interface Line {
  readonly at: number;
  readonly author: string;
  readonly thread: string | null;
  readonly kind: "text" | "photo" | "album";
}

/** Plays lines and collects what closed, in order, with the moment it was seen to be closed. */
function play(lines: readonly Line[]): { closed: Forming[]; left: readonly Forming[] } {
  let forming: readonly Forming[] = [];
  const closed: Forming[] = [];
  for (const [seq, { at, author, thread, kind }] of lines.entries()) {
    const gathered = gather(
      forming,
      {
        message: { seq, id: `m${seq}`, at, author, ack: null, gist: "" },
        route: place(thread),
        media: kind !== "text",
        group: kind === "album" ? "album" : null,
        instant: false,
      },
      debounce,
    );
    forming = gathered.forming;
    closed.push(...gathered.closed);
  }
  return { closed, left: forming };
}

const text = (at: number, author = "ann"): Line => ({ at, author, thread: null, kind: "text" });
const seqs = (batches: readonly { messages: readonly { seq: number }[] }[]) =>
  batches.map(({ messages }) => messages.map(({ seq }) => seq));

describe("windows", () => {
  test.each([
    [499, [[0, 1]]],
    [500, [[0], [1]]],
    [501, [[0], [1]]],
  ])("lines %i ms apart", (gap, batches) => {
    const { closed, left } = play([text(0), text(gap)]);
    expect(seqs([...closed, ...left])).toEqual(batches);
  });

  test.each([
    [1_999, 1],
    [2_000, 2],
    [2_001, 2],
  ])("a stream of lines ends its batch at the cap: %i ms after the first", (last, batches) => {
    const stream = [0, 400, 800, 1_200, 1_600].map((at) => text(at));
    const { closed, left } = play([...stream, text(last)]);
    expect(closed.length + left.length).toBe(batches);
  });

  const lines = fc
    .array(
      fc.record({
        gap: fc.constantFrom(0, 1, 250, 499, 500, 501, 1_999, 2_000, 2_001),
        author: fc.constantFrom("ann", "bob", "cy"),
        thread: fc.constantFrom(null, null, "t"),
        kind: fc.constantFrom("text" as const, "text" as const, "photo" as const, "album" as const),
      }),
      { maxLength: 40, size: "max" },
    )
    .map((steps) => {
      let at = 0;
      return steps.map(({ gap, ...line }): Line => {
        at += gap;
        return { at, ...line };
      });
    });

  property([lines])("every line is in exactly one batch", (story) => {
    const { closed, left } = play(story);
    const all = seqs([...closed, ...left]).flat();
    expect(all.sort((a, b) => a - b)).toEqual(story.map((_, seq) => seq));
  });

  property([lines])("batches close in the order of their first lines", (story) => {
    const { closed, left } = play(story);
    const firsts = seqs([...closed, ...left]).map(([first]) => first ?? -1);
    expect(firsts).toEqual([...firsts].sort((a, b) => a - b));
  });

  property([lines])("a batch is one author's, in one place, media by itself", (story) => {
    const { closed, left } = play(story);
    for (const { messages } of [...closed, ...left]) {
      const said = messages.map(({ seq }) => story[seq]);
      expect(new Set(said.map((one) => `${one?.author} ${one?.thread}`)).size).toBe(1);
      expect(new Set(said.map((one) => one?.kind)).size).toBe(1);
      if (said[0]?.kind === "photo") expect(said).toHaveLength(1);
    }
  });

  property([lines])("no window is open longer than the cap", (story) => {
    const { left } = play(story);
    for (const { firstAt, closesAt } of left) expect(closesAt - firstAt).toBeLessThanOrEqual(2_000);
  });

  test("closing what is due leaves the rest and loses none", () => {
    const { left } = play([text(0), text(300, "bob")]);
    const { closed, forming } = closeDue(left, 500);
    expect([seqs(closed), seqs(forming)]).toEqual([[[0]], [[1]]]);
    expect(closeDue(left, 499).closed).toEqual([]);
    expect(seqs(closeDue(left, 800).closed)).toEqual([[0], [1]]);
  });
});

const flush = (seq: number, thread: string | null = null, backlog = true): Flush => {
  const message = { seq, id: `m${seq}`, at: seq, author: "ann", ack: null, gist: `line ${seq}` };
  const shared = { instant: false, holds: true, overtaken: false };
  const batch = { author: "ann", group: null, firstAt: seq, closesAt: seq };
  return flushOf({ route: place(thread), messages: [message], ...shared, ...batch }, backlog);
};

describe("the line", () => {
  const policy = fc.constantFrom("summarize" as const, "old" as const, "new" as const);
  property([fc.nat({ max: 30 }), fc.integer({ min: 1, max: 8 }), policy])(
    "never grows past its cap, and what it drops it names",
    (count, cap, drop) => {
      let inbox: readonly Flush[] = [];
      const dropped: number[] = [];
      let notes = 0;
      for (let seq = 0; seq < count; seq += 1) {
        const queued = enqueue(inbox, flush(seq), { mode: "queue", debounceMs: 0, cap, drop });
        inbox = queued.inbox;
        dropped.push(...seqs(queued.dropped).flat());
        notes += queued.notes.length;
      }
      expect(inbox.length).toBe(Math.min(cap, count));
      const all = [...dropped, ...seqs(inbox).flat()].sort((a, b) => a - b);
      expect(all).toEqual(Array.from({ length: count }, (_, seq) => seq));
      expect(notes).toBe(drop === "summarize" ? dropped.length : 0);
    },
  );

  test("collect joins what waited for the same place and keeps the order of the rest", () => {
    const inbox = [flush(1), flush(2, "t"), flush(3), flush(4, "t")];
    const taken = takeNext(inbox, "collect");
    expect(taken.flush?.messages.map(({ seq }) => seq)).toEqual([1, 3]);
    expect(seqs(taken.inbox)).toEqual([[2], [4]]);
  });

  test("what is joined is answered as its last batch is: overtaken, or not any more", () => {
    for (const [first, last] of [
      [true, false],
      [false, true],
    ] as const) {
      const inbox = [
        { ...flush(1), overtaken: first, instant: first, holds: last },
        { ...flush(2), overtaken: last, instant: last, holds: first },
      ];
      const taken = takeNext(inbox, "collect").flush;
      expect(taken).toMatchObject({ overtaken: last, instant: true, holds: true });
    }
    const quiet = { ...flush(1), instant: false, holds: false };
    expect(takeNext([quiet, quiet], "collect").flush).toMatchObject({
      instant: false,
      holds: false,
    });
  });

  test("an overtaken batch that its author adds to is not overtaken any more, and holds", () => {
    const { left } = play([text(0)]);
    const before = left.map((one) => ({ ...one, overtaken: true, holds: false }));
    const message = { seq: 1, id: "m1", at: 10, author: "ann", ack: null, gist: "" };
    const more = { message, route: place(null), media: false, group: null, instant: true };
    const [joined] = gather(before, more, debounce).forming;
    expect(joined).toMatchObject({ overtaken: false, holds: true, instant: true });
    expect(before).toMatchObject([{ instant: false, messages: [{ seq: 0 }] }]);
  });

  test("collect takes one at a time where no turn ran in front of it", () => {
    const taken = takeNext([flush(1, null, false), flush(2, null, false)], "collect");
    expect([taken.flush?.messages.length, taken.inbox.length]).toEqual([1, 1]);
  });

  test.each(["queue", "followup", "steer", "steer-backlog"] as const)(
    "%s takes the first in line",
    (mode) => {
      const taken = takeNext([flush(1), flush(2)], mode);
      expect(taken.flush?.messages.map(({ seq }) => seq)).toEqual([1]);
      expect(seqs(taken.inbox)).toEqual([[2]]);
    },
  );

  test("interrupt takes the newest and names the others", () => {
    const taken = takeNext([flush(1), flush(2), flush(3)], "interrupt");
    expect(taken.flush?.messages.map(({ seq }) => seq)).toEqual([3]);
    expect([seqs(taken.dropped), taken.inbox]).toEqual([[[1], [2]], []]);
  });

  test("an empty line gives nothing", () => {
    expect(takeNext([], "collect").flush).toBeNull();
  });
});
