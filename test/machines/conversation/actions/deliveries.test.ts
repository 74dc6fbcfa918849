/** What becomes of what the agent said, action by action. */
import { describe, expect, test } from "vitest";
import { emptyFloors } from "../../../../src/domain/floor.ts";
import { limits } from "../../../../src/domain/limits.ts";
import * as delivery from "../../../../src/machines/conversation/delivery-actions.ts";
import { noteAnswer, rowOf } from "../../../../src/machines/engagement/floor.ts";
import { acting, contextWith, pending, run, thread } from "../../../support/machines/acting.ts";
import { floor, settings, stickinessOf } from "./values.ts";

describe("a block that has reached the room", () => {
  const event = {
    type: "delivery.sent",
    at: 50,
    turnId: "T1",
    index: 1,
    messageIds: ["p1"],
  } as const;
  const open = [
    { index: 0, kind: "aside" as const, mentions: [] },
    { index: 1, kind: "reply" as const, mentions: ["bob"] },
  ];
  const sent = (over: object, more: object = {}) =>
    acting({ run: run({ open, ...over }), ...more }, (step) => delivery.noteSent(step, event));

  test("is ours, is open no more, and counts as sent where it is an answer", () => {
    expect(sent({}).changed).toEqual({
      ownMessages: ["p1"],
      run: run({ open: [open[0]], sent: 1 }),
    });
    expect(sent({ sent: 2 }).changed.run).toEqual(run({ open: [open[0]], sent: 3 }));
    const aside = acting({ run: run({ open }) }, (step) =>
      delivery.noteSent(step, { ...event, index: 0 }),
    );
    expect(aside.changed.run).toStrictEqual(run({ open: [open[1]] }));
    const growing = [{ index: 1, kind: "reply" as const, mentions: [], draft: true as const }];
    expect(sent({ open: growing, sent: 1 }).changed.run).toEqual(
      run({ open: [], sent: 1, shown: 1 }),
    );
  });

  test("of a turn that is over is ours, and no more", () => {
    for (const over of [{ run: null }, { run: run({ open }, { turnId: "T2" }) }])
      expect(sent({}, over).changed).toEqual({ ownMessages: ["p1"] });
    expect(sent({ open: [open[0]] }).changed).toEqual({ ownMessages: ["p1"] });
  });

  test("is remembered among the newest, each once, and so is its thread", () => {
    const many = Array.from({ length: limits.ownMessagesCountMax }, (_, n) => `o${n}`);
    expect(sent({}, { ownMessages: many }).changed.ownMessages).toEqual([...many.slice(1), "p1"]);
    expect(sent({}, { ownMessages: ["p1", "x"] }).changed.ownMessages).toEqual(["x", "p1"]);
    const inThread = acting({ run: run({ open }, { route: thread }), spokenIn: ["a"] }, (step) =>
      delivery.noteSent(step, event),
    );
    expect(inThread.changed.spokenIn).toEqual(["a", '["irc","default","room","t"]']);
    expect(delivery.latest(["a", "b"], ["a", "c"], 2)).toEqual(["a", "c"]);
  });
});

describe("a block that has not", () => {
  const event = { type: "delivery.failed", at: 5, turnId: "T1", index: 0, status: "dead" } as const;
  const open = [{ index: 0, kind: "reply" as const, mentions: [] }];
  const unsent = (over: object, more: object = {}) =>
    acting({ run: run({ open, ...over }) }, (step) =>
      delivery.noteUnsent(step, { ...event, ...more }),
    );

  test("is open no more, and is a part of the answer that is missing", () => {
    expect(unsent({}).changed.run).toEqual(run({ unsent: [{ part: 0, status: "dead" }] }));
    expect(unsent({ unsent: [{ part: 7, status: "expired" }] }).changed.run?.unsent).toEqual([
      { part: 7, status: "expired" },
      { part: 0, status: "dead" },
    ]);
  });

  test("is no part of it where it grew, or was beside it", () => {
    for (const one of [{ kind: "aside" }, { kind: "notice" }, { kind: "reply", draft: true }])
      expect(unsent({ open: [{ ...open[0], ...one }] }).changed.run).toStrictEqual(run());
    expect(unsent({ open: [] }).changed).toEqual({});
    expect(unsent({}, { turnId: "T9" })).toEqual({ changed: {}, effects: [] });
  });

  test("of a text without a turn is said to its transcript", () => {
    const turnId = delivery.textName("id", 3);
    expect(turnId).toMatch(/^text-[0-9a-z]+$/u);
    expect(delivery.textName("id", 4)).not.toBe(turnId);
    expect(unsent({}, { turnId, index: 2 })).toEqual({
      changed: {},
      effects: [{ type: "unsaid", turnId, part: 2, status: "dead" }],
    });
  });
});

describe("credit", () => {
  const event = { type: "delivery.sent", at: 50, turnId: "T1", index: 0, messageIds: [] } as const;
  const gist = { names: ["cy"], words: [1, 2], asks: true };
  const open = [{ index: 0, kind: "reply" as const, mentions: ["bob", "ann"], gist }];
  const grant = (over: object, given: object = {}) =>
    acting({ ...given, run: run({ open, ...over }) }, (step) => delivery.grantCredit(step, event))
      .changed;
  const credits = { ann: 150, bob: 150, cy: 150 };
  const shortWindow = (over: object = {}) =>
    settings({ engagement: { stickiness: stickinessOf("expire", over) } });

  test("is granted to those who are answered, mentioned and named", () => {
    expect(grant({}, shortWindow())).toEqual({ ledger: credits });
    const { ann, bob } = credits;
    expect(grant({ open: [{ ...open[0], gist: undefined }] }, shortWindow()).ledger).toEqual({
      ann,
      bob,
    });
  });

  test("is granted by an answer of this turn only, where anything sticks", () => {
    for (const kind of ["aside", "notice"])
      expect(grant({ open: [{ ...open[0], kind }] }, shortWindow())).toEqual({});
    expect(grant({ open: [] }, shortWindow())).toEqual({});
    expect(grant({}, shortWindow({ enabled: false }))).toEqual({});
    expect(grant({}, { ...settings(floor), ...shortWindow() })).toEqual({ ledger: credits });
  });

  test("where the floor is judged is remembered with what was said", () => {
    const { ledger, floors } = grant({}, settings(floor));
    expect(ledger).toEqual(credits);
    const answer = {
      at: 50,
      authors: ["ann", "bob", "cy"],
      named: ["cy"],
      words: [1, 2],
      asked: true,
    };
    expect(floors).toEqual(noteAnswer(emptyFloors, answer));
    const unread = grant({ open: [{ ...open[0], gist: undefined }] }, settings(floor));
    const plain = { at: 50, authors: ["ann", "bob"], named: [], words: [], asked: false };
    expect(unread.floors).toEqual(noteAnswer(emptyFloors, plain));
  });

  test("is dropped by a turn that says nothing to somebody who was never answered", () => {
    const answer = { at: 1, authors: ["bob"], named: [], words: [], asked: false };
    const talked = noteAnswer(emptyFloors, answer);
    const bob = rowOf(talked.rows, "bob");
    if (bob === undefined) throw new Error("no row");
    const floors = { ...talked, rows: { bob, ann: { ...bob, answered: false } } };
    const given = { floors, ledger: { ann: 500, bob: 500, cy: 500 } };
    const batch = [pending(1), pending(2, { author: "bob" }), pending(3, { author: "cy" })];
    const drop = (more: object) =>
      acting({ ...given, run: run({ batch }), ...more }, delivery.dropUnanswered).changed;
    const dropped = drop(settings(floor));
    expect(dropped.ledger).toEqual({ bob: 500, cy: 500 });
    expect(Object.keys(dropped.floors?.rows ?? {})).toEqual(["bob"]);
    expect(drop(shortWindow())).toEqual({});
    expect(drop({ ...settings(floor), run: null })).toEqual({});
  });

  test("is judged by the floor in its mode, where anything sticks", () => {
    const judges = (mode: string, over: object = {}) =>
      delivery.judgesFloor(
        contextWith(settings({ engagement: { stickiness: stickinessOf(mode, over) } })),
      );
    expect([judges("floor"), judges("expire"), judges("floor", { enabled: false })]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
