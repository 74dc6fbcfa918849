/** What the agent says and what becomes of it, action by action. */
import { describe, expect, test } from "vitest";
import { emptyFloors } from "../../../src/domain/floor.ts";
import { limits } from "../../../src/domain/limits.ts";
import * as delivery from "../../../src/machines/conversation/delivery-actions.ts";
import * as output from "../../../src/machines/conversation/output-actions.ts";
import {
  addressBlock,
  fillPrefix,
  notifiesRoom,
  targetOf,
} from "../../../src/machines/conversation/reply-addressing.ts";
import { reaches, samePerson } from "../../../src/machines/conversation/same-person.ts";
import * as typing from "../../../src/machines/conversation/typing-actions.ts";
import { noteAnswer, rowOf } from "../../../src/machines/engagement/floor.ts";
import { hashesOf } from "../../../src/machines/engagement/floor-words.ts";
import type { AgentText } from "../../../src/machines/events/events.ts";
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

const floor = { engagement: { stickiness: stickinessOf("floor") } } as never;
function stickinessOf(mode: string, over: object = {}) {
  return { enabled: true, windowMs: 100, mode, holdDuringTurn: true, ...over };
}
const settings = (over: object) => ({ settings: over as never });

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

describe("a block of the answer", () => {
  const text: AgentText = {
    type: "agent.text",
    at: 5,
    turnId: "T1",
    index: 0,
    from: 0,
    to: 4,
    text: "well",
    mentions: ["bob"],
  };
  const send = (over: object, event: object = {}, more: object = {}) =>
    acting({ ...more, run: run({ overtaken: true, ...over }) }, (step) =>
      output.sendBlock(step, { ...text, ...event }),
    );
  const block = {
    type: "block",
    turnId: "T1",
    index: 0,
    text: "well",
    route: room,
    replyTo: "m1",
    quote: true,
    kind: "reply",
  };
  const said = { type: "transcript", turnId: "T1", role: "assistant", text: "well", index: 0 };
  const opened = { index: 0, kind: "reply", mentions: ["bob"] };
  const runWith = (over: object) => run({ overtaken: true, ...over });

  test("is remembered, handed to delivery, and open", () => {
    expect(send({})).toEqual({
      changed: { run: runWith({ blocks: 1, offset: 4, open: [opened] }) },
      effects: [said, block],
    });
    expect(send({}, { prefix: "[a] " }).effects[1]).toMatchObject({ text: "[a] well" });
    expect(acting({}, (step) => output.sendBlock(step, text))).toEqual({
      changed: {},
      effects: [],
    });
  });

  test("that was sent before, or comes after too many, is no block", () => {
    const none = { changed: {}, effects: [] };
    expect(send({ blocks: 1 })).toEqual(none);
    expect(send({ offset: 1 })).toEqual(none);
    expect(send({}, { index: limits.blocksPerTurnMax })).toEqual(none);
    expect(send({}, { index: limits.blocksPerTurnMax - 1 }).effects).toHaveLength(2);
    expect(send({ offset: 1 }, { draft: true }).effects).toHaveLength(1);
    expect(send({ offset: 1 }, { aside: "status" }).effects).toHaveLength(1);
    expect(send({ offset: 4 }, { from: 4, to: 8 }).changed.run?.offset).toBe(8);
  });

  test("that is a first sight is neither remembered nor covers anything", () => {
    expect(send({ offset: 2 }, { draft: true })).toEqual({
      changed: {
        run: runWith({ blocks: 1, offset: 2, open: [{ ...opened, draft: true }] }),
      },
      effects: [{ ...block, draft: true }],
    });
  });

  test("beside the answer is counted as that, and is no reply where it is a status", () => {
    const status = send({}, { aside: "status" });
    expect(status.changed.run).toEqual(
      runWith({ blocks: 1, open: [{ ...opened, kind: "aside" }], asides: [0] }),
    );
    expect(status.effects).toEqual([{ ...block, replyTo: null, quote: false, aside: "status" }]);
    expect(send({}, { aside: "status", draft: true }).effects).toMatchObject([{ replyTo: null }]);
    expect(send({}, { aside: "reasoning" }).effects).toMatchObject([
      { replyTo: null, quote: false },
    ]);
    expect(send({}, { aside: "reasoning", draft: true }).effects).toMatchObject([
      { replyTo: "m1" },
    ]);
  });

  test("that skips numbers counts those as no answer", () => {
    const found = send({ blocks: 1, asides: [0] }, { index: 3 });
    expect(found.changed.run).toMatchObject({ blocks: 4, asides: [0, 1, 2] });
    expect(found.effects[1]).toMatchObject({ replyTo: "m1" });
    const later = send({ blocks: 2, asides: [0] }, { index: 2 });
    expect(later.changed.run?.asides).toEqual([0]);
    expect(later.effects[1]).toMatchObject({ replyTo: null, quote: false });
  });

  test("is kept from a room that is denied, but not from the transcript", () => {
    const denied = send({}, {}, settings({ send: "deny" }));
    expect(denied).toEqual({
      changed: { run: runWith({ blocks: 1, offset: 4, refused: true, asides: [0] }) },
      effects: [said],
    });
    const aside = send({}, { aside: "status" }, settings({ send: "deny" }));
    expect(aside.changed.run).toEqual(runWith({ blocks: 1, asides: [0] }));
    expect(aside.effects).toEqual([]);
  });

  test("of a turn that is stopped only completes what a room has seen", () => {
    const stopped = { abortedBy: "stop", shown: 0, blocks: 1 };
    expect(send(stopped, { index: 1 }).effects).toEqual([]);
    expect(send(stopped, { index: 1, edits: 0 }).effects).toHaveLength(2);
    expect(send(stopped, { index: 1, edits: 1 }).effects).toEqual([]);
    expect(send(stopped, { index: 1, edits: 0, aside: "status" }).effects).toEqual([]);
    expect(send({ abortedBy: "stop", blocks: 1 }, { index: 1 }).effects).toEqual([]);
  });

  test("that completes a growing one is where that one would be", () => {
    const completes = { index: 1, edits: 0 };
    expect(send({ blocks: 1 }, completes).effects[1]).toMatchObject({ replyTo: "m1", edits: 0 });
    expect(send({ blocks: 1, asides: [0] }, completes).effects[1]).toMatchObject({ replyTo: "m1" });
    expect(send({ blocks: 2, asides: [0] }, { index: 2, edits: 0 }).effects[1]).toMatchObject({
      replyTo: null,
    });
  });

  test("may name the message that it answers", () => {
    const to = (target: string, over: object = {}) =>
      send({ overtaken: false, ...over }, { target }, { heardMessages: ["h1"] }).effects[1];
    expect(to("")).toMatchObject({ replyTo: "m1", quote: false });
    expect(to("m1")).toMatchObject({ replyTo: "m1", quote: false });
    expect(to("m1", { overtaken: true })).toMatchObject({ replyTo: "m1", quote: true });
    expect(to("h1")).toMatchObject({ replyTo: "h1", quote: true });
    expect(to("h9")).toMatchObject({ unknownTarget: "h9", replyTo: "m1" });
    expect(to("h1")).not.toHaveProperty("unknownTarget");
  });

  test("of a turn that nobody asked for is no reply", () => {
    const asked = acting({ run: { ...run({ overtaken: true }, { replyTo: "" }) } }, (step) =>
      output.sendBlock(step, text),
    );
    expect(asked.effects[1]).toMatchObject({ replyTo: null, quote: false });
  });

  test("is a reply in any room where the batch has several messages and the mode says so", () => {
    const batch = [pending(1), pending(2)];
    const several = (replyTo: string, over: object) =>
      send({ overtaken: false, ...over }, {}, settings({ replyTo })).effects[1];
    expect(several("batched", { batch })).toMatchObject({ replyTo: "m1", quote: false });
    expect(several("batched", {})).toMatchObject({ replyTo: null });
  });

  test("where the floor is judged is remembered by whom it names, what it says and asks", () => {
    const participants = ["Bob", "bo", "Cy", "", "D".repeat(limits.labelUnitsMax + 5)].map(
      (name, n) => ({ id: `p${n}`, name, isBot: false, lastSeenAt: 1 }),
    );
    const gistOf = (words: string, event: object = {}) => {
      const found = send({}, { text: words, ...event }, { ...settings(floor), participants });
      const [block] = found.changed.run?.open ?? [];
      return block?.gist;
    };
    expect(gistOf("BOB: is it so?")).toEqual({
      names: ["p0"],
      words: hashesOf("bob: is it so?"),
      asks: true,
    });
    expect(gistOf("Cy, yes.")).toMatchObject({ names: ["p2"], asks: false });
    expect(gistOf("Bob is it")).toMatchObject({ names: [] });
    expect(gistOf("I say, Bob: x")).toMatchObject({ names: [] });
    expect(gistOf(": x")).toMatchObject({ names: [] });
    expect(gistOf(`${"d".repeat(limits.labelUnitsMax)}: x`)).toMatchObject({ names: ["p4"] });
    expect(gistOf("Bob: x", { aside: "status" })).toBeUndefined();
    expect(send({}).changed.run?.open[0]).not.toHaveProperty("gist");
  });
});

describe("what else an agent does", () => {
  const asks = (emoji: unknown, over: object = {}, name = "channel_react", ordered: object = {}) =>
    acting({ run: run({ ...over }, ordered) }, (step) =>
      output.reactAsAsked(step, {
        type: "agent.tool",
        at: 5,
        turnId: "T1",
        name,
        input: { emoji },
      } as never),
    );
  const reacted = { type: "react", message: "m1", emoji: "🎉", route: room };

  test("it reacts to what it answers, in place of the ack", () => {
    expect(asks("🎉").effects).toEqual([reacted]);
    const batch = [pending(1, { ack: "👀" }), pending(2, { ack: "👀" })];
    expect(asks("🎉", { batch })).toEqual({
      changed: { run: run({ batch: [pending(1), batch[1]] }) },
      effects: [{ type: "unreact", message: "m1", emoji: "👀", route: room }, reacted],
    });
    expect(asks("👀", { batch })).toEqual({
      changed: { run: run({ batch: [pending(1), batch[1]] }) },
      effects: [{ ...reacted, emoji: "👀" }],
    });
  });

  test("it reacts to nothing else, and not once it is stopped", () => {
    const none = { changed: {}, effects: [] };
    expect(asks("🎉", {}, "channel_other")).toEqual(none);
    expect(asks(7)).toEqual(none);
    expect(asks("🎉", { abortedBy: "stop" })).toEqual(none);
    expect(asks("🎉", {}, "channel_react", { replyTo: "" })).toEqual(none);
  });

  test("its first sign shows typing, where that waits for one", () => {
    const shows = (mode: string, what = "text", ordered: object = {}) =>
      acting({ run: run({}, ordered), ...settings({ typing: { mode } }) }, (step) =>
        output.showTyping(step, { type: "agent.spoke", at: 5, turnId: "T1", what } as never),
      ).effects.length > 0;
    expect([shows("auto"), shows("message"), shows("never"), shows("instant")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([shows("auto", "reasoning"), shows("thinking", "reasoning"), shows("thinking")]).toEqual(
      [false, true, true],
    );
    expect(shows("auto", "text", { heartbeat: true })).toBe(false);
  });

  test("silence takes typing away, but for those who wait", () => {
    const typed = { typing: room, run: run() };
    expect(acting(typed, output.fallSilent).effects).toEqual([
      { type: "typing", on: false, route: room },
    ]);
    const waits = acting({ ...typed, inbox: [flush([2], { instant: true })] }, output.fallSilent);
    expect(waits.effects.map((one) => one.type === "typing" && one.on)).toEqual([false, true]);
    const floors = { ann: { answered: false } };
    const silenced = acting(
      {
        ...typed,
        ...settings(floor),
        ledger: { ann: 9 },
        floors: { ...emptyFloors, rows: floors as never },
      },
      output.fallSilent,
    );
    expect(silenced.changed.ledger).toEqual({});
  });

  test("a text without a turn goes out under its own name", () => {
    const due = {
      type: "text.due",
      at: 5,
      id: "x",
      route: room,
      parts: ["a"],
      replyTo: null,
    } as never;
    expect(acting({}, (step) => output.sayText(step, due)).effects).toEqual([
      { type: "say", turnId: delivery.textName("x", 5), parts: ["a"], route: room, replyTo: null },
    ]);
  });
});

describe("typing", () => {
  const start = (given: object) =>
    acting(given, (step) => typing.startTyping(step, thread)).effects;
  const update = (given: object) =>
    acting(given, typing.updateTyping).effects.map((one) =>
      one.type === "typing" ? [one.on, one.route] : one,
    );

  test("is shown in one place at a time", () => {
    expect(start({})).toEqual([{ type: "typing", on: true, route: thread }]);
    expect(start({ typing: room })).toEqual([]);
    expect(acting({ typing: room }, typing.stopTyping)).toEqual({
      changed: { typing: null },
      effects: [{ type: "typing", on: false, route: room }],
    });
    expect(acting({}, typing.stopTyping)).toEqual({ changed: {}, effects: [] });
  });

  test("stays where somebody waits, and moves to where the next one does", () => {
    expect(update({ typing: room, inbox: [flush([1])] })).toEqual([]);
    expect(update({ typing: room, forming: [forming([1])] })).toEqual([]);
    expect(update({ typing: room, inbox: [flush([1], { route: thread })] })).toEqual([
      [false, room],
    ]);
    const next = { inbox: [flush([1])], forming: [forming([2], { route: thread, instant: true })] };
    expect(update({ typing: direct, ...next })).toEqual([
      [false, direct],
      [true, thread],
    ]);
    expect(update(next)).toEqual([[true, thread]]);
    expect(update({ inbox: [flush([1])] })).toEqual([]);
  });
});

describe("an address", () => {
  const at = (index: number, over: object = {}) => ({
    index,
    several: false,
    overtaken: false,
    ...over,
  });
  const plain = { reply: false, quote: false };
  const reply = { reply: true, quote: false };
  const quote = { reply: true, quote: true };

  test.each<[string, string, object, object]>([
    ["auto", "direct", at(0, { overtaken: true }), plain],
    ["auto", "group", at(0), reply],
    ["auto", "channel", at(0), reply],
    ["auto", "group", at(1), plain],
    ["off", "group", at(0, { overtaken: true, several: true }), plain],
    ["all", "direct", at(0), reply],
    ["all", "group", at(1, { overtaken: true }), reply],
    ["all", "group", at(0, { overtaken: true }), quote],
    ["first", "direct", at(0), reply],
    ["first", "group", at(0, { overtaken: true }), quote],
    ["first", "group", at(1, { overtaken: true, several: true }), plain],
    ["batched", "group", at(0), plain],
    ["batched", "group", at(0, { several: true }), reply],
    ["batched", "group", at(0, { overtaken: true }), quote],
  ])("%s in a %s, %j", (mode, kind, block, address) =>
    expect(addressBlock(mode as never, kind as never, block as never)).toEqual(address),
  );

  test("names a message that was heard", () => {
    expect(targetOf(undefined, "m1", [])).toEqual({ kind: "none" });
    expect(targetOf("", "m1", [])).toEqual({ kind: "message", id: "m1" });
    expect(targetOf("", "", [])).toEqual({ kind: "unknown", id: "" });
    expect(targetOf("x", "m1", [["y"], ["x"]])).toEqual({ kind: "message", id: "x" });
    expect(targetOf("x", "m1", [["y"]])).toEqual({ kind: "unknown", id: "x" });
  });

  test("may begin with a prefix, set apart", () => {
    const words = { model: "m\n1", agent: "Ada", thinkLevel: "high" };
    expect(fillPrefix("", words)).toBe("");
    expect(fillPrefix("[{agent} {model} {thinkLevel} {other}]", words)).toBe(
      "[Ada m 1 high {other}] ",
    );
    expect(fillPrefix("{agent}:\n", words)).toBe("Ada:\n");
    expect(fillPrefix("{agent}{agent}", words)).toBe("AdaAda ");
  });

  test("a room hears of a failed turn where the config says so", () => {
    const found = (["always", "direct", "never"] as const).map((mode) => [
      notifiesRoom(mode as never, "direct"),
      notifiesRoom(mode as never, "group"),
    ]);
    expect(found).toEqual([
      [true, true],
      [true, false],
      [false, false],
    ]);
  });
});

describe("the same person", () => {
  const from = { route: room, author: "ann", owner: false };
  const asked = (author: string, route: object = room) =>
    ({ route, messages: [{ author: "cy" }, { author }] }) as never;

  test("is the same author on the same channel", () => {
    expect(samePerson(asked("ann"), asked("cy"))).toBe(true);
    expect(samePerson(asked("ann"), { route: room, messages: [{ author: "ann" }] } as never)).toBe(
      true,
    );
    expect(samePerson(asked("ann"), { route: room, messages: [{ author: "bob" }] } as never)).toBe(
      false,
    );
    const sms = { ...room, channel: "sms" };
    expect(
      samePerson(asked("ann", sms), { route: room, messages: [{ author: "ann" }] } as never),
    ).toBe(false);
    expect(samePerson(asked("ann"), { route: room, messages: [] } as never)).toBe(false);
  });

  test("an order to stop reaches its own, an owner's the whole chat, nobody's everything", () => {
    expect(reaches(undefined, asked("bob"))).toBe(true);
    expect(reaches(from, { route: thread, messages: [] } as never)).toBe(true);
    expect(reaches(from, asked("ann", thread))).toBe(true);
    expect(reaches(from, asked("bob"))).toBe(false);
    expect(reaches({ ...from, owner: true }, asked("bob"))).toBe(true);
    expect(reaches({ ...from, owner: true }, asked("bob", thread))).toBe(false);
    expect(reaches({ ...from, owner: true }, asked("ann", thread))).toBe(true);
  });
});
