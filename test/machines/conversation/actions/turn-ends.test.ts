/** A turn from the end of its agent to its outcome, action by action. */
import { describe, expect, test } from "vitest";
import { emptyFloors } from "../../../../src/domain/floor.ts";
import { limits } from "../../../../src/domain/limits.ts";
import * as turn from "../../../../src/machines/conversation/turn-actions.ts";
import {
  acting,
  contextWith,
  direct,
  flush,
  order,
  pending,
  room,
  run,
} from "../../../support/machines/acting.ts";
import { floor, none, settings } from "./values.ts";

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
    const rows = { ann: { answered: false } } as never;
    const given = {
      ledger: { ann: 500 },
      floors: { ...emptyFloors, rows },
      ...settings(floor),
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
