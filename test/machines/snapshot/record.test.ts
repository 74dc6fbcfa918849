/** Every field of a record: how it is written, that it comes back, and what makes no sense. */
import { describe, expect, test } from "vitest";
import { EarshotError } from "../../../src/domain/errors.ts";
import {
  type ConversationContext,
  newContext,
  type Run,
} from "../../../src/machines/conversation/context.ts";
import { type Attention, chartValue } from "../../../src/machines/conversation/states.ts";
import { readSnapshot, writeSnapshot } from "../../../src/machines/snapshot/snapshot.ts";
import { upgradeV1 } from "../../../src/machines/snapshot/snapshot-v1.ts";
import { upgradeV2 } from "../../../src/machines/snapshot/snapshot-v2.ts";
import { defaults, Rig } from "../../support/runtime/conversation-rig.ts";

const route = {
  channel: "irc",
  account: "default",
  chat: { id: "room", kind: "group" as const },
  thread: null,
};
const inThread = { ...route, thread: { id: "t1", kind: "topic" as const } };
const floor = {
  since: 1,
  answered: true,
  heard: 2,
  exchanges: 3,
  asked: false,
  named: true,
  words: [4, 5],
  own: 6,
  elsewhere: 7,
  addressed: 8,
  addressedAt: 9,
  lastAt: 10,
  last: "engaged" as const,
  calls: 11,
  plain: 12,
};
const pending = { seq: 7, id: "m7", at: 1_000, author: "ann", ack: null, gist: "ann: hi" };
const batch = { route, messages: [pending], instant: true, holds: false, overtaken: true };
const order = {
  type: "turn.run" as const,
  turnId: "T1",
  turn: 1,
  attempt: 1,
  batch: [{ seq: 7, id: "m7" }],
  context: [{ seq: 6, id: "m6", editSeq: 8, was: { seq: 5 } }],
  omitted: 0,
  droppedWhileBusy: [],
  route,
  replyTo: "m7",
  guard: false,
  nudge: true,
  introduce: false,
  afterAbort: false,
  participants: ["ann"],
  humans: 2,
};
const run: Run = {
  order,
  batch: [pending],
  holds: true,
  overtaken: false,
  abortedBy: null,
  blocks: 2,
  offset: 10,
  open: [{ index: 1, kind: "reply", mentions: ["ann"] }],
};
const base = 1_763_700_000_000;

/** Each field away from its usual value, and as it is written. */
const fields: readonly (readonly [Partial<ConversationContext>, Record<string, unknown>])[] = [
  [{}, {}],
  [
    {
      participants: [
        { id: "ann", name: "Ann", isBot: false, lastSeenAt: base - 50 },
        { id: "rex", name: "rex", isBot: true, lastSeenAt: base - 20 },
        { id: "roy", name: "Roy", isBot: true, lastSeenAt: base - 10 },
        { id: "bob", name: "bob", isBot: false, lastSeenAt: base },
      ],
      membership: { humans: 3, bots: 1, truncated: true, fetchedAt: base - 7 },
      ledger: { bob: base + 5, gone: base - 5, ann: base + 1 },
      counters: { consecutive: 2, window: [base - 2, base - 1] },
    },
    {
      z: base,
      p: [
        ["ann", -50, "Ann"],
        ["rex", -20, null, 1],
        ["roy", -10, "Roy", 1],
        ["bob", 0],
      ],
      m: [3, 1, 1, -7],
      l: [
        [3, 5],
        ["gone", -5],
        [0, 1],
      ],
      g: [2, [-2, -1]],
    },
  ],
  [{ membership: { humans: 0, bots: 0, truncated: false, fetchedAt: 9 } }, { m: [0, 0, 0, 9] }],
  [
    { floors: { heard: 3, spokeAt: 4, rows: { ann: floor } } },
    { fl: { heard: 3, spokeAt: 4, rows: [["ann", floor]] } },
  ],
  [
    {
      buffer: {
        entries: [
          { seq: 1, id: "a", at: 11, author: "ann", self: false },
          { seq: 2, id: "b", at: 12, author: "us", self: true },
          { seq: 3, id: "c", at: 13, author: "ann", self: false, editSeq: 9 },
          { seq: 4, id: "d", at: 14, author: "us", self: true, editSeq: 10 },
          {
            seq: 5,
            id: "e",
            at: 15,
            author: "ann",
            self: false,
            asked: { route: inThread, media: true, group: "g", gist: "hi" },
          },
          {
            seq: 6,
            id: "f",
            at: 16,
            author: "us",
            self: true,
            editSeq: 11,
            asked: { route, media: false, group: null, gist: "" },
          },
        ],
        dropped: 2,
      },
    },
    {
      b: [
        [
          [1, "a", 11, "ann"],
          [2, "b", 12, "us", 1],
          [3, "c", 13, "ann", 0, 9],
          [4, "d", 14, "us", 1, 10],
          [5, "e", 15, "ann", 0, 0, [inThread, 1, "g", "hi"]],
          [6, "f", 16, "us", 1, 11, [route, 0, null, ""]],
        ],
        2,
      ],
    },
  ],
  [{ buffer: { entries: [], dropped: 3 } }, { b: [[], 3] }],
  [
    { buffer: { entries: [{ seq: 1, id: "a", at: 1, author: "b", self: false }], dropped: 0 } },
    { b: [[[1, "a", 1, "b"]], 0] },
  ],
  [
    {
      notes: [
        { seq: 1, id: "a", at: 5 },
        { seq: 2, id: "b", at: 6, was: { seq: 1 } },
        { seq: 3, id: "c", at: 7, was: { seq: 1, editSeq: 2 } },
      ],
    },
    {
      nt: [
        [1, "a", 5],
        [2, "b", 6, 1],
        [3, "c", 7, 1, 2],
      ],
    },
  ],
  [
    {
      participants: [{ id: "bob", name: "bob", isBot: false, lastSeenAt: base }],
      buffer: {
        entries: [
          { seq: 1, id: "a", at: base + 1, author: "ann", self: false },
          { seq: 2, id: "b", at: base + 2, author: "us", self: true },
          { seq: 3, id: "c", at: base + 3, author: "ann", self: false, editSeq: 9 },
          { seq: 4, id: "d", at: base + 3, author: "ann", self: false, stopped: true },
          {
            seq: 5,
            id: "e",
            at: base + 4,
            author: "ann",
            self: false,
            asked: { route, media: false, group: null, gist: "" },
          },
        ],
        dropped: 0,
      },
      notes: [
        { seq: 1, id: "a", at: base + 5 },
        { seq: 2, id: "b", at: base + 6, was: { seq: 1 } },
        { seq: 3, id: "c", at: base + 7, was: { seq: 1, editSeq: 2 } },
      ],
    },
    {
      z: base,
      p: [["bob", 0]],
      b: [
        [
          [1, "a", 1, "ann"],
          [2, "b", 2, "us", 1],
          [3, "c", 3, "ann", 0, 9],
          [4, "d", 3, "ann", 2],
          [5, "e", 4, "ann", 0, 0, [route, 0, null, ""]],
        ],
        0,
      ],
      nt: [
        [1, "a", 5],
        [2, "b", 6, 1],
        [3, "c", 7, 1, 2],
      ],
    },
  ],
  [
    {
      buffer: {
        entries: [
          { seq: 1, id: "a", at: 11, author: "us", self: true, chat: "x" },
          {
            seq: 2,
            id: "a",
            at: 12,
            author: "ann",
            self: false,
            editSeq: 9,
            asked: { route, media: false, group: null, gist: "" },
            chat: "y",
          },
        ],
        dropped: 0,
      },
      notes: [
        { seq: 3, id: "a", at: 5, chat: "x" },
        { seq: 4, id: "a", at: 6, was: { seq: 1 }, chat: "y" },
        { seq: 5, id: "a", at: 7, was: { seq: 1, editSeq: 2 }, chat: "y" },
      ],
      ownMessages: ["old", "x\na", "x\nb", "y\na", "c"],
      heardMessages: ["x\na", "x\nb", "y\na"],
      readByTurns: [
        { seq: 1, id: "a", chat: "x" },
        { seq: 2, id: "a", editSeq: 9, chat: "y" },
        { seq: 6, id: "a" },
        { seq: 7, id: "a", chat: "z" },
        { seq: 8, id: "a", chat: "x" },
        { seq: 9, id: "b", chat: "x" },
      ],
    },
    {
      ch: ["x", "y", "z"],
      b: [
        [
          [1, "a", 11, "us", 1, 0, null, 0],
          [2, "a", 12, "ann", 0, 9, [route, 0, null, ""], 1],
        ],
        0,
      ],
      nt: [
        [3, "a", 5, 0, 0, 0],
        [4, "a", 6, 1, 0, 1],
        [5, "a", 7, 1, 2, 1],
      ],
      o: ["old", 0, "a", "b", 1, "a", -1, "c"],
      c: [0, "a", "b", 1, "a"],
      d: [1, [2, "a", 9, 1], [6, "a"], [7, "a", 0, 2], 8, 9],
    },
  ],
  [
    { seeded: true, introduced: true, abortedLastRun: true },
    { s: 1, x: 1, a: 1 },
  ],
  [
    {
      heardMessages: ["a", "b", "c", "d", "e"],
      readByTurns: [
        { seq: 1, id: "a" },
        { seq: 2, id: "b" },
        { seq: 4, id: "d" },
        { seq: 5, id: "e" },
        { seq: 3, id: "c", editSeq: 9 },
        { seq: 6, id: "d" },
        { seq: 7, id: "unheard" },
        { seq: 8, id: "a" },
      ],
    },
    { c: ["a", "b", "c", "d", "e"], d: [1, 2, [4, "d"], 5, [3, "c", 9], 6, [7, "unheard"], 8] },
  ],
  [{ readByTurns: [{ seq: 1, id: "a" }] }, { d: [[1, "a"]] }],
  [
    {
      heardMessages: ["a", "b"],
      readByTurns: [
        { seq: 1, id: "a" },
        { seq: 2, id: "b", editSeq: 9 },
      ],
    },
    { c: ["a", "b"], d: [1, [2, "b", 9]] },
  ],
  [
    { quietBy: 6, interruptedAt: 7, turnSeq: 8, override: { send: "deny" } },
    { qb: 6, u: 7, t: 8, v: { send: "deny" } },
  ],
  [
    { droppedWhileBusy: ["a"], ownMessages: ["b"], siblingMessages: ["c"], spokenIn: ["d"] },
    { n: ["a"], o: ["b"], e: ["c"], h: ["d"] },
  ],
  [
    { relays: [{ token: "x", place: 1, keys: ["k"], seq: 2, at: 3, ahead: [0] }] },
    { w: [{ token: "x", place: 1, keys: ["k"], seq: 2, at: 3, ahead: [0] }] },
  ],
];
/** Whatever state they are in. */
const pendingFields = {
  forming: [{ ...batch, author: "ann", group: "g", firstAt: 1, closesAt: 2 }],
  inbox: [{ ...batch, backlog: true, steeredAt: null, past: 3 }],
  quietAt: 5,
  typing: inThread,
};

const write = (attention: Attention, over: Partial<ConversationContext>) =>
  writeSnapshot(chartValue(attention, "granting", "clear"), { ...newContext(defaults), ...over });

describe("a field", () => {
  test.each(fields)("%#: is written and comes back", (over, written) => {
    const context = { ...newContext(defaults), ...over };
    const value = chartValue("observing", "withheld", "tripped");
    const record = writeSnapshot(value, context);
    expect(JSON.parse(record)).toEqual([1, 3, "observing|tripped|withheld", written]);
    const { override } = context;
    const settings = { ...defaults, send: override.send ?? defaults.send };
    expect(readSnapshot(record, defaults)).toEqual({ value, context: { ...context, settings } });
  });

  test("of pending work comes back, too", () => {
    const record = write("engaged.gathering", pendingFields);
    expect(JSON.parse(record)).toEqual([
      1,
      3,
      "engaged.gathering|clear",
      { f: pendingFields.forming, i: pendingFields.inbox, q: 5, y: inThread },
    ]);
    expect(readSnapshot(record, defaults)).toEqual({
      value: { attention: { engaged: "gathering" }, lock: "granting", guard: "clear" },
      context: { ...newContext(defaults), ...pendingFields },
    });
    const owed = { heartbeat: route, prompts: [{ seq: 4, route }] };
    const waiting = write("engaged.waiting", owed);
    expect(JSON.parse(waiting)[3]).toEqual({ k: route, pr: [{ seq: 4, route }] });
    expect(readSnapshot(waiting, defaults).context).toMatchObject(owed);
  });

  test("of people that a record names and does not have is read as it can be", () => {
    const read = (record: object) =>
      readSnapshot(JSON.stringify([1, 3, "observing|clear", record]), defaults).context;
    expect(read({ l: [[2, 5]] }).ledger).toEqual({ 2: 5 });
    expect(read({ z: 10, p: [["ann", 1]], l: [[0, 5]] }).ledger).toEqual({ ann: 15 });
    expect(read({ d: [1] }).readByTurns).toEqual([{ seq: 1, id: "" }]);
    expect(read({ c: ["a"], d: [1, 2] }).readByTurns).toEqual([
      { seq: 1, id: "a" },
      { seq: 2, id: "" },
    ]);
    expect(read({ fa: 7 }).turnSeq).toBe(0);
  });
});

describe("a record of before chats were kept, in a session of several", () => {
  const before = {
    b: [
      [
        [3, "1", 0, "ann"],
        [4, "2", 0, "bob"],
      ],
      0,
    ],
    nt: [[5, "p1", 0]],
    o: ["p1"],
    c: ["1", "2"],
    d: [
      [1, "7"],
      [2, "8", 6],
    ],
  };
  const options = {
    settings: { severalChats: true },
    record: JSON.stringify([1, 3, "observing|clear", before]),
  };

  test("loses nothing, and is written again as it was", () => {
    const { conversation } = new Rig(options);
    expect(conversation.context).toMatchObject({
      buffer: { entries: [{ id: "1" }, { id: "2" }] },
      readByTurns: [{ id: "7" }, { id: "8", editSeq: 6 }],
      ownMessages: ["p1"],
    });
    expect(JSON.parse(conversation.record())[3]).toEqual(before);
  });

  test("knows its messages by their ids, whatever chat they were in", () => {
    const rig = new Rig(options);
    rig.remove("1");
    expect(rig.of("dropped")).toMatchObject([{ message: { seq: 3, id: "1" } }]);
    const edited = rig.edit("8", "later");
    expect(rig.conversation.context.notes).toMatchObject([{ id: "p1" }, { seq: edited, id: "8" }]);
    expect(rig.say("ann", "indeed", { replyTo: { id: "p1" } })).toBe("reply");
  });
});

describe("what a state promises", () => {
  const quiet = { forming: [], inbox: [], typing: null, quietAt: null, run: null };
  const cases: readonly [Attention, Partial<ConversationContext>, string | null][] = [
    ["observing", {}, null],
    ["observing", { run }, "observes with work pending"],
    ["observing", { inbox: pendingFields.inbox }, "observes with work pending"],
    ["observing", { forming: pendingFields.forming }, "observes with work pending"],
    ["observing", { typing: route }, "observes with work pending"],
    ["observing", { heartbeat: route }, "observes with work pending"],
    ["observing", { prompts: [{ seq: 1, route }] }, "observes with work pending"],
    ["engaged.gathering", {}, "gathers nothing"],
    ["engaged.gathering", { forming: pendingFields.forming }, null],
    ["engaged.gathering", { forming: pendingFields.forming, run }, "gathers nothing"],
    [
      "engaged.gathering",
      { inbox: pendingFields.inbox },
      "gathers with a line that waits for nothing",
    ],
    ["engaged.gathering", { inbox: pendingFields.inbox, quietAt: 1 }, null],
    ["engaged.waiting", {}, "waits with nothing in line"],
    ["engaged.waiting", { forming: pendingFields.forming }, "waits with nothing in line"],
    ["engaged.waiting", { inbox: pendingFields.inbox }, null],
    ["engaged.waiting", { inbox: pendingFields.inbox, run }, "waits with nothing in line"],
    ["engaged.waiting", { heartbeat: route }, null],
    ["engaged.running", {}, "runs without a turn"],
    ["engaged.running", { run }, null],
    ["engaged.settling", {}, "settles nothing"],
    ["engaged.settling", { run }, null],
    ["engaged.settling", { run: { ...run, open: [] } }, "settles nothing"],
  ];

  test.each(cases)("%s, case %#", (attention, over, problem) => {
    const read = () => readSnapshot(write(attention, { ...quiet, ...over }), defaults);
    if (problem === null) expect(read().context).toMatchObject(over);
    else expect(read).toThrow(`Cannot restore a conversation: it ${problem}`);
  });
});

describe("what is refused says why", () => {
  const refused = (record: string) => {
    try {
      return readSnapshot(record, defaults);
    } catch (error) {
      if (!(error instanceof EarshotError)) throw error;
      expect(error.code).toBe("EAR_RECORD_INVALID");
      return error.message.replace("Cannot restore a conversation: ", "");
    }
  };
  const of = (...record: unknown[]) => refused(JSON.stringify(record));

  test.each([
    ["x", "it is not JSON"],
    ["[1]", "its form is wrong at the top"],
    ["{}", "its form is wrong at the top"],
  ])("%s", (record, reason) => expect(refused(record)).toBe(reason));

  test("the cause of what is no JSON is kept", () => {
    expect(() => readSnapshot("x", defaults)).toThrow(
      expect.objectContaining({ cause: expect.any(SyntaxError) }),
    );
  });

  test.each<[unknown[], string]>([
    [[1, 3, "observing|clear", { t: -1 }], "its form is wrong at t"],
    [[1, 3, "observing|clear", { p: [["ann"]] }], "its form is wrong at p.0"],
    [[1, 3, "observed|clear", {}], "its state is not known"],
    [[1, 3, "observing", {}], "its state is not known"],
    [[1, 3, "observing|clear|granting|", {}], "its state is not known"],
    [[2, 3, "observing|clear", {}], "it is of version 2.3"],
    [[1, 4, "observing|clear", {}], "it is of version 1.4"],
    [[2, 2, "observing|clear", {}], "it is of version 2.2"],
    [[2, 1, "observing|clear", {}], "it is of version 2.1"],
    [[1, 0, "observing|clear", {}], "it is of version 1.0"],
    [[1, 2, "observing|clear", { r: 1 }], "its state is not that of its turn"],
    [[1, 1, "observing|clear", { t: "x" }], "its state is not that of its turn"],
  ])("%j", (record, reason) => expect(of(...record)).toBe(reason));

  test("a lock that is open may be named", () => {
    expect(of(1, 3, "observing|clear|granting", {})).toMatchObject({ value: { lock: "granting" } });
  });
});

describe("a record of version 1", () => {
  const old = (lock: string, ended: boolean, turn = 1) => ({
    order: { turn },
    lock,
    ended,
    blocks: 1,
  });
  const left = { order: { turn: 1 }, blocks: 1 };

  test.each<[string, object, string, string, object]>([
    ["observing", {}, "observing", "granting", {}],
    ["observing", { q: [5, 6], s: 1 }, "observing", "granting", { q: 5, qb: 6, s: 1 }],
    ["observing", { b: [1], bd: 2 }, "observing", "granting", { b: [[1], 2] }],
    ["observing", { b: [1] }, "observing", "granting", { b: [[1], 0] }],
    ["observing", { bd: 2 }, "observing", "granting", { b: [[], 2] }],
    ["observing", { t: 2, d: 2 }, "observing", "withheld", { t: 2 }],
    ["observing", { t: 2, d: 1 }, "observing", "granting", { t: 2 }],
    ["observing", { d: 0 }, "observing", "granting", {}],
    ["engaged.running.open", { r: old("open", false) }, "engaged.running", "granting", { r: left }],
    [
      "engaged.running.disengaged",
      { r: old("disengaged", false), t: 1, d: 1 },
      "engaged.running",
      "withheld",
      { r: left, t: 1 },
    ],
    [
      "engaged.running.skipped",
      { r: old("skipped", false) },
      "engaged.running",
      "silenced",
      { r: left },
    ],
    [
      "engaged.running.skipped",
      { r: old("skipped", false), t: 1, d: 1 },
      "engaged.running",
      "closed",
      { r: left, t: 1 },
    ],
    ["engaged.settling", { r: old("open", true) }, "engaged.settling", "granting", { r: left }],
  ])("%s, case %#", (attention, fields, now, lock, made) => {
    expect(upgradeV1({ attention, fields })).toStrictEqual({ attention: now, lock, fields: made });
  });

  test.each<[string, object]>([
    ["engaged.running.open", {}],
    ["engaged.running.open", { r: old("open", true) }],
    ["engaged.running.open", { r: old("skipped", false) }],
    ["engaged.settling", {}],
    ["engaged.settling", { r: old("open", false) }],
    ["observing", { d: -1 }],
  ])("%s with %j is none", (attention, fields) =>
    expect(upgradeV1({ attention, fields })).toBeNull(),
  );
});

describe("a record of version 2", () => {
  const upgraded = (over: Partial<Run>, attention = "engaged.running") =>
    upgradeV2({ attention, fields: { t: 1, r: { ...run, ...over } } });
  const with_ = (over: object, attention = "engaged.running") => ({
    attention,
    fields: { t: 1, r: { ...run, ...over } },
  });

  test("has what was delivered counted, and an outcome where its agent had ended", () => {
    const aside = { index: 3, kind: "aside" as const, mentions: [] };
    const draft = { index: 4, kind: "reply" as const, mentions: [], draft: true as const };
    expect(upgraded({})).toStrictEqual(with_({ sent: 1 }));
    expect(upgraded({ blocks: 1 })).toStrictEqual(with_({ blocks: 1 }));
    expect(upgraded({ blocks: 3, asides: [0] })).toStrictEqual(
      with_({ blocks: 3, asides: [0], sent: 1 }),
    );
    const open = [...run.open, aside, draft];
    expect(upgraded({ blocks: 5, open })).toStrictEqual(with_({ blocks: 5, open, sent: 4 }));
    expect(upgraded({}, "engaged.settling")).toStrictEqual(
      with_({ sent: 1, reported: true }, "engaged.settling"),
    );
  });

  test("without a turn is the same, and one with another turn's form is none", () => {
    const fields = { t: 1 };
    expect(upgradeV2({ attention: "observing", fields })).toEqual({
      attention: "observing",
      fields,
    });
    expect(upgradeV2({ attention: "observing", fields: { r: {} } })).toBeNull();
  });
});
