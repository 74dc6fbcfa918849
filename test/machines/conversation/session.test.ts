/** Heartbeats, drafts, the send policy and what a session says differently, in the chart. */
import { describe, expect, test } from "vitest";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { Rig } from "../../support/runtime/conversation-rig.ts";

const direct = { id: "dm", kind: "direct" } as const;
const route = {
  channel: "test",
  account: "default",
  thread: null,
  chat: { id: "dm", kind: "direct" },
} as const;
const beat = (rig: Rig) => rig.step({ type: "heartbeat.due", at: rig.now, route });

describe("heartbeats", () => {
  test("a quiet conversation gets a turn without a batch, without typing and without a credit", () => {
    const rig = new Rig({ chat: direct });
    beat(rig);
    expect(rig.runs).toMatchObject([{ batch: [], context: [], heartbeat: true, route }]);
    rig.reply("Your train leaves in ten minutes.");
    expect(rig.of("block")).toMatchObject([{ replyTo: null, quote: false }]);
    expect(rig.outcomes()).toEqual(["T1 replied"]);
    expect(rig.of("typing")).toEqual([]);
    expect(rig.credits).toEqual([]);
    expect(rig.attention).toBe("observing");
  });

  test("what was overheard is kept for the next real turn", () => {
    const rig = new Rig();
    rig.say("ann", "the build is red", { id: "heard" });
    beat(rig);
    rig.end(true);
    rig.say("bob", "earshot?", { to: "us" });
    rig.wait(500);
    expect(rig.runs.at(-1)?.context.map(({ id }) => id)).toEqual(["heard"]);
  });

  test("one that falls due while people wait comes after all of them", () => {
    const rig = new Rig({ chat: direct, holdSlots: true, settings: { queue: { mode: "queue" } } });
    rig.say("ann", "one", { id: "one" });
    beat(rig);
    rig.wait(500);
    rig.say("ann", "two", { id: "two" });
    rig.wait(500);
    rig.grant();
    rig.reply();
    rig.grant();
    rig.reply();
    expect(rig.wantsSlot).toBe(true);
    rig.grant();
    expect(rig.batches()).toEqual([["one"], ["two"], []]);
    expect(rig.runs.at(-1)?.heartbeat).toBe(true);
  });

  test("a person's line ends the one that runs, and is answered in its place", () => {
    const rig = new Rig({ chat: direct });
    beat(rig);
    rig.say("ann", "hello", { id: "hello" });
    rig.wait(500);
    expect(rig.of("turn.abort")).toMatchObject([{ turnId: "T1", reason: "a person spoke" }]);
    rig.fail("aborted");
    rig.wait(500);
    expect(rig.outcomes()).toEqual(["T1 cancelled"]);
    expect(rig.runs.at(-1)).toMatchObject({ batch: [{ id: "hello" }], afterAbort: false });
  });

  test("two that fall due at once are one", () => {
    const rig = new Rig({ chat: direct, holdSlots: true });
    beat(rig);
    beat(rig);
    rig.grant();
    beat(rig);
    rig.end(true);
    expect(rig.attention).toBe("observing");
    expect(rig.runs).toHaveLength(1);
  });

  test("the room hears nothing of one that failed", () => {
    const rig = new Rig({ chat: direct, settings: { notifyRoom: "always" } });
    beat(rig);
    rig.fail("error");
    expect(rig.of("block")).toEqual([]);
    expect(rig.outcomes()).toEqual(["T1 failed"]);
  });

  test("the one that waits for a deleted line's place goes on by itself", () => {
    const rig = new Rig({ chat: direct });
    rig.say("ann", "never mind", { id: "gone" });
    beat(rig);
    rig.remove("gone");
    expect(rig.runs).toMatchObject([{ heartbeat: true }]);
  });
});

describe("drafts", () => {
  const draft = (rig: Rig, text: string) => {
    const more = { index: 0, from: 0, to: 0, text, mentions: [], draft: true } as const;
    rig.step({ type: "agent.text", at: rig.now, turnId: rig.turnId, ...more });
  };
  const final = (rig: Rig, text: string) => {
    const more = { index: 1, from: 0, to: text.length, text, mentions: [], edits: 0 };
    rig.step({ type: "agent.text", at: rig.now, turnId: rig.turnId, ...more } as ConversationEvent);
  };

  test("the first sight is sent, the whole answer replaces it and is what is remembered", () => {
    const rig = new Rig({ chat: direct });
    rig.say("ann", "tell me");
    rig.wait(500);
    draft(rig, "Once upon");
    rig.sent(0);
    final(rig, "Once upon a time.");
    rig.end();
    rig.sent(1);
    expect(rig.of("block")).toMatchObject([
      { index: 0, text: "Once upon", draft: true },
      { index: 1, text: "Once upon a time.", edits: 0 },
    ]);
    expect(rig.of("transcript").map(({ text }) => text)).toEqual(["Once upon a time."]);
    expect(rig.outcomes()).toEqual(["T1 replied"]);
  });
});

describe("beside the answer", () => {
  const beside = (rig: Rig, index: number, more: object) => {
    const event = { index, from: 0, to: 0, text: "beside", mentions: [], turnId: rig.turnId };
    rig.step({ type: "agent.text", at: rig.now, ...event, ...more } as ConversationEvent);
  };
  const asked = (over: ConstructorParameters<typeof Rig>[0] = {}) => {
    const rig = new Rig(over);
    rig.say("ann", "earshot, tell me", { to: "us" });
    rig.wait(500);
    return rig;
  };

  test("a turn that shows its steps and says nothing is silent: no credit, nothing remembered", () => {
    const rig = asked();
    beside(rig, 0, { aside: "status", draft: true });
    rig.sent(0);
    beside(rig, 1, { aside: "status", edits: 0 });
    rig.end(true);
    rig.sent(1, "T1");
    expect(rig.of("block")).toMatchObject([
      { index: 0, aside: "status", draft: true, replyTo: null },
      { index: 1, aside: "status", edits: 0, replyTo: null },
    ]);
    expect(rig.outcomes()).toEqual(["T1 silent"]);
    expect(rig.credits).toEqual([]);
    expect(rig.of("transcript")).toEqual([]);
    expect(rig.attention).toBe("observing");
  });

  test("the first block of the answer is the reply, whatever was shown before it", () => {
    const rig = asked();
    beside(rig, 0, { aside: "reasoning" });
    rig.answer("one");
    rig.answer("two");
    rig.end();
    for (const index of [0, 1, 2]) rig.sent(index);
    expect(rig.of("block").map(({ replyTo }) => replyTo)).toEqual([null, "m1", null]);
    expect(rig.outcomes()).toEqual(["T1 replied"]);
    expect(rig.of("transcript").map(({ text }) => text)).toEqual(["one", "two"]);
  });

  test("reasoning that an answer replaces is where the answer would be", () => {
    const rig = asked();
    beside(rig, 0, { aside: "reasoning", draft: true });
    beside(rig, 1, { edits: 0, to: 6 });
    rig.answer("more");
    rig.end();
    expect(rig.of("block").map(({ replyTo }) => replyTo)).toEqual(["m1", "m1", null]);
    expect(rig.of("transcript").map(({ text }) => text)).toEqual(["beside", "more"]);
  });

  test("a host lost after steps were shown is no end: the next try counts on from there", () => {
    const rig = asked();
    beside(rig, 0, { aside: "status", draft: true });
    rig.fail("host-lost");
    expect(rig.runs.map(({ attempt, firstIndex }) => [attempt, firstIndex])).toEqual([
      [1, undefined],
      [2, 1],
    ]);
    const record = rig.conversation.record();
    const again = createConversation({ key: "rig", settings: rig.settings, record });
    expect(again.context.run).toEqual(rig.conversation.context.run);
    rig.answer("ok", { index: 1 });
    rig.end();
    rig.sent(0);
    rig.sent(1);
    expect(rig.outcomes()).toEqual(["T1 replied"]);
  });

  test("what is shown beside the answer may come in the middle of it", () => {
    const rig = asked();
    rig.answer("one");
    beside(rig, 1, { aside: "status", draft: true });
    rig.answer("two");
    beside(rig, 3, { draft: true });
    expect(rig.of("block").map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  });

  test("denied to send, steps do not make the turn one whose words were refused", () => {
    const rig = asked({ settings: { send: "deny" } });
    beside(rig, 0, { aside: "status" });
    rig.end(true);
    expect(rig.of("outcome")).toMatchObject([{ outcome: "silent" }]);
    expect(rig.of("outcome")[0]).not.toHaveProperty("reason");
    expect(rig.of("block")).toEqual([]);
  });

  test("a prefix is shown and not remembered", () => {
    const rig = asked();
    beside(rig, 0, { to: 6, prefix: "[scout] " });
    expect(rig.of("block").map(({ text }) => text)).toEqual(["[scout] beside"]);
    expect(rig.of("transcript").map(({ text }) => text)).toEqual(["beside"]);
  });
});

describe("what a session says differently", () => {
  test("its queue mode holds until it is taken back, over a change of the config and a record", () => {
    const rig = new Rig({ chat: direct, settings: { queue: { mode: "collect", cap: 7 } } });
    rig.step({ type: "session.overridden", at: 0, queue: { mode: "queue" } });
    expect(rig.conversation.context.settings.queue).toMatchObject({ mode: "queue", cap: 7 });
    rig.settings = { ...rig.settings, queue: { ...rig.settings.queue, cap: 3 } };
    rig.say("ann", "hello");
    expect(rig.conversation.context.settings.queue).toMatchObject({ mode: "queue", cap: 3 });
    const record = rig.conversation.record();
    const again = createConversation({ key: "rig", settings: rig.settings, record });
    expect(again.context.settings).toEqual(rig.conversation.context.settings);
    rig.step({ type: "session.overridden", at: 0, queue: null });
    expect(rig.conversation.context.settings).toBe(rig.settings);
  });

  test("denied to send, a turn is silent and says why, and the transcript has its words", () => {
    const rig = new Rig({ chat: direct });
    rig.step({ type: "session.overridden", at: 0, send: "deny" });
    rig.say("ann", "hello");
    rig.wait(500);
    rig.answer("hi");
    rig.end();
    expect(rig.of("block")).toEqual([]);
    expect(rig.of("outcome")).toMatchObject([{ outcome: "silent", reason: "send-policy" }]);
    expect(rig.of("transcript")).toHaveLength(1);
    rig.step({ type: "session.overridden", at: 0, send: null });
    rig.say("ann", "and now?");
    rig.wait(500);
    rig.reply("hi");
    expect(rig.outcomes().at(-1)).toBe("T2 replied");
  });

  test("a new session is introduced to the room again", () => {
    const rig = new Rig();
    const turn = () => {
      rig.say("ann", "earshot?", { to: "us" });
      rig.wait(500);
      rig.reply();
      rig.wait(500);
    };
    turn();
    turn();
    rig.step({ type: "session.reset", at: rig.now });
    turn();
    expect(rig.runs.map(({ introduce }) => introduce)).toEqual([true, false, true]);
  });
});

describe("a new session", () => {
  const begin = (rig: Rig) =>
    rig.step({ type: "session.reset", at: rig.now, sessionId: `S${rig.now}` });

  test("is not begun by what was said before it: that is a batch of its own", () => {
    const rig = new Rig({ chat: direct, settings: { queue: { mode: "queue" } } });
    rig.say("ann", "one", { id: "one" });
    begin(rig);
    rig.say("ann", "two", { id: "two" });
    rig.wait(500);
    rig.reply();
    rig.wait(500);
    expect(rig.batches()).toEqual([["one"], ["two"]]);
    expect(rig.of("session.began")).toHaveLength(1);
  });

  test("lets a running turn end as it would, takes nothing into it, and hears nothing of its end", () => {
    const rig = new Rig({ chat: direct, settings: { queue: { mode: "steer" } } });
    rig.say("ann", "one", { id: "one" });
    rig.wait(500);
    begin(rig);
    rig.say("ann", "two", { id: "two" });
    rig.wait(500);
    expect(rig.of("turn.steer")).toEqual([]);
    rig.step({ type: "run.aborted", at: rig.now, by: "stop" });
    rig.fail("aborted");
    rig.wait(500);
    expect(rig.outcomes()).toEqual(["T1 cancelled"]);
    expect(rig.runs.at(-1)).toMatchObject({ turnId: "T2", afterAbort: false });
  });

  test("without one, the same turn is steered, and its end is reported", () => {
    const rig = new Rig({ chat: direct, settings: { queue: { mode: "steer" } } });
    rig.say("ann", "one", { id: "one" });
    rig.wait(500);
    rig.say("ann", "two", { id: "two" });
    rig.wait(500);
    expect(rig.of("turn.steer")).toHaveLength(1);
    rig.step({ type: "run.aborted", at: rig.now, by: "stop" });
    rig.fail("aborted");
    rig.wait(500);
    expect(rig.runs.at(-1)).toMatchObject({ turnId: "T2", afterAbort: true });
  });
});

describe("what a transcript needs", () => {
  test("usage is passed on for the running turn, and for no other", () => {
    const rig = new Rig({ chat: direct });
    const tokens = { inputTokens: 3, outputTokens: 1 };
    rig.say("ann", "one");
    rig.wait(500);
    for (const turnId of ["T1", "T9"])
      rig.step({ type: "agent.usage", at: rig.now, turnId, ...tokens });
    const usage = rig.of("usage");
    expect(usage).toHaveLength(1);
    expect(usage[0]).toMatchObject({ turnId: "T1", ...tokens, costUsd: 0 });
  });

  test("messages that a running turn took in are named once", () => {
    const rig = new Rig({ chat: direct, settings: { queue: { mode: "steer" } } });
    rig.say("ann", "one", { id: "one" });
    rig.wait(500);
    rig.say("ann", "two", { id: "two" });
    rig.wait(500);
    const messages = rig.of("turn.steer").flatMap(({ batch }) => batch.map(({ seq }) => seq));
    rig.step({ type: "agent.steered", at: rig.now, turnId: "T1", messages });
    rig.reply();
    const joined = rig.of("joined").flatMap(({ batch }) => batch.map(({ id }) => id));
    expect(joined).toEqual(["two"]);
  });
});

describe("interruptions", () => {
  test("a room that thrashes interrupts once a second at most, and the newest line is answered", () => {
    const rig = new Rig({
      chat: direct,
      settings: { queue: { mode: "interrupt" }, debounce: { idleMs: 0, maxMs: 0 } },
    });
    rig.say("ann", "0");
    rig.wait(0);
    for (let at = 1; at <= 100; at += 1) {
      rig.wait(10);
      rig.say("ann", String(at), { id: `line ${at}` });
      rig.wait(0);
      if (rig.conversation.context.run?.abortedBy === "interrupt") rig.fail("aborted");
    }
    expect(rig.of("turn.abort").length).toBeLessThanOrEqual(2);
    if (rig.attention !== "observing") rig.reply();
    if (rig.attention !== "observing") rig.reply();
    expect(rig.batches().flat().at(-1)).toBe("line 100");
    expect(rig.attention).toBe("observing");
  });
});
