/** A turn from its slot to its start, or to its end without one, action by action. */
import { describe, expect, test } from "vitest";
import type { ConversationContext } from "../../../../src/machines/conversation/context.ts";
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
  thread,
} from "../../../support/machines/acting.ts";
import { none, settings } from "./values.ts";

const granted = { type: "lane.granted", at: 1_000, turnId: "T2" } as const;
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
