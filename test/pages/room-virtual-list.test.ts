/**
 * The list of a long transcript as data: heights, the window that moves over them, and what is kept
 * of a room. A box of the browser is a small program here: it lays out what is in the document at
 * its true heights.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type {
  MessageEntry,
  RoomEntry,
  RoomFrame,
  RoomHistory,
  RoomState,
} from "../../src/daemon/api-types/room.ts";
import { rowsOf, Transcript } from "../../web/src/room/build-rows.ts";
import {
  followedMax,
  type Reader,
  type Room,
  readMax,
  withFrame,
  withNewer,
  withNewest,
  withOlder,
} from "../../web/src/room/room-reducer.ts";
import { Heights, type Rows } from "../../web/src/room/row-heights.ts";
import { heldRowsMax, List } from "../../web/src/room/virtual-list.ts";
import { rounds } from "../support/rounds.ts";

const guessPx = 56;
/** Heights as a browser would find them: of one line of text up to a long message. */
const trueHeight = (key: string): number => {
  const number = Number(key);
  return number % 11 === 0 ? 240 : 36 + (number % 4) * 20 + (number % 3) * 0.25;
};
const source = (keys: readonly string[]): Rows => ({
  length: keys.length,
  key: (index) => keys[index] as string,
  estimate: () => guessPx,
});
const keysOf = (from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, n) => String(from + n));

describe("heights", () => {
  test("edges are sums, and every point is in the row that is found for it", () => {
    const notes = fc.array(fc.tuple(fc.nat(60), fc.double({ min: 1, max: 400, noNaN: true })));
    fc.assert(
      fc.property(fc.nat(60), notes, fc.array(fc.nat(20_000)), (count, noted, points) => {
        const keys = keysOf(0, count);
        const heights = new Heights(source(keys));
        const expected = new Map<string, number>();
        for (const [key, px] of noted) {
          heights.note(String(key), px);
          expected.set(String(key), px);
          let sum = 0;
          for (const [index, one] of keys.entries()) {
            expect(heights.top(index)).toBeCloseTo(sum, 2);
            sum += expected.get(one) ?? guessPx;
          }
          expect(heights.total).toBeCloseTo(sum, 2);
        }
        for (const px of points.filter((one) => count > 0 && one < heights.total)) {
          const index = heights.at(px);
          expect(heights.top(index)).toBeLessThanOrEqual(px);
          expect(heights.top(index + 1)).toBeGreaterThan(px);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("what was measured stays known while rows come and go, and not for ever", () => {
    const heights = new Heights(source(keysOf(100, 200)));
    heights.note("150", 90);
    heights.take(source(keysOf(0, 300)));
    expect(heights.top(151) - heights.top(150)).toBe(90);
    for (let n = 0; n < 5_000; n += 1) heights.note(String(n), 30);
    heights.take(source(keysOf(4_000, 4_100)));
    expect(heights.known).toBe(100);
    expect(heights.total).toBe(3_000);
    heights.forget();
    expect(heights.total).toBe(100 * guessPx);
  });
});

const windowPx = 800;
/** What is above the list in its box. */
const listTop = 32;

/** A box with a list in it, as a browser lays it out; rows are the numbers from `from` to `to`. */
class World {
  readonly list = new List(source([]));
  from = 1_000;
  to = 1_060;
  extra = 0;
  clock = 0;
  readonly box = (() => {
    const world = this;
    let top = 0;
    return {
      clientHeight: windowPx,
      get scrollHeight() {
        return Math.max(windowPx, listTop + world.listPx());
      },
      get scrollTop() {
        top = Math.min(top, this.scrollHeight - windowPx);
        return top;
      },
      set scrollTop(px: number) {
        top = Math.max(0, Math.min(px, this.scrollHeight - windowPx));
      },
    };
  })();

  height = (key: string) => trueHeight(key) + (key === "1002" ? this.extra : 0);

  /** As it was laid out last: padding for what is not in the document, rows at their heights. */
  #above = 0;
  #below = 0;
  listPx(): number {
    return (
      this.#above + this.#below + this.mounted().reduce((sum, key) => sum + this.height(key), 0)
    );
  }
  mounted(): string[] {
    const { first, last } = this.list.range;
    return keysOf(this.from + first, Math.min(this.to, this.from + last));
  }
  /** How far below the upper edge of the box a row is; null: it is not in the document. */
  placeOf(key: string): number | null {
    let px = listTop + this.#above - this.box.scrollTop;
    for (const one of this.mounted()) {
      if (one === key) return px;
      px += this.height(one);
    }
    return null;
  }

  /** The document changes, and what the page does before it is painted. */
  draw(): void {
    this.list.take(source(keysOf(this.from, this.to)));
    for (let round = 0; round < 20; round += 1) {
      const { heights, range } = this.list;
      let isNews = false;
      const pad = (px: number) => {
        this.#above = px;
        this.#below = heights.total - heights.top(range.last);
      };
      pad(Math.max(0, this.list.topOf(range.first)));
      for (const key of this.mounted()) isNews = heights.note(key, this.height(key)) || isNews;
      this.list.settle(this.box, { top: this.box.scrollTop, listTop, pad, now: this.clock });
      if (!isNews || !this.list.look()) return;
    }
    throw new Error("the range does not come to rest");
  }

  /** Somebody scrolls, and goes on in a moment or rests. */
  scroll(px: number, restMs = 1_000): void {
    this.clock += 1_000;
    this.box.scrollTop += px;
    this.list.scrolled(this.box, listTop, true, this.clock);
    if (this.list.look()) this.draw();
    this.clock += restMs;
    if (restMs >= 1_000) this.list.rest();
    this.draw();
  }

  seen(): string[] {
    return this.mounted().filter((key) => {
      const px = this.placeOf(key) as number;
      return px > -0.01 && px < windowPx;
    });
  }
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -3_000, max: 3_000 }).map((px) => ({ scroll: px })) },
  { weight: 4, arbitrary: fc.integer({ min: -900, max: 900 }).map((px) => ({ swipe: px })) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 300 }).map((count) => ({ append: count })) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 300 }).map((count) => ({ prepend: count })) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 200 }).map((px) => ({ grow: px })) },
  { weight: 1, arbitrary: fc.constant({ cut: true }) },
);

describe("the window over a long list", () => {
  test("whatever comes, goes or proves higher than thought: the reader's line does not move", () => {
    const kinds = new Map<string, number>();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 24 }), (steps) => {
        const world = new World();
        world.draw();
        for (const one of steps) {
          const { follows, anchor } = world.list;
          const [line] = world.seen();
          const before = line === undefined ? null : world.placeOf(line);
          if ("scroll" in one) world.scroll(one.scroll);
          else if ("swipe" in one) world.scroll(one.swipe, 10);
          else {
            if ("append" in one) world.to += one.append;
            if ("prepend" in one) world.from = Math.max(0, world.from - one.prepend);
            if ("grow" in one) world.extra = one.grow;
            // What the reader does not see goes: far below, or far above for who follows.
            if ("cut" in one && follows) world.from = Math.max(world.from, world.to - 100);
            else if ("cut" in one) world.to = Math.min(world.to, Number(anchor?.key) + 100);
            world.draw();
          }
          const isScroll = "scroll" in one || "swipe" in one;
          kinds.set(
            follows ? "follows" : "reads",
            (kinds.get(follows ? "follows" : "reads") ?? 0) + 1,
          );
          const isPulled = world.list.follows && !isScroll;
          // A reader who scrolls up at this moment may finish first.
          if (isPulled) world.clock += 1_000;
          if (isPulled) world.draw();
          const end = world.box.scrollHeight - windowPx;
          if (isPulled) expect(world.box.scrollTop).toBeCloseTo(end, 0);
          else if (!isScroll && !follows && line !== undefined && world.box.scrollTop < end - 1)
            expect(Math.abs((world.placeOf(line) ?? Number.NaN) - (before as number))).toBeLessThan(
              1,
            );
          // What is seen is in the document, and not much else is.
          const count = world.to - world.from;
          const { first, last } = world.list.range;
          expect(first === 0 || (world.placeOf(String(world.from + first)) as number) <= 0).toBe(
            true,
          );
          const lower = world.placeOf(String(world.from + last - 1)) as number;
          expect(last === count || lower + 240 >= windowPx).toBe(true);
          expect(last - first).toBeLessThan(80);
        }
      }),
      { numRuns: 150 },
    );
    expect(kinds.get("reads")).toBeGreaterThan(100);
    expect(kinds.get("follows")).toBeGreaterThan(100);
  });

  test("scrolling by steps moves every line by just that much, measured or not", () => {
    const world = new World();
    world.from = 0;
    world.to = 5_000;
    world.draw();
    for (let n = 0; n < 300; n += 1) {
      const [line = ""] = world.seen().slice(3);
      const before = world.placeOf(line) as number;
      world.scroll(-97, n % 7 === 0 ? 1_000 : 16);
      expect(world.placeOf(line)).toBeCloseTo(before + 97, 0);
    }
    expect(world.list.follows).toBe(false);
    world.list.toEnd();
    world.draw();
    expect(world.box.scrollTop).toBe(world.box.scrollHeight - windowPx);
    expect(world.seen()).toContain("4999");
  });

  test("selected text stays in the document as far as that is little", () => {
    const world = new World();
    world.to = 2_000;
    world.draw();
    world.scroll(-1_000);
    const { first } = world.list.range;
    world.list.held = [String(1_000 + first + 2), String(1_000 + first + 4)];
    world.scroll(-4_000);
    expect(world.mounted()).toContain(String(1_000 + first + 4));
    world.scroll(-40_000);
    expect(world.mounted().length).toBeLessThan(heldRowsMax);
    expect(world.mounted()).not.toContain(String(1_000 + first + 4));
  });

  test("a line that is gone to is where it was wanted, wherever the list was", () => {
    const world = new World();
    world.from = 0;
    world.to = 3_000;
    world.draw();
    for (const key of ["1500", "40", "2800"]) {
      world.list.goTo(key, 300);
      world.draw();
      expect(world.placeOf(key)).toBeCloseTo(300, 0);
    }
    world.list.goTo("0", 300);
    world.draw();
    expect(world.box.scrollTop).toBe(0);
    world.to += 50;
    world.draw();
    expect(world.box.scrollTop).toBe(0);
  });
});

const author = { id: "ann", name: "Ann", isBot: false };
const heard = (seq: number, text = `line ${seq}`): MessageEntry => ({
  kind: "heard",
  seq,
  at: seq * 1_000,
  id: `m${seq}`,
  author,
  text,
  mentions: [],
  quote: null,
  files: [],
  verdict: { decision: "observe", rule: "default", credit: "none" },
});
const state = { now: 1 } as RoomState;
const pageLines = 50;

/** A daemon as a page sees it: a journal, pages of it, frames of what is new. */
class Journal {
  readonly entries: RoomEntry[] = [];
  add(make: (seq: number) => RoomEntry): void {
    this.entries.push(make(this.entries.length + 1));
  }
  get upTo(): number {
    return this.entries.length;
  }
  back(before: number): RoomHistory {
    const from = Math.max(1, before - pageLines);
    const entries = this.entries.slice(from - 1, before - 1);
    return { entries, before: from > 1 ? from : null, upTo: before - 1 };
  }
  forth(after: number): RoomHistory {
    const entries = this.entries.slice(after, after + pageLines);
    return { entries, before: after + 1, upTo: Math.min(this.upTo, after + pageLines) };
  }
  open(): RoomFrame {
    const view = { title: "", upTo: this.upTo, state, history: this.back(this.upTo + 1) };
    return { type: "open", view, writing: null } as unknown as RoomFrame;
  }
  more(after: number): RoomFrame {
    const entries = this.entries.slice(after);
    return { type: "more", upTo: this.upTo, entries, state, writing: null };
  }
}

const act = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 3_000 }).map((lines) => ({ lines })) },
  { weight: 4, arbitrary: fc.constantFrom("older", "newer") },
  { weight: 1, arbitrary: fc.constantFrom("newest", "reopened") },
  { weight: 3, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }).map((share) => ({ share })) },
  { weight: 2, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }).map((edit) => ({ edit })) },
);

describe("what is kept of a room", () => {
  test("it is a part of the journal without a gap, with the reader in it, and bounded", () => {
    let detached = 0;
    fc.assert(
      fc.property(fc.array(act, { minLength: 12, maxLength: 40 }), (acts) => {
        const journal = new Journal();
        for (let n = 0; n < 100; n += 1) journal.add(heard);
        let room = withFrame(null, journal.open(), 1) as Room;
        let reader: Reader = null;
        const notify = () => {
          room = withFrame(room, journal.more(room.view.upTo), 1, reader) as Room;
        };
        for (const one of acts) {
          if (typeof one === "object" && "lines" in one) {
            for (let n = 0; n < one.lines; n += 1) journal.add(heard);
            notify();
          } else if (typeof one === "object" && "edit" in one) {
            const id = `m${1 + Math.floor(one.edit * (journal.upTo - 1))}`;
            journal.add((seq) => ({ kind: "edited", seq, at: seq, id, text: `new ${seq}` }));
            notify();
          } else if (typeof one === "object") {
            const { entries } = room;
            const isEnd = one.share > 0.9 && room.newer === null;
            reader = isEnd
              ? null
              : (entries[Math.floor(one.share * (entries.length - 1))]?.seq ?? null);
          } else if (one === "older" && room.older !== null)
            room = withOlder(room, journal.back(room.older), reader);
          else if (one === "newer" && room.newer !== null)
            room = withNewer(room, journal.forth(room.newer), reader);
          else if (one === "newest" && room.newer !== null) {
            room = withNewest(room, journal.back(journal.upTo + 1));
            reader = null;
          } else if (one === "reopened") room = withFrame(room, journal.open(), 1, reader) as Room;
          const { entries, older, newer } = room;
          const first = entries[0]?.seq as number;
          const last = entries.at(-1)?.seq as number;
          expect(older).toBe(first > 1 ? first : null);
          if (newer !== null) detached += 1;
          if (newer === null) expect(last).toBe(journal.upTo);
          else expect(newer).toBeGreaterThanOrEqual(last);
          const lines = entries.filter(({ kind }) => kind === "heard");
          const all = journal.entries.slice(first - 1, last).filter(({ kind }) => kind === "heard");
          expect(lines.length).toBe(all.length);
          expect(lines.every((line, index) => line === all[index])).toBe(true);
          expect(entries.length).toBeLessThanOrEqual(readMax * 1.25);
          if (reader !== null) expect(entries.some(({ seq }) => seq === reader)).toBe(true);
        }
      }),
      { numRuns: 15 },
    );
    expect(detached).toBeGreaterThan(10);
  });

  test("a reader at the end keeps few lines, and one further up keeps what is read", () => {
    const journal = new Journal();
    for (let n = 0; n < 100; n += 1) journal.add(heard);
    const opened = withFrame(null, journal.open(), 1) as Room;
    let [followed, read] = [opened, opened];
    for (let n = 0; n < 40; n += 1) {
      for (let line = 0; line < 250; line += 1) journal.add(heard);
      followed = withFrame(followed, journal.more(followed.view.upTo), 1) as Room;
      read = withFrame(read, journal.more(read.view.upTo), 1, 60) as Room;
    }
    expect(followed.entries.length).toBeLessThanOrEqual(followedMax * 1.25);
    expect(followed.entries.at(-1)?.seq).toBe(journal.upTo);
    expect(read.entries[0]?.seq).toBe(51);
    expect(read.entries.length).toBeLessThanOrEqual(readMax * 1.25);
    expect(read.newer).not.toBeNull();
    expect(read.arrived).toBe(10_000);
    // All the way down again: nothing is missing on the way.
    const seen = new Set(read.entries.map(({ seq }) => seq));
    for (let rounds = 0; read.newer !== null; rounds += 1) {
      expect(rounds).toBeLessThan(300);
      read = withNewer(read, journal.forth(read.newer), read.newer);
      for (const { seq } of read.entries) seen.add(seq);
    }
    expect(seen.size).toBe(journal.upTo - 50);
  });

  test("an edit or removal of a line that is read is seen, though its own entry is not kept", () => {
    const journal = new Journal();
    for (let n = 0; n < 8_000; n += 1) journal.add(heard);
    let room = withFrame(null, journal.open(), 1) as Room;
    while (room.older !== null) room = withOlder(room, journal.back(room.older), room.older);
    expect(room.newer).not.toBeNull();
    journal.add((seq) => ({ kind: "edited", seq, at: seq, id: "m10", text: "other words" }));
    journal.add((seq) => ({ kind: "deleted", seq, at: seq, id: "m11" }));
    journal.add((seq) => ({ kind: "edited", seq, at: seq, id: "m7990", text: "not kept" }));
    room = withFrame(room, journal.more(room.view.upTo), 1, 5) as Room;
    const rows = rowsOf(room.entries, room.amends);
    const row = (key: string) => rows.find((one) => one.key === key);
    expect(row("10")).toMatchObject({ text: "other words" });
    expect(row("11")).toMatchObject({ deleted: true });
    expect(room.amends.map(({ seq }) => seq)).toEqual([8_001, 8_002]);
  });

  test("long texts count for more, and an answer written in a hundred edits for one", () => {
    const journal = new Journal();
    for (let n = 0; n < 300; n += 1) journal.add((seq) => heard(seq, "x".repeat(16_000)));
    let room = withFrame(null, journal.open(), 1) as Room;
    room = withFrame(room, journal.more(room.view.upTo - 250), 1) as Room;
    expect(room.entries.length).toBeLessThan(60);
    const edited = new Journal();
    for (let n = 0; n < 50; n += 1) edited.add(heard);
    for (let n = 0; n < 1_000; n += 1)
      edited.add((seq) => ({ kind: "edited", seq, at: seq, id: "m50", text: `word ${n}` }));
    const empty = { ...edited.open(), view: { upTo: 0, state, history: edited.back(1) } };
    room = withFrame(null, empty as unknown as RoomFrame, 1) as Room;
    room = withFrame(room, edited.more(0), 1) as Room;
    expect(room.entries.map(({ kind }) => kind).filter((kind) => kind === "heard")).toHaveLength(
      50,
    );
    expect(rowsOf(room.entries).at(-1)).toMatchObject({ text: "word 999" });
    expect(room.entries.length).toBe(51);
  });
});

describe("rows that grow", () => {
  const ids = fc.constantFrom("a", "b", "c");
  const quote = fc.option(ids.map((id) => ({ id, name: id, text: "" })));
  const entry: fc.Arbitrary<(seq: number) => RoomEntry> = fc.oneof(
    fc.tuple(ids, quote).map(([id, q]) => (seq: number) => ({ ...heard(seq), id, quote: q })),
    ids.map((id) => (seq: number) => ({
      kind: "edited" as const,
      seq,
      at: seq,
      id,
      text: `${seq}`,
    })),
    ids.map((id) => (seq: number) => ({ kind: "deleted" as const, seq, at: seq, id })),
    ids.map((turnId) => (seq: number) => ({ kind: "turn" as const, seq, at: seq, turnId })),
    fc
      .tuple(ids, fc.constantFrom("silent" as const, "replied" as const))
      .map(([turnId, outcome]) => (seq: number) => ({
        kind: "ended" as const,
        seq,
        at: seq,
        turnId,
        outcome,
        reason: null,
      })),
    fc
      .tuple(ids, fc.option(ids), fc.option(ids, { nil: undefined }))
      .map(([turnId, replyTo, edits]) => (seq: number) => ({
        kind: "said" as const,
        seq,
        at: seq,
        id: `${turnId}${seq % 3}`,
        turnId,
        text: "x",
        replyTo,
        status: "sent" as const,
        error: null,
        credited: [],
        ...(edits === undefined ? {} : { edits: `${edits}${seq % 2}` }),
      })),
  );

  test("rows made bit by bit are those made at once", () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), cuts, (makers, sizes) => {
        const all = makers.map((make, index) => make(index + 1));
        const transcript = new Transcript();
        for (let at = 0, n = 0; at < all.length; n += 1) {
          at += sizes[n % sizes.length] as number;
          const now = all.slice(0, at);
          expect(transcript.rows(now)).toEqual(rowsOf(now));
        }
      }),
      { numRuns: rounds(120, 400) },
    );
  });
});
