/** What the agent says and does in its turn, action by action. */
import { describe, expect, test } from "vitest";
import { emptyFloors } from "../../../../src/domain/floor.ts";
import { limits } from "../../../../src/domain/limits.ts";
import * as delivery from "../../../../src/machines/conversation/delivery-actions.ts";
import * as output from "../../../../src/machines/conversation/output-actions.ts";
import * as typing from "../../../../src/machines/conversation/typing-actions.ts";
import { hashesOf } from "../../../../src/machines/engagement/floor-words.ts";
import type { AgentText } from "../../../../src/machines/events/events.ts";
import {
  acting,
  direct,
  flush,
  forming,
  pending,
  room,
  run,
  thread,
} from "../../../support/machines/acting.ts";
import { floor, settings } from "./values.ts";

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
