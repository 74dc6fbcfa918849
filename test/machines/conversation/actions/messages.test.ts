/** A message: what it means, what is decided of it, and what that leaves, action by action. */
import { describe, expect, test } from "vitest";
import { emptyFloors } from "../../../../src/domain/floor.ts";
import { limits } from "../../../../src/domain/limits.ts";
import { inboundSchema } from "../../../../src/domain/message.ts";
import * as messages from "../../../../src/machines/conversation/message-actions.ts";
import {
  engagementInput,
  heldAuthors,
  stepEvent,
} from "../../../../src/machines/conversation/message-analysis.ts";
import { hearLine, keepCredited, noteAnswer } from "../../../../src/machines/engagement/floor.ts";
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
} from "../../../support/machines/acting.ts";
import { buffer, entry, floor, none, set, settings, stickinessOf } from "./values.ts";

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
    const self = { buffer: buffer(entry(1, { self: true }), entry(2)) };
    expect(inputOf(self, inThread).room.botInThread).toBe(true);
    for (const others of [buffer(), buffer(entry(1))])
      expect(inputOf({ buffer: others }, inThread).room.botInThread).toBe(false);
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
    const short = settings({ engagement: { stickiness: stickinessOf("expire") } });
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
    const short = settings({ engagement: { stickiness: stickinessOf("expire") } });
    const slid = decide(short).effects[0];
    expect(slid).toMatchObject({ rule: "sticky", credit: "slid", creditExpiresAt: 1_100 });
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
