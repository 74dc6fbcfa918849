/** Lines: their windows, what waits for a turn, a relay and a stop, action by action. */
import { describe, expect, test } from "vitest";
import * as guards from "../../../../src/machines/conversation/guards.ts";
import * as queue from "../../../../src/machines/conversation/queue-actions.ts";
import {
  acting,
  contextWith,
  flush,
  forming,
  room,
  run,
} from "../../../support/machines/acting.ts";
import { asked, buffer, clear, dropped, entry, none, set, settings } from "./values.ts";

describe("deadlines", () => {
  test("the first window's is set, moved and cleared as that changes", () => {
    const arm = (given: object, setFor: number | null) =>
      acting(given, (step) => queue.armFlush(step, setFor)).effects;
    const open = { forming: [forming([1]), forming([2], { closesAt: 900 })] };
    expect(arm(open, null)).toEqual([set("flush", 500)]);
    expect(arm(open, 500)).toEqual([]);
    expect(arm({}, 500)).toEqual([clear("flush")]);
    expect(arm({}, null)).toEqual([]);
  });

  test("the quiet window's is set, moved and cleared", () => {
    const quiet = (given: object, at: number | null) =>
      acting(given, (step) => queue.setQuiet(step, at));
    expect(quiet({}, 9)).toEqual({ changed: { quietAt: 9 }, effects: [set("quiet", 9)] });
    expect(quiet({ quietAt: 9, quietBy: 8 }, 9)).toEqual(none);
    expect(quiet({ quietAt: 9, quietBy: 8 }, null)).toEqual({
      changed: { quietAt: null, quietBy: 0 },
      effects: [clear("quiet")],
    });
  });

  test("a turn's end opens the quiet window, and what is said extends it, up to its cap", () => {
    const times = { queue: { debounceMs: 100 }, debounce: { maxMs: 250 } };
    const opened = acting(settings(times), (step) => queue.openQuiet(step, { at: 10 }));
    expect(opened).toEqual({
      changed: { quietAt: 110, quietBy: 260 },
      effects: [set("quiet", 110)],
    });
    const extend = (quietAt: number | null, at: number) =>
      acting({ quietAt, quietBy: 260, ...settings(times) }, (step) => queue.extendQuiet(step, at))
        .changed;
    expect(extend(110, 50)).toEqual({ quietAt: 150 });
    expect(extend(110, 200)).toEqual({ quietAt: 260 });
    expect(extend(110, 5)).toEqual({});
    expect(extend(null, 50)).toEqual({});
  });

  test("a quiet window that is over closes what is due with it; one that came early is set again", () => {
    const given = {
      forming: [forming([1]), forming([2], { closesAt: 900 })],
      quietAt: 5,
      quietBy: 6,
    };
    const { changed, effects } = acting(given, (step) =>
      queue.endQuiet(step, { type: "deadline.due", id: "quiet", at: 500 }),
    );
    expect(changed).toMatchObject({
      forming: [given.forming[1]],
      inbox: [{ messages: [{ seq: 1 }], backlog: true }],
      quietAt: null,
      quietBy: 0,
    });
    expect(effects).toEqual([set("flush", 900)]);
    expect(acting({ quietAt: 5 }, queue.keepQuiet).effects).toEqual([set("quiet", 5)]);
    expect(acting({}, queue.keepQuiet)).toEqual(none);
  });

  test("after a turn the line waits for a pause where the mode says so", () => {
    const needs = (mode: string, given: object = {}, debounceMs = 1) =>
      queue.needsQuiet(
        contextWith({
          run: run(),
          inbox: [flush([1])],
          ...given,
          ...settings({ queue: { mode, debounceMs } }),
        }),
      );
    const modes = ["collect", "followup", "steer", "steer-backlog", "queue", "interrupt"];
    expect(modes.map((mode) => needs(mode))).toEqual([true, true, true, true, false, false]);
    expect(needs("collect", { run: null })).toBe(false);
    expect(needs("collect", { run: run({}, { heartbeat: true }) })).toBe(false);
    expect(needs("collect", { inbox: [] })).toBe(false);
    expect(needs("collect", {}, 0)).toBe(false);
  });
});

describe("windows that close", () => {
  const due = (at: number, given: object, work?: { running: boolean }) =>
    acting(given, (step) =>
      queue.closeDueWindows(step, { type: "deadline.due", id: "flush", at }, work),
    );

  test("at their moment, and what stays open is waited for again", () => {
    const open = { forming: [forming([1]), forming([2], { closesAt: 900 })] };
    expect(due(500, open)).toEqual({
      changed: { forming: [open.forming[1]], inbox: [flush([1])] },
      effects: [set("flush", 900)],
    });
    expect(due(499, open).effects).toEqual([set("flush", 500)]);
    expect(due(900, open)).toEqual({
      changed: { forming: [], inbox: [flush([1]), flush([2])] },
      effects: [],
    });
  });

  test("by a command, all of them", () => {
    const open = { forming: [forming([1]), forming([2], { closesAt: 900 })] };
    const closed = acting(open, (step) => queue.closeWindows(step, { at: 5 }));
    expect(closed.changed).toEqual({ forming: [], inbox: [flush([1]), flush([2])] });
    expect(closed.effects).toEqual([clear("flush")]);
    expect(acting({}, (step) => queue.closeWindows(step, { at: 5 })).effects).toEqual([]);
  });

  test("behind a turn or a quiet window are its backlog, but not behind a heartbeat", () => {
    const backlog = (given: object) =>
      due(500, { forming: [forming([1])], ...given }).changed.inbox?.[0]?.backlog;
    expect(backlog({})).toBe(false);
    expect(backlog({ run: run() })).toBe(true);
    expect(backlog({ run: run({}, { heartbeat: true }) })).toBe(false);
    expect(backlog({ quietAt: 9 })).toBe(true);
  });

  test("reach the running agent, where it runs and they got a place", () => {
    const steers = (over: object, given: object = {}, running = true) =>
      due(
        500,
        {
          run: run(),
          forming: [forming([5])],
          ...given,
          ...settings({ queue: { mode: "steer", ...over } }),
        },
        { running },
      ).effects.filter(({ type }) => type === "turn.steer");
    expect(steers({})).toHaveLength(1);
    expect(steers({}, {}, false)).toEqual([]);
    const full = { inbox: [flush([3], {}, { author: "bob" })] };
    expect(steers({ cap: 1, drop: "new" }, full)).toEqual([]);
    expect(steers({ cap: 1, drop: "old" }, full)).toHaveLength(1);
    expect(steers({ cap: 9, drop: "new" }, full)).toHaveLength(1);
  });

  test("interrupt it only where they got a place", () => {
    const interrupts = (drop: string) =>
      due(
        5_000,
        {
          run: run(),
          forming: [forming([5])],
          inbox: [flush([3])],
          ...settings({ queue: { mode: "interrupt", cap: 1, drop } }),
        },
        { running: true },
      ).effects.some(({ type }) => type === "turn.abort");
    expect([interrupts("new"), interrupts("old")]).toEqual([false, true]);
  });

  test("at a full line let others go, with what shows it", () => {
    const given = {
      forming: [forming([5])],
      inbox: [flush([3, 4], {}, { ack: "👀" })],
      droppedWhileBusy: ["old"],
    };
    const full = (drop: string, cap = 1) =>
      due(500, { ...given, ...settings({ queue: { mode: "queue", cap, drop } }) });
    const gone = ["m3", "m4"].map((message) => ({
      type: "unreact",
      message,
      emoji: "👀",
      route: room,
    }));
    const summarized = full("summarize");
    expect(summarized.effects).toEqual([
      dropped(3, "queue-cap-summarized"),
      dropped(4, "queue-cap-summarized"),
      ...gone,
    ]);
    expect(summarized.changed).toMatchObject({ droppedWhileBusy: ["ann: 4"] });
    expect(full("old").effects.slice(0, 1)).toEqual([dropped(3, "queue-cap-old")]);
    expect(full("old").changed).not.toHaveProperty("droppedWhileBusy");
    expect(full("new").effects).toEqual([dropped(5, "queue-cap-new")]);
    const wide = due(500, {
      ...given,
      inbox: [flush([3]), flush([4])],
      ...settings({ queue: { mode: "queue", cap: 2, drop: "summarize" } }),
    });
    expect(wide.changed.droppedWhileBusy).toEqual(["old", "ann: 3"]);
  });
});

describe("a relay in line", () => {
  const leg = (seq: number) => ({
    token: `m${seq}`,
    place: 1,
    keys: ["a", "b"],
    seq,
    at: 1,
    ahead: [0],
  });

  test("asks for no slot while its first batch waits, and for one when that is gone", () => {
    const held = { inbox: [flush([3])], relays: [leg(3)] };
    expect(acting(held, queue.requestSlot).effects).toEqual([]);
    expect(acting({ inbox: [flush([3])] }, queue.requestSlot).effects).toEqual([
      { type: "lane.request" },
    ]);
    expect(acting({}, queue.releaseSlot).effects).toEqual([{ type: "lane.release" }]);
    const freed = (given: object, was: boolean) =>
      acting(given, (step) => queue.requestIfFreed(step, was)).effects;
    expect(freed({ inbox: [flush([4])] }, true)).toEqual([{ type: "lane.request" }]);
    expect(freed({ inbox: [flush([4])] }, false)).toEqual([]);
    expect(freed({ inbox: [flush([4])], run: run() }, true)).toEqual([]);
    expect(freed({}, true)).toEqual([]);
    const full = {
      forming: [forming([5])],
      ...held,
      ...settings({ queue: { mode: "queue", cap: 1, drop: "old" } }),
    };
    const { effects } = acting(full, (step) => queue.closeWindows(step, { at: 1 }));
    expect(effects).toContainEqual({ type: "lane.request" });
  });
});

describe("a stop", () => {
  const from = { author: "ann", owner: false, route: room };
  const park = (given: object, order: object = { from }) =>
    acting(given, (step) =>
      queue.parkLine(step, { type: "run.aborted", at: 9, by: "stop", ...order } as never),
    );

  test("turns what its person has waiting into what was overheard", () => {
    const own = flush([3], {}, { ack: "👀", editSeq: 8 });
    const past = flush([4], { past: 1 });
    const bob = flush([5], {}, { author: "bob" });
    const { changed, effects } = park({
      inbox: [own, past, bob],
      buffer: buffer(entry(6)),
      quietAt: 7,
    });
    expect(changed).toEqual({
      inbox: [bob],
      buffer: buffer(entry(3, { editSeq: 8, stopped: true }), entry(6)),
    });
    expect(effects).toEqual(
      [
        dropped(3, "stopped"),
        { type: "unreact", message: "m3", emoji: "👀", route: room },
        dropped(4, "stopped"),
      ].map((one, index) =>
        index === 0 ? { ...one, message: { seq: 3, id: "m3", editSeq: 8 } } : one,
      ),
    );
    const all = park({ inbox: [flush([3])], quietAt: 7, quietBy: 8 });
    expect(all.changed).toMatchObject({ inbox: [], quietAt: null });
    expect(all.changed.buffer).toStrictEqual(buffer(entry(3, { stopped: true })));
  });

  test("closes every question, and without a person leaves what waits", () => {
    const given = { inbox: [flush([3])], buffer: buffer(entry(6, { asked })) };
    expect(park(given, {}).changed).toEqual({ buffer: buffer(entry(6)) });
    const others = { ...given, inbox: [flush([3], {}, { author: "bob" })] };
    expect(park(others).changed).toEqual({ buffer: buffer(entry(6)) });
    expect(park({ inbox: [flush([3], {}, { author: "bob" })] })).toEqual(none);
  });

  test("asks for the slot of those whose way it freed", () => {
    const relays = [{ token: "m3", place: 1, keys: ["a", "b", "c"], seq: 3, at: 1, ahead: [0] }];
    const bob = flush([5], {}, { author: "bob" });
    const { effects } = park({ inbox: [flush([3]), bob], relays });
    expect(effects).toEqual([
      dropped(3, "stopped"),
      { type: "relay.pass", token: "m3", place: 1, to: ["c"] },
      clear("relay"),
      { type: "lane.request" },
    ]);
  });

  test("stops all where nothing else waits", () => {
    const all = (given: object, order: object = { from }) =>
      guards.stopsAll(contextWith(given), {
        type: "run.aborted",
        at: 1,
        by: "x",
        ...order,
      } as never);
    expect(all({ inbox: [flush([3])] })).toBe(true);
    expect(all({ inbox: [flush([3]), flush([4], {}, { author: "bob" })] })).toBe(false);
    expect(all({ inbox: [flush([3])] }, {})).toBe(false);
    expect(all({ inbox: [flush([3])], heartbeat: room })).toBe(false);
  });
});
