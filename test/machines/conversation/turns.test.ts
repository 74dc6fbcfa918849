/** A turn from its slot to its outcome, and what reaches it while it runs, action by action. */
import { describe, expect, test } from "vitest";
import { emptyFloors } from "../../../src/domain/floor.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { ConversationContext } from "../../../src/machines/conversation/context.ts";
import * as steering from "../../../src/machines/conversation/steering-actions.ts";
import * as turn from "../../../src/machines/conversation/turn-actions.ts";
import {
  acting,
  contextWith,
  direct,
  flush,
  order,
  pending,
  room,
  run,
  thread,
} from "../../support/machines/acting.ts";

const settings = (over: object) => ({ settings: over as never });
const granted = { type: "lane.granted", at: 1_000, turnId: "T2" } as const;
const none = { changed: {}, effects: [] };
const participants = [
  { id: "ann", name: "Ann", isBot: false, lastSeenAt: 900 },
  { id: "bob", name: "Bob", isBot: false, lastSeenAt: 950 },
];

describe("a turn slot", () => {
  const start = (given: Partial<ConversationContext>, warned?: boolean) =>
    acting(given as never, (step) =>
      turn.startTurn(step, granted, warned === undefined ? undefined : { warned }),
    );
  const heard = { seq: 3, id: "m3", at: 990, author: "bob", self: false };
  const note = { seq: 4, id: "own", at: 991 };

  test("starts the first in line, with all that was overheard", () => {
    const first = flush([5, 6], { instant: true, overtaken: true, holds: false }, { ack: "👀" });
    const next = flush([7]);
    const given = {
      inbox: [first, next],
      buffer: { entries: [heard], dropped: 2 },
      notes: [note],
      participants,
      turnSeq: 1,
      abortedLastRun: true,
      droppedWhileBusy: ["bob: x"],
      typing: thread,
    };
    const ordered = order({
      turnId: "T2",
      turn: 2,
      batch: [
        { seq: 5, id: "m5" },
        { seq: 6, id: "m6" },
      ],
      context: [
        { seq: 3, id: "m3" },
        { seq: 4, id: "own" },
      ],
      omitted: 2,
      droppedWhileBusy: ["bob: x"],
      replyTo: "m6",
      nudge: true,
      introduce: true,
      afterAbort: true,
      participants: ["Ann", "Bob"],
      humans: 2,
    });
    const { changed, effects } = start(given);
    expect(changed).toEqual({
      turnSeq: 2,
      run: {
        ...run({ batch: first.messages, holds: false, overtaken: true }),
        order: ordered,
      },
      inbox: [{ ...next, backlog: true }],
      buffer: { entries: [], dropped: 0 },
      notes: [],
      droppedWhileBusy: [],
      introduced: true,
      abortedLastRun: false,
      readByTurns: [
        { seq: 3, id: "m3" },
        { seq: 5, id: "m5" },
        { seq: 6, id: "m6" },
      ],
      typing: room,
    });
    expect(effects).toEqual([
      ordered,
      { type: "typing", on: false, route: thread },
      { type: "typing", on: true, route: room },
    ]);
  });

  test("shows typing only where it was, or should be", () => {
    const typed = (over: object) => start({ inbox: [flush([5])], ...over }).effects.slice(1);
    expect(typed({ typing: room })).toEqual([]);
    expect(typed({})).toEqual([]);
    expect(typed({ typing: thread })).toEqual([{ type: "typing", on: false, route: thread }]);
  });

  test("nudges among several people but where the guard warns, and introduces rooms once", () => {
    const orderOf = (over: object, warned?: boolean) =>
      start({ inbox: [flush([5])], ...over }, warned).effects[0];
    expect(orderOf({ participants }, true)).toMatchObject({ guard: true, nudge: false });
    expect(orderOf({ participants }, false)).toMatchObject({ guard: false, nudge: true });
    expect(orderOf({ participants: participants.slice(1) })).toMatchObject({ nudge: false });
    expect(orderOf({ introduced: true })).toMatchObject({ introduce: false });
    const dm = { participants, inbox: [flush([5], { route: direct })] };
    expect(orderOf(dm)).toMatchObject({ nudge: false, introduce: false });
  });

  test("names the latest who are here, so many at most", () => {
    const many = Array.from({ length: 22 }, (_, n) => ({
      ...participants[0],
      id: `p${n}`,
      name: `P${n}`,
    }));
    const day = 86_400_000;
    const away = { ...participants[0], name: "Away", lastSeenAt: 1_000 - 8 * day };
    const found = start({ inbox: [flush([5])], participants: [away, ...many] as never }).effects[0];
    expect(found).toMatchObject({ participants: many.slice(2).map(({ name }) => name) });
    const few = start({ inbox: [flush([5])], participants: [away, ...participants] as never });
    expect(few.effects[0]).toMatchObject({ participants: ["Ann", "Bob"] });
  });

  test("leaves out what is too old, and says what it was", () => {
    const old = { ...heard, seq: 2, id: "m2", at: 899 };
    const given = {
      inbox: [flush([5])],
      buffer: { entries: [old, heard], dropped: 1 },
      notes: [
        { ...note, at: 800, was: { seq: 1 } },
        { ...note, at: 800 },
      ],
      ...settings({ context: { size: 20, maxAgeMs: 100 } }),
    };
    const { effects } = start(given as never);
    expect(effects[0]).toEqual({
      type: "dropped",
      message: { seq: 2, id: "m2" },
      why: "context-age",
    });
    expect(effects[1]).toMatchObject({ context: [{ seq: 3, id: "m3" }], omitted: 3 });
  });

  test("shows no edit of a message that is to be answered anyway", () => {
    const edit = { seq: 9, id: "m5", at: 999, was: { seq: 5 } };
    const other = { seq: 10, id: "m1", at: 999, was: { seq: 1 } };
    const reaction = { seq: 11, id: "m5", at: 999 };
    const { effects } = start({ inbox: [flush([5, 6])], notes: [edit, other, reaction] });
    expect(effects[0]).toMatchObject({
      context: [
        { seq: 10, id: "m1" },
        { seq: 11, id: "m5" },
      ],
    });
  });

  test("of a session that is over takes only what was heard before its question", () => {
    const later = { ...heard, seq: 8, id: "m8" };
    const given = {
      inbox: [flush([5, 6], { past: 1 })],
      buffer: { entries: [heard, later], dropped: 1 },
      notes: [note, { ...note, seq: 9 }],
      abortedLastRun: true,
      turnSeq: 1,
    };
    const { changed, effects } = start(given);
    expect(effects[0]).toMatchObject({
      context: [
        { seq: 3, id: "m3" },
        { seq: 4, id: "own" },
      ],
      omitted: 1,
      introduce: false,
      afterAbort: false,
      sessionAt: 6,
    });
    expect(changed).toMatchObject({
      buffer: { entries: [later], dropped: 0 },
      notes: [{ seq: 9 }],
      run: { left: true },
    });
    for (const name of ["introduced", "abortedLastRun", "readByTurns"])
      expect(changed).not.toHaveProperty(name);
    expect(start({ ...given, turnSeq: 0 }).effects[0]).toMatchObject({ introduce: true });
    expect(start({ inbox: [flush([5])] }).changed.run).not.toHaveProperty("left");
    expect(start({ inbox: [flush([5])] }).effects[0]).not.toHaveProperty("sessionAt");
  });

  test("of a session that is over takes what was heard up to the last line of its question", () => {
    const between = { ...heard, seq: 7, id: "between" };
    const { effects } = start({
      inbox: [flush([5, 6, 8], { past: 1 })],
      buffer: { entries: [between], dropped: 0 },
    });
    expect(effects[0]).toMatchObject({ context: [{ seq: 7 }], sessionAt: 8 });
  });

  test("is given to a prompt where nobody waits, then to a heartbeat, else to nothing", () => {
    const prompts = [
      { seq: 7, route: thread },
      { seq: 8, route: room },
    ];
    const given = { prompts, heartbeat: room, droppedWhileBusy: ["x"], abortedLastRun: true };
    const prompted = start(given, true);
    const ordered = order({
      turnId: "T2",
      batch: [],
      route: thread,
      replyTo: "",
      guard: true,
      introduce: true,
      afterAbort: true,
      droppedWhileBusy: ["x"],
      humans: 0,
      prompt: 7,
    });
    expect(prompted.effects).toEqual([ordered]);
    expect(prompted.changed).toEqual({
      prompts: [prompts[1]],
      turnSeq: 1,
      run: { ...run({ batch: [], holds: false }), order: ordered },
      droppedWhileBusy: [],
      introduced: true,
      abortedLastRun: false,
      readByTurns: [],
      notes: [],
    });
    expect(start({ ...given, inbox: [flush([5])] }).effects[0]).toMatchObject({ replyTo: "m5" });
    expect(start({})).toEqual(none);
    expect(start({ prompts }).effects[0]).toMatchObject({ guard: false });
    expect(start({ prompts }, false).effects[0]).toMatchObject({ guard: false });
  });

  test("is given to a heartbeat without anything that was overheard", () => {
    const ordered = order({
      turnId: "T2",
      turn: 4,
      batch: [],
      replyTo: "",
      humans: 2,
      heartbeat: true,
    });
    const given = {
      heartbeat: room,
      participants,
      turnSeq: 3,
      buffer: { entries: [heard], dropped: 0 },
    };
    expect(start(given)).toEqual({
      changed: {
        heartbeat: null,
        turnSeq: 4,
        run: { ...run({ batch: [], holds: false }), order: ordered },
      },
      effects: [ordered],
    });
  });
});

describe("what waited too long", () => {
  const late = { turn: { replyAgeMsMax: 100 } };
  const isExpired = (at: number) =>
    turn.isExpired(contextWith({ inbox: [flush([5], {}, { at })], ...settings(late) }), granted);

  test("is too old by its newest message", () => {
    expect([isExpired(899), isExpired(900)]).toEqual([true, false]);
    expect(turn.isExpired(contextWith({}), granted)).toBe(false);
    const two = { inbox: [{ ...flush([5]), messages: [pending(5), pending(6, { at: 950 })] }] };
    expect(turn.isExpired(contextWith({ ...two, ...settings(late) }), granted)).toBe(false);
  });

  test("ends without a run, its ack and its typing taken away", () => {
    const waits = flush([5, 6], {}, { ack: "👀" });
    const { changed, effects } = acting({ inbox: [waits], turnSeq: 1, typing: room }, (step) =>
      turn.expireTurn(step, granted),
    );
    expect(changed).toEqual({ inbox: [], turnSeq: 2, typing: null });
    expect(effects).toEqual([
      {
        type: "outcome",
        turnId: "T2",
        turn: 2,
        outcome: "expired",
        batch: [
          { seq: 5, id: "m5" },
          { seq: 6, id: "m6" },
        ],
      },
      { type: "unreact", message: "m5", emoji: "👀", route: room },
      { type: "unreact", message: "m6", emoji: "👀", route: room },
      { type: "lane.release" },
      { type: "typing", on: false, route: room },
    ]);
    expect(acting({}, (step) => turn.expireTurn(step, granted)).effects).toEqual([]);
  });
});

const ended = { type: "agent.ended", at: 50, turnId: "T1", silent: false } as const;
const lost = {
  type: "agent.failed",
  at: 50,
  turnId: "T1",
  code: "host-lost",
  message: "x",
} as const;
const recovered = { type: "host.recovered", at: 50 } as const;
const failed = { ...lost, code: "error", message: "boom" } as const;

describe("another try", () => {
  const may = (event: object, over: object = {}, given: object = {}) =>
    turn.mayRetry(contextWith({ run: run(over), ...given }), event as never);

  test("is made where the host was lost before anything was said", () => {
    expect([may(lost), may(recovered), may(failed)]).toEqual([true, true, false]);
    expect(may({ ...lost, turnId: "T9" })).toBe(false);
    expect(may(lost, { blocks: 1 })).toBe(false);
    expect(may(lost, { blocks: 1, asides: [0] })).toBe(true);
    expect(may(lost, { abortedBy: "stop" })).toBe(false);
    expect(may(lost, {}, { run: null })).toBe(false);
    for (const [attempt, is] of [
      [limits.turnAttemptsMax - 1, true],
      [limits.turnAttemptsMax, false],
    ] as const)
      expect(may(lost, { order: order({ attempt }) })).toBe(is);
  });

  test("is made where the question is not too old by now", () => {
    const late = settings({ turn: { replyAgeMsMax: 49 } });
    expect(may(lost, {}, late)).toBe(true);
    expect(may(lost, {}, settings({ turn: { replyAgeMsMax: 48 } }))).toBe(false);
    expect(may(lost, { batch: [] }, settings({ turn: { replyAgeMsMax: 0 } }))).toBe(true);
  });

  test("is the same turn, with what has joined it and how that reads now", () => {
    const edit = { seq: 9, id: "m1", at: 5, was: { seq: 1 } };
    const other = { seq: 8, id: "m7", at: 5, was: { seq: 7 } };
    const given = {
      run: run({ batch: [pending(1), pending(2)], blocks: 1 }),
      notes: [edit, other],
      inbox: [flush([3], { steeredAt: 0 })],
      typing: room,
    };
    const again = acting(given, (step) => turn.retryTurn(step, { ...recovered, restarted: true }));
    const batch = [pending(1, { editSeq: 9 }), pending(2)];
    const ordered = order({
      attempt: 2,
      batch: [
        { seq: 1, id: "m1", editSeq: 9 },
        { seq: 2, id: "m2" },
      ],
      firstIndex: 1,
    });
    expect(again.changed).toEqual({
      run: { ...given.run, order: ordered, batch },
      notes: [other],
      inbox: [flush([3])],
    });
    expect(again.effects).toEqual([ordered, { type: "typing", on: true, route: room }]);
  });

  test("shows typing again only in a new process, and counts from the first block", () => {
    const retry = (event: object, given: object = {}) =>
      acting({ run: run(), typing: room, ...given }, (step) =>
        turn.retryTurn(step, event as never),
      );
    for (const event of [recovered, { ...lost, restarted: true }])
      expect(retry(event).effects).toStrictEqual([order({ attempt: 2 })]);
    expect(retry({ ...recovered, restarted: true }, { typing: null }).effects).toHaveLength(1);
    expect(retry(recovered, { run: null })).toEqual(none);
  });
});

describe("the end of an agent", () => {
  const end = (event: object, over: object = {}, given: object = {}, ordered: object = {}) =>
    acting({ run: run(over, ordered), ...given }, (step) => turn.endTurn(step, event as never));
  const failureOf = (...given: Parameters<typeof end>) => end(...given).changed.run?.failure;
  const stale = settings({ turn: { replyAgeMsMax: 1 } });

  test("that gave a whole answer frees the turn slot", () => {
    const { changed, effects } = end(ended);
    expect(changed.run).toStrictEqual(run());
    expect(changed).not.toHaveProperty("abortedLastRun");
    expect(effects).toEqual([
      { type: "run.ended", turnId: "T1", broken: false },
      { type: "lane.release" },
    ]);
    expect(acting({}, (step) => turn.endTurn(step, ended))).toEqual(none);
  });

  test("that did not has a reason", () => {
    const cause = (kind: string, message: string) => ({ kind, message });
    expect(failureOf(ended, { abortedBy: "stop" })).toEqual({
      outcome: "cancelled",
      reason: "stop",
    });
    expect(failureOf(failed, { abortedBy: "stop" })).toEqual({
      outcome: "cancelled",
      reason: "stop",
    });
    expect(failureOf({ ...failed, code: "aborted" })).toEqual({
      outcome: "cancelled",
      reason: "aborted",
    });
    expect(failureOf({ ...failed, kind: "auth" })).toEqual({
      outcome: "failed",
      reason: "error",
      cause: cause("auth", "boom"),
    });
    expect(failureOf(recovered)).toEqual({
      outcome: "failed",
      reason: "host-lost",
      cause: cause("crashed", ""),
    });
    for (const event of [recovered, lost])
      expect(failureOf(event, {}, stale)).toEqual({ outcome: "expired", reason: "host-lost" });
    expect(failureOf(failed, {}, stale)).toMatchObject({ outcome: "failed" });
    expect(failureOf(ended, {}, stale)).toBeUndefined();
    expect(end(failed).effects[0]).toEqual({ type: "run.ended", turnId: "T1", broken: true });
  });

  test("is mentioned to the next turn where it was cut short, in the session in use", () => {
    const aborts = (event: object, over: object = {}, ordered: object = {}) =>
      end(event, over, {}, ordered).changed.abortedLastRun ?? false;
    expect([aborts(ended), aborts(failed), aborts(lost), aborts(recovered)]).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(aborts(ended, { abortedBy: "stop" })).toBe(true);
    expect(aborts(lost, { left: true })).toBe(false);
    expect(aborts(lost, {}, { heartbeat: true })).toBe(false);
    expect(end(ended, {}, { abortedLastRun: true }).changed.abortedLastRun).toBe(false);
  });

  test("is told to the room where it failed and somebody asked", () => {
    const dm = { route: direct };
    const notice = (event: object, over: object = {}, ordered: object = {}, given: object = {}) =>
      end(event, over, given, { ...dm, ...ordered }).effects.filter(({ type }) => type === "block");
    const said = {
      type: "block",
      turnId: "T1",
      index: 2,
      text: expect.stringMatching(/^Something went wrong/u),
      route: direct,
      replyTo: null,
      quote: false,
      kind: "notice",
    };
    expect(notice(failed, { blocks: 2 })).toEqual([said]);
    expect(end(failed, { blocks: 2 }, {}, dm).changed.run).toMatchObject({
      blocks: 3,
      open: [{ index: 2, kind: "notice", mentions: [] }],
    });
    expect(notice(ended)).toEqual([]);
    expect(notice(failed, { abortedBy: "stop" })).toEqual([]);
    expect(notice(failed, {}, { heartbeat: true })).toEqual([]);
    expect(notice(failed, {}, {}, settings({ send: "deny" }))).toEqual([]);
    expect(notice(failed, { batch: [] }, { prompt: 3 })).toEqual([]);
    expect(notice(failed, {}, { prompt: 3 })).toHaveLength(1);
    expect(notice(failed, {}, { route: room })).toEqual([]);
    expect(notice(failed, {}, { route: room }, settings({ notifyRoom: "always" }))).toHaveLength(1);
  });

  test("that said nothing leaves no credit to those whom only their call has given one", () => {
    const stickiness = { enabled: true, windowMs: 100, mode: "floor", holdDuringTurn: true };
    const rows = { ann: { answered: false } } as never;
    const given = {
      ledger: { ann: 500 },
      floors: { ...emptyFloors, rows },
      ...settings({ engagement: { stickiness } }),
    };
    const credits = (event: object) => end(event, {}, given).changed.ledger;
    expect(credits({ ...ended, silent: true })).toEqual({});
    expect(credits(ended)).toBeUndefined();
    expect(credits({ ...failed, silent: true })).toBeUndefined();
  });

  test("answers in passing what it took in and then said something after", () => {
    const taken = flush([3], { steeredAt: 0 });
    const unsaid = flush([4], { steeredAt: 1 });
    const waits = flush([5]);
    const given = { inbox: [taken, unsaid, waits] };
    const { changed, effects } = end(ended, { blocks: 1 }, given);
    expect(changed.inbox).toEqual([flush([4]), waits]);
    expect(changed.run?.batch).toEqual([pending(1), pending(3)]);
    expect(effects[0]).toEqual({ type: "joined", turnId: "T1", batch: [{ seq: 3, id: "m3" }] });
    const broken = end(failed, { blocks: 1 }, given);
    expect(broken.changed.inbox).toEqual([flush([3]), flush([4]), waits]);
    expect(broken.changed.run?.batch).toEqual([pending(1)]);
  });
});

describe("the outcome", () => {
  const outcome = (over: object) => {
    const { effects } = acting({ run: run(over) }, turn.closeTurn);
    const found = effects.find(({ type }) => type === "outcome");
    if (found === undefined) return undefined;
    const {
      type: _,
      turnId: _turnId,
      turn: _turn,
      batch: _batch,
      ...rest
    } = found as never as Record<string, unknown>;
    return rest;
  };
  const unsent = [
    { part: 1, status: "dead" },
    { part: 2, status: "dead" },
    { part: 3, status: "expired" },
  ];

  test.each<[object, object]>([
    [{}, { outcome: "silent" }],
    [{ refused: true }, { outcome: "silent", reason: "send-policy" }],
    [{ refused: true, sent: 1 }, { outcome: "replied" }],
    [{ sent: 1 }, { outcome: "replied" }],
    [{ shown: 0 }, { outcome: "replied" }],
    [{ shown: 0, asides: [0] }, { outcome: "silent" }],
    [{ shown: 1, asides: [0] }, { outcome: "replied" }],
    [{ unsent }, { outcome: "undelivered", reason: "dead, expired", unsent }],
    [
      { unsent, sent: 1 },
      { outcome: "partly", reason: "dead, expired", unsent },
    ],
    [
      { failure: { outcome: "failed", reason: "error" }, sent: 1 },
      { outcome: "failed", reason: "error" },
    ],
  ])("of %j is %j", (over, expected) => expect(outcome(over)).toStrictEqual(expected));

  test("is given once, and then nothing of the turn is left", () => {
    const batch = [pending(1, { ack: "👀" })];
    const { changed, effects } = acting({ run: run({ batch }), typing: room }, turn.closeTurn);
    expect(changed).toEqual({ run: null, typing: null });
    expect(effects).toEqual([
      { type: "outcome", turnId: "T1", turn: 1, batch: [{ seq: 1, id: "m1" }], outcome: "silent" },
      { type: "unreact", message: "m1", emoji: "👀", route: room },
      { type: "typing", on: false, route: room },
    ]);
    expect(outcome({ reported: true })).toBeUndefined();
    expect(acting({}, turn.closeTurn)).toEqual(none);
  });
});

describe("the running agent", () => {
  const batch = (seqs: number[], over: object = {}, message: object = {}) =>
    ({
      ...flush(seqs, over, message),
      author: "ann",
      group: null,
      firstAt: 1,
      closesAt: 2,
    }) as never;
  const reach = (mode: string, given: object = {}, one = batch([5])) =>
    acting(
      { run: run(), inbox: [flush([5])], ...given, ...settings({ queue: { mode } }) },
      (step) => steering.reachAgent(step, one, 5_000),
    );
  const offered = (...seqs: number[]) => ({
    type: "turn.steer",
    turnId: "T1",
    batch: seqs.map((seq) => ({ seq, id: `m${seq}` })),
  });

  test("is offered what its people say in its place, where the mode steers or they ask for it", () => {
    expect(reach("steer").effects).toEqual([offered(5)]);
    expect(reach("steer-backlog").effects).toEqual([offered(5)]);
    for (const mode of ["collect", "queue", "followup"]) expect(reach(mode)).toEqual(none);
    const asks = { inbox: [flush([5], {}, { steer: true }), flush([6])] };
    expect(reach("queue", asks, batch([5], {}, { steer: true })).effects).toEqual([offered(5)]);
    expect(reach("steer", {}, batch([5], { route: thread }))).toEqual(none);
  });

  test("is offered the whole line in order, without what it took or others said", () => {
    const inbox = [
      flush([2], { steeredAt: 0 }),
      flush([3]),
      flush([4], { route: thread }),
      flush([5], {}, { author: "bob" }),
      flush([6]),
    ];
    expect(reach("steer", { inbox }).effects).toEqual([offered(3, 6)]);
    const edit = { seq: 9, id: "m1", at: 5, was: { seq: 1 } };
    expect(reach("steer", { notes: [edit] }).effects).toMatchObject([
      { batch: [{ seq: 5 }, { seq: 9, id: "m1", was: { seq: 1 } }] },
    ]);
  });

  test("is offered nothing once it is stopped, or its session is over", () => {
    expect(reach("steer", { run: run({ abortedBy: "stop" }) })).toEqual(none);
    expect(reach("steer", { run: run({ left: true }) })).toEqual(none);
    expect(reach("steer", { run: null })).toEqual(none);
    const line = (given: object) =>
      acting(
        { inbox: [flush([5])], ...given, ...settings({ queue: { mode: "steer" } }) },
        steering.offerLine,
      );
    expect(line({ run: run() }).effects).toEqual([offered(5)]);
    for (const over of [null, run({ abortedBy: "x" })]) expect(line({ run: over })).toEqual(none);
  });

  test("is interrupted by its own people in that mode, not too often", () => {
    const stopped = {
      changed: { run: run({ abortedBy: "interrupt" }), interruptedAt: 5_000 },
      effects: [{ type: "turn.abort", turnId: "T1", reason: "interrupt" }],
    };
    const soon = { interruptedAt: 5_000 - limits.interruptMsMin + 1 };
    expect(reach("interrupt")).toEqual(stopped);
    expect(reach("interrupt", { interruptedAt: 5_000 - limits.interruptMsMin })).toEqual(stopped);
    expect(reach("interrupt", soon)).toEqual({
      changed: {},
      effects: [{ type: "deadline.set", id: "interrupt", at: 5_001 }],
    });
    expect(reach("interrupt", {}, batch([5], {}, { author: "bob" }))).toEqual(none);
    const asked = reach(
      "interrupt",
      { inbox: [flush([5], {}, { steer: true })] },
      batch([5], {}, { steer: true }),
    );
    expect(asked.effects).toEqual([offered(5)]);
  });

  test("is interrupted later where it was too soon, if it still applies", () => {
    const due = (given: object, mode = "interrupt") =>
      acting(
        { run: run(), inbox: [flush([5])], ...given, ...settings({ queue: { mode } }) },
        (step) => steering.interruptDue(step, { type: "deadline.due", id: "interrupt", at: 5_000 }),
      ).effects;
    expect(due({})).toEqual([{ type: "turn.abort", turnId: "T1", reason: "interrupt" }]);
    for (const given of [
      { run: null },
      { run: run({ abortedBy: "stop" }) },
      { inbox: [] },
      { inbox: [flush([5], {}, { author: "bob" })] },
    ])
      expect(due(given)).toEqual([]);
    expect(due({ inbox: [flush([5], {}, { author: "bob" }), flush([6])] })).toHaveLength(1);
    expect(due({}, "queue")).toEqual([]);
  });

  test("that nobody asked for is stopped for a person", () => {
    const beat = (over: object, ordered: object = { heartbeat: true }) =>
      acting({ run: run(over, ordered) }, steering.stopHeartbeat).effects;
    expect(beat({})).toEqual([{ type: "turn.abort", turnId: "T1", reason: "a person spoke" }]);
    expect(beat({ abortedBy: "x" })).toEqual([]);
    expect(beat({}, {})).toEqual([]);
    expect(acting({}, steering.stopHeartbeat)).toEqual(none);
    expect(reach("queue", { run: run({}, { heartbeat: true }) }).effects).toHaveLength(1);
  });

  const stop = { type: "run.aborted", at: 5, by: "stop" } as const;
  const from = (author: string) => ({ ...stop, from: { author, owner: false, route: room } });

  test("is stopped once, by those whom it answers", () => {
    const abort = (event: object, over: object = {}) =>
      acting({ run: run(over) }, (step) => steering.abortTurn(step, event as never)).effects;
    expect(abort(stop)).toEqual([{ type: "turn.abort", turnId: "T1", reason: "stop" }]);
    expect(abort(from("ann"))).toHaveLength(1);
    expect(abort(from("bob"))).toEqual([]);
    expect(abort(stop, { abortedBy: "x" })).toEqual([]);
    expect(acting({}, (step) => steering.abortTurn(step, stop))).toEqual(none);
  });

  test("that has ended is cancelled where its words have not left", () => {
    const abort = (event: object, over: object = {}) =>
      acting({ run: run(over) }, (step) => steering.abortDelivery(step, event as never)).changed
        .run;
    const cancelled = { abortedBy: "stop", failure: { outcome: "cancelled", reason: "stop" } };
    expect(abort(stop)).toEqual(run(cancelled));
    expect(abort(from("bob"))).toBeUndefined();
    const failure = { outcome: "failed", reason: "x" };
    expect(abort(stop, { failure })).toEqual(run({ abortedBy: "stop", failure }));
    expect(abort(stop, { abortedBy: "y" })).toMatchObject({ failure: { reason: "y" } });
    expect(acting({}, (step) => steering.abortDelivery(step, stop))).toEqual(none);
  });
});

describe("what the running agent takes in", () => {
  const take = (given: object, event: object, mode = "steer") =>
    acting({ run: run({ blocks: 1 }), ...given, ...settings({ queue: { mode } }) }, (step) =>
      steering.joinTurn(step, {
        type: "agent.steered",
        at: 60,
        turnId: "T1",
        messages: [],
        ...event,
      } as never),
    );
  const joined = (...batch: object[]) => ({ type: "joined", turnId: "T1", batch });

  test("is its turn's, whole batches of it", () => {
    const inbox = [flush([3, 4]), flush([5, 6]), flush([7])];
    const { changed, effects } = take({ inbox }, { messages: [3, 4, 5] });
    expect(changed).toEqual({
      inbox: [inbox[1], inbox[2]],
      run: run({ blocks: 1, batch: [pending(1), pending(3), pending(4)] }),
      readByTurns: [
        { seq: 3, id: "m3" },
        { seq: 4, id: "m4" },
      ],
    });
    expect(effects).toEqual([joined({ seq: 3, id: "m3" }, { seq: 4, id: "m4" })]);
    expect(take({ run: null, inbox }, { messages: [3, 4] })).toEqual(none);
    expect(take({ inbox }, { messages: [99] }).effects).toEqual([]);
  });

  test("stays in line in that mode, marked with where the answer was", () => {
    const inbox = [flush([3]), flush([4])];
    const { changed, effects } = take({ inbox }, { messages: [3] }, "steer-backlog");
    expect(changed.inbox).toEqual([flush([3], { steeredAt: 1 }), inbox[1]]);
    expect(effects).toEqual([]);
    expect(changed.run).toBeUndefined();
    expect(changed.readByTurns).toEqual([{ seq: 3, id: "m3" }]);
  });

  test("that was edited on its way was read as it had been, unless the agent says otherwise", () => {
    const inbox = [flush([3], {}, { editSeq: 9 })];
    const note = { seq: 9, id: "m3", at: 60, was: { seq: 3 } };
    const before = take({ inbox }, { messages: [3], edits: [] });
    expect(before.changed.notes).toEqual([note]);
    expect(before.changed.run?.batch).toEqual([pending(1), pending(3)]);
    expect(before.effects).toEqual([
      joined({ seq: 3, id: "m3" }),
      { type: "turn.steer", turnId: "T1", batch: [{ seq: 9, id: "m3", was: { seq: 3 } }] },
    ]);
    for (const edits of [undefined, [9]]) {
      const read = take({ inbox }, { messages: [3], edits });
      expect(read.changed.notes).toBeUndefined();
      expect(read.changed.run?.batch).toEqual([pending(1), pending(3, { editSeq: 9 })]);
      expect(read.effects).toEqual([joined({ seq: 3, id: "m3", editSeq: 9 })]);
    }
  });

  test("of edits of its own messages is how those read now", () => {
    const note = { seq: 9, id: "m1", at: 5, was: { seq: 1 } };
    const other = { seq: 8, id: "m7", at: 5, was: { seq: 7 } };
    const { changed, effects } = take({ notes: [note, other] }, { messages: [9, 8] });
    expect(changed.notes).toEqual([other]);
    expect(changed.run?.batch).toEqual([pending(1, { editSeq: 9 })]);
    expect(effects).toEqual([joined({ seq: 9, id: "m1", was: { seq: 1 } })]);
    expect(take({ notes: [note] }, { messages: [] }).changed.notes).toBeUndefined();
  });
});
