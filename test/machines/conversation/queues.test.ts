/** Lines, questions, sessions and what is said in the room, action by action. */
import { describe, expect, test } from "vitest";
import { emptyFloors } from "../../../src/domain/floor.ts";
import { limits } from "../../../src/domain/limits.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import * as guards from "../../../src/machines/conversation/guards.ts";
import * as judge from "../../../src/machines/conversation/judge-actions.ts";
import * as messages from "../../../src/machines/conversation/message-actions.ts";
import {
  engagementInput,
  heldAuthors,
  stepEvent,
} from "../../../src/machines/conversation/message-analysis.ts";
import * as queue from "../../../src/machines/conversation/queue-actions.ts";
import * as session from "../../../src/machines/conversation/session-actions.ts";
import { hearLine, keepCredited, noteAnswer } from "../../../src/machines/engagement/floor.ts";
import {
  acting,
  contextWith,
  direct,
  flush,
  forming,
  pending,
  room,
  run,
  thread,
} from "../../support/machines/acting.ts";

const settings = (over: object) => ({ settings: over as never });
const none = { changed: {}, effects: [] };
const floor = {
  engagement: { stickiness: { enabled: true, windowMs: 100, mode: "floor", holdDuringTurn: true } },
};
const set = (id: string, at: number) => ({ type: "deadline.set", id, at });
const clear = (id: string) => ({ type: "deadline.clear", id });
const dropped = (seq: number, why: string) => ({
  type: "dropped",
  message: { seq, id: `m${seq}` },
  why,
});
const entry = (seq: number, over: object = {}) => ({
  seq,
  id: `m${seq}`,
  at: seq,
  author: "ann",
  self: false,
  ...over,
});
const buffer = (...entries: ReturnType<typeof entry>[]) => ({ entries, dropped: 0 });
const asked = { route: room, media: false, group: null, gist: "ann: hi" };

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
      buffer: buffer(entry(3, { editSeq: 8 }), entry(6)),
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
    expect(all.changed.buffer).toStrictEqual(buffer(entry(3)));
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

describe("a session", () => {
  test("says its queue, its sending and its activation differently, field by field", () => {
    const over = (override: object, event: object) =>
      acting({ override }, (step) =>
        session.overrideSession(step, { type: "session.overridden", at: 1, ...event } as never),
      ).changed;
    const before = {
      queue: { mode: "queue" as const, cap: 3 },
      send: "deny" as const,
      activation: "always" as const,
    };
    expect(over(before, {}).override).toEqual(before);
    expect(over(before, { send: null }).override).toEqual({
      queue: before.queue,
      activation: "always",
    });
    expect(over(before, { activation: null, queue: null }).override).toEqual({ send: "deny" });
    expect(over(before, { queue: { cap: 5 } }).override).toMatchObject({ queue: { cap: 5 } });
    expect(over(before, { queue: { cap: 5 } }).override?.queue).not.toHaveProperty("mode");
    expect(over(before, { queue: { cap: 5 }, merge: true }).override).toMatchObject({
      queue: { mode: "queue", cap: 5 },
    });
    expect(over(before, { queue: null, merge: true }).override).not.toHaveProperty("queue");
    expect(over(before, { merge: true }).override).toEqual(before);
    const found = over({}, { send: "deny", activation: "mention", queue: { cap: 4 } });
    expect(found.settings).toMatchObject({
      send: "deny",
      queue: { cap: 4 },
      engagement: { activation: "mention" },
    });
    expect(found.override).toEqual({ send: "deny", activation: "mention", queue: { cap: 4 } });
  });

  test("takes on another config under what it says differently", () => {
    const given = { override: { send: "deny" as const }, floors: { ...emptyFloors, heard: 2 } };
    const next = contextWith(settings({ replyTo: "all" })).settings;
    const adopt = (over: object) =>
      acting(given, (step) =>
        session.adoptSettings(step, { type: "config.changed", at: 1, settings: over } as never),
      ).changed;
    expect(adopt(next)).toMatchObject({
      configured: next,
      settings: { replyTo: "all", send: "deny" },
      floors: emptyFloors,
    });
    expect(adopt(contextWith(settings(floor)).settings)).not.toHaveProperty("floors");
  });

  test("begins anew: introduced again, no question open, nothing read", () => {
    const given = {
      inbox: [flush([3], { past: 1 }), flush([4])],
      buffer: buffer(entry(6, { asked })),
      readByTurns: [{ seq: 1, id: "m1" }],
      notes: [{ seq: 7, id: "x", at: 1 }],
      introduced: true,
      abortedLastRun: true,
      run: run(),
    };
    const begin = (event: object, more: object = {}) =>
      acting({ ...given, ...more }, (step) =>
        session.beginSession(step, { type: "session.reset", at: 1, ...event } as never),
      );
    const common = {
      buffer: buffer(entry(6)),
      readByTurns: [],
      introduced: false,
      abortedLastRun: false,
      run: run({ left: true }),
    };
    expect(begin({})).toEqual({ changed: common, effects: [] });
    expect(begin({ sessionId: "s" }).effects).toStrictEqual([
      { type: "session.began", sessionId: "s" },
    ]);
    const cut = begin({ sessionId: "s", cuts: true });
    expect(cut.changed).toEqual({
      ...common,
      inbox: [flush([3], { past: 2 }), flush([4], { past: 1 })],
    });
    expect(cut.effects).toEqual([{ type: "session.began", sessionId: "s", owes: true }]);
    const idle = begin({ sessionId: "s", cuts: true }, { inbox: [], run: null });
    expect(idle.changed).toMatchObject({ notes: [] });
    expect(idle.changed).not.toHaveProperty("run");
    expect(idle.effects).toStrictEqual([{ type: "session.began", sessionId: "s" }]);
  });

  test("backs off: nobody holds anything", () => {
    const given = {
      ledger: { ann: 9 },
      buffer: buffer(entry(6, { asked })),
      forming: [forming([1])],
      inbox: [flush([2])],
      run: run(),
    };
    expect(acting(given, session.dropCredits).changed).toEqual({
      ledger: {},
      buffer: buffer(entry(6)),
      forming: [forming([1], { holds: false })],
      inbox: [flush([2], { holds: false })],
      run: run({ holds: false }),
    });
    expect(acting({ run: run({ holds: false }) }, session.dropCredits).changed).toEqual({
      ledger: {},
    });
    const rows = { ann: {} } as never;
    const judged = acting(
      { floors: { ...emptyFloors, rows }, ...settings(floor) },
      session.dropCredits,
    );
    expect(judged.changed.floors?.rows).toEqual({});
  });

  test("owes one heartbeat at most, and so many prompts", () => {
    const beat = (given: object) =>
      acting(given, (step) =>
        session.noteHeartbeat(step, { type: "heartbeat.due", at: 1, route: room }),
      ).changed;
    expect(beat({})).toEqual({ heartbeat: room });
    expect(beat({ run: run() })).toEqual({ heartbeat: room });
    expect(beat({ run: run({}, { heartbeat: true }) })).toEqual({});
    const prompt = (count: number) =>
      acting({ prompts: Array.from({ length: count }, () => ({ seq: 1, route: room })) }, (step) =>
        session.notePrompt(step, {
          type: "prompt.due",
          at: 1,
          seq: 9,
          id: "p",
          route: thread,
        } as never),
      );
    expect(prompt(0)).toEqual({ changed: { prompts: [{ seq: 9, route: thread }] }, effects: [] });
    expect(prompt(limits.promptsOwedMax - 1).changed.prompts).toHaveLength(limits.promptsOwedMax);
    expect(prompt(limits.promptsOwedMax)).toEqual({
      changed: {},
      effects: [{ type: "dropped", message: { seq: 9, id: "p" }, why: "queue-cap-new" }],
    });
  });

  test("answers commands with its figures", () => {
    const given = {
      run: run(),
      inbox: [flush([3, 4]), flush([5], {}, { author: "bob" })],
      forming: [forming([6])],
      buffer: buffer(entry(7)),
      turnSeq: 8,
      ledger: { ann: 1, bob: 2 },
      counters: { consecutive: 9, window: [] },
    };
    const by = { route: room, messageId: "m", author: "ann", owner: false, about: null };
    const status = (event: object, over: object = {}) => {
      const { effects } = acting({ ...given, ...over }, (step) =>
        session.runCommand(step, {
          type: "command.applied",
          at: 1,
          command: "status",
          args: ["a"],
          ...event,
        } as never),
      );
      expect(effects).toHaveLength(1);
      return effects[0] as never as {
        calls: unknown;
        asked: unknown;
        status: Record<string, unknown>;
      };
    };
    const { settings: all } = contextWith({});
    expect(status({ asked: by, more: [{ command: "why", args: [] }] })).toEqual({
      type: "command",
      calls: [
        { command: "status", args: ["a"] },
        { command: "why", args: [] },
      ],
      asked: by,
      status: {
        stops: { turn: true, messages: 2 },
        consecutive: 9,
        waiting: 3,
        remembered: 1,
        turns: 8,
        credits: 2,
        activation: all.engagement.activation,
        queue: all.queue,
        send: all.send,
      },
    });
    const stops = (event: object, over: object = {}) => status(event, over).status.stops;
    expect(status({}).asked).toBeNull();
    expect(stops({})).toEqual({ turn: true, messages: 3 });
    expect(stops({ asked: { ...by, author: "bob" } })).toEqual({ turn: false, messages: 1 });
    expect(stops({}, { run: run({ abortedBy: "x" }) })).toEqual({ turn: false, messages: 3 });
    expect(stops({}, { run: null })).toEqual({ turn: false, messages: 3 });
  });

  test("passes on what a turn used", () => {
    const usage = (event: object) =>
      acting({}, (step) =>
        session.noteUsage(step, {
          turnId: "T1",
          inputTokens: 1,
          outputTokens: 2,
          ...event,
        } as never),
      ).effects;
    const used = { type: "usage", turnId: "T1", inputTokens: 1, outputTokens: 2 };
    expect(usage({})).toEqual([{ ...used, costUsd: 0 }]);
    expect(usage({ costUsd: 3 })).toEqual([{ ...used, costUsd: 3 }]);
  });
});

describe("a judge", () => {
  const judged = { engagement: { judge: { minConfidence: 0.5 } } };
  const answer = (over: object = {}) =>
    ({
      type: "judge.answered",
      at: 50,
      id: "m6",
      engage: true,
      confidence: 0.5,
      why: "",
      ...over,
    }) as never;
  const analyze = (given: object, over: object = {}) =>
    judge.analyzeAnswer(
      contextWith({ buffer: buffer(entry(6, { asked })), ...settings(judged), ...given }),
      answer(over),
    );

  test("is asked about the newest lines, twelve at most, where there is one", () => {
    const ask = (count: number) =>
      acting({ buffer: buffer(...Array.from({ length: count }, (_, n) => entry(n))) }, (step) =>
        judge.askJudge(step, room),
      ).effects;
    expect(ask(0)).toEqual([]);
    expect(ask(1)).toEqual([{ type: "judge.ask", messages: [{ seq: 0, id: "m0" }], route: room }]);
    const [many] = ask(14);
    expect(many?.type === "judge.ask" && many.messages.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 12 }, (_, n) => n + 2),
    );
  });

  test("engages a line that a question is open about, where it is sure enough", () => {
    const gathered = {
      forming: [
        forming([], {
          messages: [pending(6, { at: 50, ack: "👀", gist: "ann: hi" })],
          firstAt: 50,
          closesAt: 550,
        }),
      ],
      closed: [],
    };
    expect(analyze({})).toEqual({ entry: entry(6, { asked }), gathered });
    for (const over of [{ engage: false }, { confidence: 0.49 }, { failed: "timeout" }])
      expect(analyze({}, over)).toEqual({ entry: entry(6, { asked }), gathered: null });
    expect(analyze(settings({}))).toMatchObject({ gathered: null });
    expect(analyze({ buffer: buffer(entry(6)) })).toEqual({ entry: null, gathered: null });
    expect(analyze({}, { id: "m7" })).toEqual({ entry: null, gathered: null });
    const edited = analyze({ buffer: buffer(entry(6, { asked, editSeq: 9 })) });
    expect(edited.gathered?.forming[0]?.messages).toMatchObject([{ seq: 6, editSeq: 9 }]);
    expect(
      analyze(settings({ ...judged, typing: { mode: "instant" } })).gathered?.forming[0],
    ).toMatchObject({
      instant: true,
    });
  });

  test("engages it as overtaken where somebody else has spoken since", () => {
    const overtaken = (...later: ReturnType<typeof entry>[]) =>
      analyze({ buffer: buffer(entry(6, { asked }), ...later) }).gathered?.forming[0]?.overtaken;
    expect(overtaken(entry(7, { author: "bob" }))).toBe(true);
    expect(overtaken(entry(7))).toBe(false);
    expect(overtaken(entry(5, { author: "bob" }))).toBe(false);
    const photo = { ...asked, media: true };
    const { gathered } = analyze({
      forming: [forming([1], { author: "bob" })],
      buffer: buffer(entry(6, { asked: photo }), entry(7, { author: "bob" })),
    });
    expect(gathered?.closed.map((one) => one.overtaken)).toEqual([false, true]);
  });

  test("engages late what was observed: decided, acked, typed, and in a window", () => {
    const late = (given: object, work?: { running: boolean }) => {
      const context = {
        buffer: buffer(entry(5), entry(6, { asked })),
        ...settings(judged),
        ...given,
      };
      const event = answer() as object;
      const analysis = judge.analyzeAnswer(contextWith(context), answer());
      return acting(context, (step) =>
        judge.engageLate(step, { ...event, analysis } as never, work),
      );
    };
    const decided = {
      type: "decided",
      seq: 6,
      messageId: "m6",
      decision: "engage",
      rule: "judge",
      credit: "none",
    };
    const ack = { type: "react", message: "m6", emoji: "👀", route: room };
    const { changed, effects } = late({});
    expect(changed).toMatchObject({
      buffer: buffer(entry(5)),
      forming: [{ messages: [{ seq: 6 }] }],
    });
    expect(effects).toEqual([decided, ack, set("flush", 550)]);
    const plain = late(settings({ ...judged, ackReaction: null, typing: { mode: "instant" } }));
    expect(plain.effects).toEqual([
      decided,
      { type: "typing", on: true, route: room },
      set("flush", 550),
    ]);
    const beat = { run: run({}, { heartbeat: true }) };
    expect(late(beat, { running: true }).effects).toContainEqual({
      type: "turn.abort",
      turnId: "T1",
      reason: "a person spoke",
    });
    expect(late(beat, { running: false }).effects).toHaveLength(3);
    expect(late(beat).effects).toHaveLength(3);
    expect(late({ buffer: buffer(entry(6)) })).toEqual(none);
  });

  test("leaves the line observed, or all of them", () => {
    const given = { buffer: buffer(entry(5, { asked }), entry(6, { asked })) };
    expect(acting(given, (step) => judge.closeQuestion(step, answer())).changed.buffer).toEqual(
      buffer(entry(5, { asked }), entry(6)),
    );
    expect(acting(given, judge.dropQuestions).changed.buffer).toEqual(buffer(entry(5), entry(6)));
  });

  test("is given what its message would have been", () => {
    const message = inboundSchema.parse({
      channel: "irc",
      chat: room.chat,
      id: "m6",
      author: { id: "ann", name: "Ann" },
      text: `two\nlines ${"x".repeat(200)}`,
      groupId: "g",
    });
    const all = contextWith(settings({ queue: { drop: "summarize" } })).settings;
    const found = judge.askedOf(all, message);
    expect(found).toMatchObject({ route: room, media: true, group: "g" });
    expect(found.gist).toMatch(/^Ann: two lines x+…$/u);
    expect(found.gist).toHaveLength(160);
    expect(judge.gistOf(contextWith(settings({ queue: { drop: "old" } })).settings, message)).toBe(
      "",
    );
    const bare = { ...message, groupId: undefined };
    expect([judge.hasMedia(bare), judge.askedOf(all, bare).group]).toEqual([false, null]);
    expect(judge.hasMedia({ ...bare, attachments: [{ id: "a", kind: "file" }] })).toBe(true);
  });
});

describe("what is said, changed and removed", () => {
  const inbound = (over: object = {}) =>
    inboundSchema.parse({
      channel: "irc",
      chat: room.chat,
      id: "m9",
      author: { id: "bob" },
      text: "x",
      ...over,
    });
  const place = { channel: "irc", account: "default", chat: room.chat, thread: null };

  test("another agent's words are kept like what was observed", () => {
    const spoke = { type: "fellow.spoke", at: 9, seq: 9, message: inbound() } as const;
    const given = {
      buffer: buffer(entry(1)),
      inbox: [flush([3])],
      forming: [forming([4])],
      run: run(),
    };
    const { changed, effects } = acting(
      { ...given, ...settings({ context: { size: 1 } }) },
      (step) => messages.bufferSibling(step, spoke),
    );
    expect(changed).toEqual({
      buffer: { entries: [entry(9, { author: "bob" })], dropped: 1 },
      siblingMessages: ["m9"],
      inbox: [flush([3], { overtaken: true })],
      forming: [forming([4], { overtaken: true })],
      run: run({ overtaken: true }),
    });
    expect(effects).toEqual([dropped(1, "context-size")]);
    const own = { ...spoke, message: inbound({ author: { id: "ann" } }) };
    const quiet = acting(given, (step) => messages.bufferSibling(step, own)).changed;
    expect(Object.keys(quiet).sort()).toEqual(["buffer", "siblingMessages"]);
  });

  test("an edit changes what is remembered and waits, and is noted where a turn has read it", () => {
    const edit = {
      type: "message.edited",
      at: 9,
      seq: 20,
      edit: { ...place, id: "m3", text: "y" },
    } as never;
    const given = {
      buffer: buffer(entry(3), entry(4)),
      inbox: [flush([3])],
      forming: [forming([3])],
      readByTurns: [
        { seq: 3, id: "m3", editSeq: 11 },
        { seq: 4, id: "m4" },
      ],
      ...settings({ context: { size: 1 } }),
    };
    const { changed, effects } = acting(given, (step) => messages.applyEdit(step, edit));
    expect(changed).toEqual({
      buffer: buffer(entry(3, { editSeq: 20 }), entry(4)),
      inbox: [flush([3], {}, { editSeq: 20 })],
      forming: [forming([3], { messages: [pending(3, { editSeq: 20 })] })],
      readByTurns: [
        { seq: 3, id: "m3", editSeq: 20 },
        { seq: 4, id: "m4" },
      ],
      notes: [{ seq: 20, id: "m3", at: 9, was: { seq: 3, editSeq: 11 } }],
    });
    expect(effects).toEqual([]);
    const unread = acting({ readByTurns: [{ seq: 4, id: "m4" }] }, (step) =>
      messages.applyEdit(step, edit),
    );
    expect(unread).toEqual(none);
    const before = { seq: 19, id: "m4", at: 8, was: { seq: 4 } };
    const full = acting(
      { ...given, notes: [before], buffer: { entries: [], dropped: 2 } },
      (step) => messages.applyEdit(step, edit),
    );
    expect(full.changed.buffer).toEqual({ entries: [], dropped: 3 });
  });

  test("a reaction to a message of ours is noted", () => {
    const react = (reaction: object, given: object = {}) =>
      acting({ ownMessages: ["o1"], siblingMessages: ["s1"], ...given }, (step) =>
        messages.noteReaction(step, {
          type: "message.reacted",
          at: 9,
          seq: 20,
          reaction: { ...place, id: "o1", added: ["👍"], removed: [], ...reaction },
        } as never),
      ).changed.notes;
    const note = (id: string) => [{ seq: 20, id, at: 9 }];
    expect(react({})).toEqual(note("o1"));
    expect(react({ added: [], removed: ["👍"] })).toEqual(note("o1"));
    expect(react({ removed: ["👎"] })).toEqual(note("o1"));
    expect(react({ added: [] })).toBeUndefined();
    expect(react({ id: "x" })).toBeUndefined();
    expect(react({ id: "x", ofSelf: true })).toEqual(note("x"));
    expect(react({ id: "s1", ofSelf: true })).toBeUndefined();
    expect(react({ id: "o1", ofSelf: false })).toEqual(note("o1"));
  });

  test("a deletion forgets what nobody has answered", () => {
    const remove = (given: object, id = "m3", where: object = place) =>
      acting(given, (step) =>
        messages.applyDeletion(step, {
          type: "message.deleted",
          at: 9,
          seq: 20,
          deletion: { ...where, id },
        } as never),
      );
    const note = { seq: 7, id: "m3", at: 1 };
    expect(
      remove({ buffer: buffer(entry(3), entry(4)), notes: [note, { ...note, id: "m4" }] }),
    ).toEqual({
      changed: { buffer: buffer(entry(4)), notes: [{ ...note, id: "m4" }] },
      effects: [dropped(3, "deleted")],
    });
    expect(remove({ buffer: buffer(entry(3), entry(4)) }, "m4").effects).toEqual([
      dropped(4, "deleted"),
    ]);
    const acked = flush([3], {}, { ack: "👀" });
    const line = remove({ inbox: [acked], forming: [forming([5])], quietAt: 4, quietBy: 5 });
    expect(line.changed).toEqual({ inbox: [], quietAt: null, quietBy: 0 });
    expect(line.effects).toEqual([
      dropped(3, "deleted"),
      { type: "unreact", message: "m3", emoji: "👀", route: room },
      clear("quiet"),
    ]);
    const open = remove({
      forming: [forming([3]), forming([5], { closesAt: 900 })],
      inbox: [flush([6])],
      quietAt: 4,
    });
    expect(open.changed).toEqual({ forming: [forming([5], { closesAt: 900 })] });
    expect(open.effects).toEqual([dropped(3, "deleted"), set("flush", 900)]);
    expect(remove({ inbox: [flush([4])], forming: [forming([5])] })).toEqual(none);
    const relays = [{ token: "m3", place: 1, keys: ["a", "b", "c"], seq: 3, at: 1, ahead: [0] }];
    expect(remove({ inbox: [flush([3]), flush([4])], relays }).effects).toEqual([
      dropped(3, "deleted"),
      { type: "relay.pass", token: "m3", place: 1, to: ["c"] },
      clear("relay"),
      { type: "lane.request" },
    ]);
    const last = (given: object) =>
      guards.isLastToWait(contextWith(given), {
        type: "message.deleted",
        deletion: { ...place, id: "m3" },
      } as never);
    expect(last({ inbox: [flush([3])] })).toBe(true);
    expect(last({ inbox: [flush([3]), flush([4])] })).toBe(false);
    expect(last({ inbox: [flush([4])] })).toBe(false);
    expect(last({})).toBe(false);
    expect(last({ inbox: [flush([3])], prompts: [{ seq: 1, route: room }] })).toBe(false);
  });

  test("a history is remembered once, in front of what came meanwhile", () => {
    const history = [
      inbound({ id: "h1", sentAt: 5 }),
      inbound({ id: "h2", author: { id: "us", isSelf: true } }),
      inbound({ id: "h3", author: { id: "cy" }, sentAt: 500 }),
      inbound({ id: "m1" }),
      inbound({ id: "m3" }),
      inbound({ id: "m4" }),
      inbound({ id: "o1" }),
      inbound({ id: "s1" }),
      inbound({ id: "c1" }),
    ];
    const given = {
      run: run(),
      inbox: [flush([3])],
      forming: [forming([4])],
      ownMessages: ["o1"],
      siblingMessages: ["s1"],
      heardMessages: ["c1"],
      participants: [{ id: "bob", name: "Bob", isBot: false, lastSeenAt: 80 }],
      buffer: buffer(entry(8)),
    };
    const seed = (more: object = {}) =>
      acting({ ...given, ...more }, (step) =>
        messages.seedHistory(step, { type: "history.seeded", at: 100, seq: 2, messages: history }),
      ).changed;
    const found = seed();
    expect(found.seeded).toBe(true);
    expect(found.buffer?.entries.map(({ id, at, self, seq }) => [id, at, self, seq])).toEqual([
      ["h1", 5, false, 2],
      ["h2", 100, true, 2],
      ["h3", 100, false, 2],
      ["m8", 8, false, 8],
    ]);
    expect(found.ownMessages).toEqual(["h2", "o1"]);
    expect(found.heardMessages).toEqual(["h1", "h3", "c1"]);
    expect(found.participants?.map(({ id, lastSeenAt }) => [id, lastSeenAt])).toEqual([
      ["cy", 100],
      ["bob", 80],
    ]);
    expect(seed({ seeded: true })).toEqual({});
    expect(seed({ run: null }).buffer?.entries.map(({ id }) => id)).toContain("m1");
  });

  test("a list of members is taken as it is", () => {
    const membership = { humans: 2, bots: 0, truncated: false, fetchedAt: 1 };
    expect(
      acting({}, (step) =>
        messages.noteMembership(step, { type: "membership.read", at: 1, membership }),
      ).changed,
    ).toEqual({ membership });
  });
});

describe("a message", () => {
  const said = (over: object = {}, event: object = {}) =>
    ({
      type: "message.received",
      at: 1_000,
      seq: 9,
      message: inboundSchema.parse({
        channel: "irc",
        chat: room.chat,
        id: "m9",
        author: { id: "ann", name: "Ann" },
        text: "earshot, x",
        ...over,
      }),
      authority: { commandAuthorized: false, owner: false },
      ...event,
    }) as never;
  const three = { membership: { humans: 3, bots: 0, truncated: true, fetchedAt: 1 } };
  type Analyzed = { analysis: Record<string, unknown> } & Record<string, unknown>;
  const analyzed = (given: object, event: never = said(), guard = "clear") =>
    stepEvent(
      { value: { guard } as never, context: contextWith({ ...three, ...given }) },
      event,
    ) as never as Analyzed;

  test("is analysed once, with everything that it means", () => {
    const { analysis } = analyzed({});
    expect(analysis).toMatchObject({
      verdict: { decision: "engage" },
      isNew: true,
      fromBot: false,
      instant: false,
      membership: three.membership,
      gathered: {
        forming: [{ messages: [{ seq: 9, ack: "👀", gist: "Ann: earshot, x" }] }],
        closed: [],
      },
    });
    const heard = analyzed({}, said({ text: "hm" })).analysis;
    expect(heard).toMatchObject({
      verdict: { decision: "observe" },
      gathered: null,
      instant: false,
    });
    const other = { type: "skip", at: 1, turnId: "T1" } as never;
    expect(stepEvent({ value: { guard: "clear" }, context: contextWith({}) }, other)).toBe(other);
    const fresh = { humans: 2, bots: 0, truncated: false, fetchedAt: 999 };
    expect(analyzed({}, said({}, { membership: fresh })).analysis.membership).toBe(fresh);
  });

  test("of a bot counts, and is observed where the guard mutes", () => {
    const bot = said({ author: { id: "rex", isBot: true } });
    const guarded = { counters: { consecutive: 2, window: [900] } };
    expect(analyzed(guarded, bot).analysis).toMatchObject({
      fromBot: true,
      counters: { consecutive: 3 },
    });
    expect(analyzed(guarded, bot, "muted").analysis).toMatchObject({
      verdict: { decision: "observe", rule: "loop-guard", credit: "none" },
      counters: guarded.counters,
    });
    expect(analyzed(guarded, said(), "muted").analysis).toMatchObject({
      verdict: { decision: "engage" },
      counters: { consecutive: 0 },
    });
    const known = { participants: [{ id: "ann", name: "Ann", isBot: true, lastSeenAt: 1 }] };
    expect(analyzed(known).analysis.fromBot).toBe(true);
    expect(engagementInput(contextWith(known), said()).message.authorIsBot).toBe(true);
    expect(engagementInput(contextWith({}), said()).message.authorIsBot).toBe(false);
  });

  test("shows typing from the start where the config says so, or it is called", () => {
    const instant = (mode: string, over: object = {}) =>
      analyzed(settings({ typing: { mode } }), said(over)).analysis.instant;
    const mention = { mentions: [{ id: "us", isSelf: true }] };
    expect([instant("instant"), instant("auto"), instant("never"), instant("thinking")]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect([instant("auto", mention), instant("never", mention)]).toEqual([true, false]);
    expect(instant("auto", { chat: direct.chat })).toBe(true);
    expect(instant("instant", { text: "hm" })).toBe(false);
  });

  test("is put to the ladder with what this conversation knows", () => {
    const inputOf = (given: object, event: never = said()) =>
      engagementInput(contextWith(given), event);
    expect(inputOf(three, said({}, { namesOnly: ["x"] })).message.namesOnly).toEqual(["x"]);
    expect(inputOf({}).message).not.toHaveProperty("namesOnly");
    expect(inputOf(three).room).toMatchObject({ membership: three.membership, botInThread: false });
    const inThread = said({ thread: thread.thread });
    const spoken = { spokenIn: ['["irc","default","room","t"]'] };
    expect(inputOf(spoken, inThread).room.botInThread).toBe(true);
    expect(inputOf(spoken).room.botInThread).toBe(false);
    const self = { buffer: buffer(entry(1, { self: true })) };
    expect(inputOf(self, inThread).room.botInThread).toBe(true);
    expect(inputOf({ buffer: buffer(entry(1)) }, inThread).room.botInThread).toBe(false);
    const waits = { run: run(), forming: [forming([4], { author: "bob" })] };
    expect(inputOf(waits)).toMatchObject({ held: ["ann", "bob"] });
    expect(inputOf(waits)).not.toHaveProperty("floors");
    expect(inputOf({ ...waits, ...settings(floor) })).toMatchObject({
      held: ["bob"],
      floors: emptyFloors,
    });
  });

  test("holds those who wait, unless the agent backed off", () => {
    const held = (given: object) => heldAuthors(contextWith(given));
    const bob = { author: "bob" };
    expect(held({})).toEqual([]);
    expect(held({ run: run({ batch: [pending(1), pending(2, bob)] }) })).toEqual(["ann", "bob"]);
    expect(held({ run: run({ holds: false }), inbox: [flush([3], {}, bob)] })).toEqual(["bob"]);
    expect(held({ inbox: [flush([3], { holds: false })], forming: [forming([4], bob)] })).toEqual([
      "bob",
    ]);
    expect(held({ forming: [forming([4], { holds: false })] })).toEqual([]);
    expect(held({ inbox: [flush([], {})] })).toEqual([]);
  });

  test("that is engaged is acked, typed, in a window, and overtakes others", () => {
    const engage = (given: object, event: never = said(), work?: { running: boolean }) => {
      const context = { ...three, ...given };
      const found = analyzed(context, event);
      return acting(context, (step) => messages.engage(step, found as never, work));
    };
    const ack = { type: "react", message: "m9", emoji: "👀", route: room };
    const { changed, effects } = engage({ inbox: [flush([3], {}, { author: "bob" })] });
    expect(changed).toMatchObject({
      forming: [{ messages: [{ seq: 9 }] }],
      inbox: [{ overtaken: true }],
    });
    expect(effects).toEqual([ack, set("flush", 1_500)]);
    const mention = said({ mentions: [{ id: "us", isSelf: true }] });
    expect(engage({}, mention).effects).toEqual([
      ack,
      { type: "typing", on: true, route: room },
      set("flush", 1_500),
    ]);
    expect(engage(settings({ ackReaction: null })).effects).toEqual([set("flush", 1_500)]);
    const beat = { run: run({}, { heartbeat: true }) };
    expect(engage(beat, said(), { running: true }).effects[0]).toMatchObject({
      type: "turn.abort",
    });
    expect(engage(beat, said(), { running: false }).effects).toHaveLength(2);
    expect(engage(beat).effects).toHaveLength(2);
    expect(engage({}, said({ text: "hm" }))).toEqual(none);
    expect(engage({ quietAt: 1_100, quietBy: 9_000 }).changed.quietAt).toBe(1_500);
    const steer = engage({}, said({}, { steer: true })).changed.inbox?.[0];
    expect(steer?.messages).toMatchObject([{ seq: 9, steer: true }]);
  });

  test("that is engaged uses its author's credit as its rule says", () => {
    const credit = (verdict: object, given: object = {}, over: object = {}) => {
      const context = { ...three, ledger: { ann: 1_500 }, ...given };
      const found = analyzed(context, said(over));
      const analysis = {
        ...found.analysis,
        verdict: { decision: "engage", rule: "sticky", credit: "none", ...verdict },
      };
      return acting(context, (step) => messages.engage(step, { ...found, analysis } as never))
        .changed.ledger;
    };
    const short = settings({
      engagement: { stickiness: { ...floor.engagement.stickiness, mode: "expire" } },
    });
    expect(credit({})).toBeUndefined();
    expect(credit({ credit: "consumed" })).toEqual({});
    expect(credit({ credit: "slid" }, { ledger: {}, ...short })).toEqual({ ann: 1_100 });
    const judged = { ledger: {}, ...settings(floor) };
    expect(credit({ rule: "mention" }, judged)).toEqual({ ann: 1_100 });
    expect(credit({ rule: "sticky" }, judged)).toBeUndefined();
    expect(credit({ rule: "mention" }, { ledger: {}, ...short })).toBeUndefined();
    expect(credit({ rule: "mention" }, judged, { chat: direct.chat })).toBeUndefined();
  });

  test("that is observed is remembered, and the judge is asked where nothing else decided", () => {
    const observe = (verdict: object, event: object = {}) => {
      const found = analyzed(three, said({ text: "hm" }, event));
      const analysis = {
        ...found.analysis,
        verdict: { ...(found.analysis.verdict as object), ...verdict },
      };
      return acting(three, (step) => messages.bufferMessage(step, { ...found, analysis } as never));
    };
    const heard = entry(9, { at: 1_000 });
    expect(observe({})).toEqual({ changed: { buffer: buffer(heard) }, effects: [] });
    const put = observe({ rule: "judge" });
    expect(put.changed.buffer?.entries[0]).toMatchObject({
      asked: { route: room, gist: "Ann: hm" },
    });
    expect(put.effects).toEqual([
      { type: "judge.ask", messages: [{ seq: 9, id: "m9" }], route: room },
    ]);
    const relay = { token: "m9", place: 0, keys: ["a", "b"] };
    expect(observe({}, { relay }).effects).toEqual([
      { type: "relay.pass", token: "m9", place: 0, to: ["b"] },
    ]);
  });

  test("is decided, and heard of by everything that counts", () => {
    const decide = (given: object, event: never = said({ text: "hm" })) => {
      const context = { ...three, ledger: { ann: 2_000, gone: 999 }, ...given };
      const found = analyzed(context, event);
      return acting(context, (step) => messages.recordDecision(step, found as never));
    };
    const { changed, effects } = decide({});
    expect(changed).toMatchObject({ ledger: { ann: 2_000 }, heardMessages: ["m9"] });
    expect(changed.ledger).not.toHaveProperty("gone");
    expect(changed.participants).toMatchObject([{ id: "ann", lastSeenAt: 1_000 }]);
    expect(effects).toMatchObject([
      { type: "decided", seq: 9, messageId: "m9", decision: expect.any(String) },
      { type: "membership.refresh", route: room },
    ]);
    const known = { participants: [{ id: "ann", name: "Ann", isBot: false, lastSeenAt: 500 }] };
    expect(decide(known).effects).toHaveLength(1);
    const dm = decide({}, said({ chat: direct.chat }));
    expect(dm.changed).not.toHaveProperty("heardMessages");
    expect(dm.effects).toHaveLength(1);
    const most = limits.heardMessagesCountMax;
    const many = Array.from({ length: most }, (_, n) => `h${n}`);
    expect(decide({ heardMessages: many }).changed.heardMessages).toEqual([...many.slice(1), "m9"]);
    expect(decide({}).changed).not.toHaveProperty("floors");
  });

  test("where the floor is judged notes who addressed whom", () => {
    const answer = { at: 500, authors: ["ann", "bob"], named: [], words: [], asked: false };
    const talked = noteAnswer(emptyFloors, answer);
    const ledger = { ann: 2_000, bob: 2_000 };
    const floors = (over: object, verdict: object = {}) => {
      const context = { ...three, ledger, floors: talked, ...settings(floor) };
      const found = analyzed(context, said({ text: "hm", ...over }));
      const analysis = {
        ...found.analysis,
        verdict: { decision: "observe", rule: "sticky", credit: "none", ...verdict },
      };
      const event = { ...found, analysis } as never;
      return acting(context, (step) => messages.recordDecision(step, event)).changed.floors;
    };
    const line = (over: object) =>
      hearLine(keepCredited(talked, ledger), {
        author: "ann",
        at: 1_000,
        addresses: [],
        engaged: false,
        calls: false,
        ...over,
      });
    const bob = { mentions: [{ id: "bob" }] };
    const reply = { replyTo: { id: "x", authorId: "bob" } };
    const toBob = line({ addresses: ["bob"] });
    expect(toBob).not.toEqual(line({}));
    expect(floors({})).toEqual(line({}));
    expect(floors(bob)).toEqual(toBob);
    expect(floors(reply)).toEqual(toBob);
    expect(floors({ ...bob, ...reply })).toEqual(toBob);
    expect(floors({ replyTo: { id: "x" } })).toEqual(line({}));
    expect(floors({ mentions: [{ id: "bob", isSelf: true }] })).toEqual(line({}));
    expect(floors({ replyTo: { id: "x", authorId: "bob", authorIsSelf: true } })).toEqual(line({}));
    expect(floors({}, { decision: "engage" })).toEqual(line({ engaged: true }));
    expect(line({ engaged: true })).not.toEqual(line({}));
    expect(floors({}, { rule: "mention" })).toEqual(line({ calls: true }));
    expect(floors({ chat: direct.chat })).toBeUndefined();
  });
});

describe("what the chart asks", () => {
  const due = (id: string, at: number) => ({ type: "deadline.due", id, at }) as never;

  test("whether a window or the quiet one is over", () => {
    const open = { forming: [forming([1])] };
    const releases = (given: object, event: never) =>
      guards.flushReleases(contextWith(given), event);
    expect(releases(open, due("flush", 500))).toBe(true);
    expect(releases(open, due("flush", 499))).toBe(false);
    expect(releases(open, due("quiet", 500))).toBe(false);
    expect(releases({ ...open, quietAt: 1 }, due("flush", 500))).toBe(false);
    expect(releases({}, due("flush", 500))).toBe(false);
    const over = (given: object, event: never) => guards.quietIsOver(contextWith(given), event);
    expect(over({ quietAt: 5 }, due("quiet", 5))).toBe(true);
    expect(over({ quietAt: 5 }, due("quiet", 4))).toBe(false);
    expect(over({ quietAt: 5 }, due("flush", 5))).toBe(false);
    expect(over({}, due("quiet", 5))).toBe(false);
  });

  test("whether something waits, runs, is delivered or owed", () => {
    const of = (given: object) => {
      const context = contextWith(given);
      return [
        guards.hasLine(context),
        guards.hasWindow(context),
        guards.isQuiet(context),
        guards.owesTurn(context),
        guards.isDelivering(context),
        guards.commandReleases(context),
      ]
        .map(Number)
        .join("");
    };
    expect(of({})).toBe("000000");
    expect(of({ inbox: [flush([1])] })).toBe("100000");
    expect(of({ forming: [forming([1])] })).toBe("010001");
    expect(of({ forming: [forming([1])], quietAt: 1 })).toBe("011000");
    expect(of({ heartbeat: room })).toBe("000100");
    expect(of({ prompts: [{ seq: 1, route: room }] })).toBe("000100");
    expect(of({ run: run() })).toBe("000000");
    expect(of({ run: run({ open: [{ index: 0, kind: "reply", mentions: [] }] }) })).toBe("000010");
  });

  test("whether an event is of the turn under way", () => {
    const is = (given: object, event: object) =>
      guards.isThisTurn(contextWith(given), event as never);
    expect(is({ run: run() }, { type: "skip", turnId: "T1" })).toBe(true);
    expect(is({ run: run() }, { type: "skip", turnId: "T2" })).toBe(false);
    expect(is({ run: run() }, { type: "host.recovered" })).toBe(false);
    expect(is({}, { type: "skip", turnId: "T1" })).toBe(false);
  });

  test("whether an agent before us frees the line", () => {
    const relays = [{ token: "m3", place: 1, keys: ["a", "b"], seq: 3, at: 1, ahead: [0] }];
    const held = contextWith({ inbox: [flush([3])], relays });
    expect(guards.mayFreeLine(held, due("relay", 1))).toBe(true);
    expect(guards.mayFreeLine(held, due("relay|m3|0", 1))).toBe(true);
    expect(guards.mayFreeLine(held, due("flush", 1))).toBe(false);
    expect(guards.mayFreeLine(contextWith({ inbox: [flush([3])] }), due("relay", 1))).toBe(false);
  });

  test("whether a message engages, at once, and what the loop guard makes of it", () => {
    const gathered = (closed: number) => ({
      forming: [],
      closed: Array.from({ length: closed }, () => forming([1])),
    });
    const event = (analysis: object) => ({ analysis }) as never;
    const idle = contextWith({});
    expect(guards.engages(idle, event({ gathered: gathered(0) }))).toBe(true);
    expect(guards.engages(idle, event({ gathered: null }))).toBe(false);
    expect(guards.engagesNow(idle, event({ gathered: gathered(1) }))).toBe(true);
    expect(guards.engagesNow(idle, event({ gathered: gathered(0) }))).toBe(false);
    expect(guards.engagesNow(idle, event({ gathered: null }))).toBe(false);
    expect(guards.engagesNow(contextWith({ quietAt: 1 }), event({ gathered: gathered(1) }))).toBe(
      false,
    );
    expect(guards.humanSpoke(idle, event({ fromBot: false }))).toBe(true);
    expect(guards.humanSpoke(idle, event({ fromBot: true }))).toBe(false);
    const strict = contextWith(
      settings({ loopGuard: { maxConsecutive: 2, maxInWindow: 9, windowMs: 9, hardLimit: 4 } }),
    );
    const bot = (consecutive: number, over: object = {}) =>
      event({
        fromBot: true,
        gathered: gathered(0),
        counters: { consecutive, window: [] },
        ...over,
      });
    const found = [1, 2, 3, 4].map((n) => [
      guards.trips(strict, bot(n)),
      guards.mutes(strict, bot(n)),
    ]);
    expect(found.map((one) => one.map(Number).join("")).join(" ")).toBe("00 10 10 11");
    for (const over of [{ fromBot: false }, { gathered: null }])
      expect([guards.trips(strict, bot(9, over)), guards.mutes(strict, bot(9, over))]).toEqual([
        false,
        false,
      ]);
  });
});
