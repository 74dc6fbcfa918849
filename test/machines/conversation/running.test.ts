/** While a turn runs: what reaches it, and what the room sees of it: locks, acks and typing. */
import { describe, expect, test } from "vitest";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import { direct, engaged } from "../../support/machines/engaged.ts";
import { Rig } from "../../support/runtime/conversation-rig.ts";

describe("while a turn runs", () => {
  const later = (mode: "collect" | "followup" | "queue" | "interrupt" | "steer") => {
    const rig = engaged({ settings: { queue: { mode, debounceMs: 500 } } });
    for (const id of ["x", "y", "z"]) {
      rig.say("ann", id, { id });
      rig.wait(600);
    }
    return rig;
  };

  test("collect: everything for the same place becomes one turn after a quiet window", () => {
    const rig = later("collect");
    rig.reply();
    expect(rig.attention).toBe("engaged.gathering");
    rig.wait(499);
    expect(rig.runs).toHaveLength(1);
    rig.wait(1);
    expect(rig.batches()).toEqual([["first"], ["x", "y", "z"]]);
  });

  test("the quiet window starts again when somebody speaks, and still ends", () => {
    const rig = later("collect");
    rig.reply();
    rig.wait(400);
    rig.say("ann", "more", { to: "us", id: "more" });
    rig.wait(499);
    expect(rig.runs).toHaveLength(1);
    for (let line = 0; line < 20; line += 1) {
      rig.say("ann", "and more", { to: "us" });
      rig.wait(90);
    }
    expect(rig.runs.length).toBeGreaterThan(1);
  });

  test("followup: a turn each, a pause between", () => {
    const rig = later("followup");
    for (let turn = 0; turn < 3; turn += 1) {
      rig.reply();
      rig.wait(500);
    }
    expect(rig.batches()).toEqual([["first"], ["x"], ["y"], ["z"]]);
  });

  test("queue: a turn each, at once", () => {
    const rig = later("queue");
    for (let turn = 0; turn < 3; turn += 1) rig.reply();
    expect(rig.batches()).toEqual([["first"], ["x"], ["y"], ["z"]]);
  });

  test("interrupt: the running turn is stopped once, and the newest is next", () => {
    const rig = later("interrupt");
    expect(rig.of("turn.abort")).toHaveLength(1);
    rig.fail("aborted");
    expect(rig.outcomes()).toEqual(["T1 cancelled"]);
    expect(rig.batches()).toEqual([["first"], ["z"]]);
    expect(rig.of("dropped").map(({ message, why }) => [message.id, why])).toEqual([
      ["x", "interrupted"],
      ["y", "interrupted"],
    ]);
    expect(rig.acked()).toEqual(["z"]);
  });

  test("steer: what the agent took in joins its turn, the rest is the next turn's", () => {
    const rig = later("steer");
    expect(rig.of("turn.steer").map(({ batch }) => batch.map(({ id }) => id))).toEqual([
      ["x"],
      ["x", "y"],
      ["x", "y", "z"],
    ]);
    const [x, y] =
      rig
        .of("turn.steer")
        .at(-1)
        ?.batch.map(({ seq }) => seq) ?? [];
    const messages = [x ?? 0, y ?? 0];
    rig.step({ type: "agent.steered", at: rig.now, turnId: "T1", messages });
    rig.reply();
    expect(rig.of("outcome")[0]?.batch.map(({ id }) => id)).toEqual(["first", "x", "y"]);
    expect(rig.acked()).toEqual(["z"]);
    rig.wait(500);
    expect(rig.batches()).toEqual([["first"], ["z"]]);
  });

  test.each([
    ["summarize", ["m3"], "queue-cap-summarized"],
    ["old", ["m3"], "queue-cap-old"],
    ["new", ["m5"], "queue-cap-new"],
  ] as const)("a full line (%s) names what it drops", (drop, gone, why) => {
    const rig = engaged({ settings: { queue: { mode: "queue", cap: 2, drop } } });
    for (const text of ["one", "two", "three"]) {
      rig.say("ann", text);
      rig.wait(600);
    }
    expect(rig.of("dropped").map(({ message }) => message.id)).toEqual(gone);
    expect(rig.of("dropped")[0]?.why).toBe(why);
    expect(rig.acked()).not.toContain(gone[0]);
    rig.reply();
    const notes = drop === "summarize" ? ["ann: one"] : [];
    expect(rig.runs.at(-1)?.droppedWhileBusy).toEqual(notes);
  });
});

describe("what the room sees", () => {
  test("in a group the first block replies and the next do not; in a direct chat none does", () => {
    const rig = engaged();
    rig.answer("one");
    rig.answer("two");
    expect(rig.of("block").map(({ replyTo }) => replyTo)).toEqual(["first", null]);
    const dm = new Rig({ chat: direct });
    dm.say("ann", "hi");
    dm.wait(500);
    dm.answer("hello");
    expect(dm.of("block").map(({ replyTo }) => replyTo)).toEqual([null]);
  });

  test("others spoke in between: the answer shows what it answers", () => {
    const rig = engaged();
    rig.say("bob", "by the way");
    rig.answer("yes");
    expect(rig.of("block").map(({ quote }) => quote)).toEqual([true]);
  });

  test("a reply by id alone to a message of someone else is aimed at them", () => {
    const rig = new Rig();
    rig.say("bob", "shall we?", { id: "b1" });
    rig.say("ann", "earshot", { to: "us" });
    rig.wait(500);
    rig.answer("yes");
    rig.end();
    rig.sent();
    expect(rig.say("ann", "let's", { replyTo: { id: "b1" } })).toBe("addressed-elsewhere");
    expect(rig.say("cy", "me too", { replyTo: { id: "b1" } })).toBe("reply-to-other");
    // It is remembered with the conversation.
    const { settings } = rig;
    rig.conversation = createConversation({
      key: "rig",
      settings,
      record: rig.conversation.record(),
    });
    expect(rig.say("ann", "let's", { replyTo: { id: "b1" } })).toBe("addressed-elsewhere");
    expect(rig.say("ann", "well?", { replyTo: { id: "T1-0" } })).toBe("reply");
    expect(rig.say("ann", "and you", { replyTo: { id: "unknown" } })).toBe("sticky");
  });

  test("replies by id alone are known for messages of a history, too", () => {
    const rig = new Rig();
    const past = [rig.message("bob", "x", { id: "b1" }).message];
    const ours = rig.message("we", "y", { id: "o1" }).message;
    const own = { ...ours, author: { ...ours.author, isSelf: true } };
    rig.step({ type: "history.seeded", at: 0, seq: 99, messages: [...past, own] });
    expect(rig.say("ann", "sure", { replyTo: { id: "b1" } })).toBe("reply-to-other");
    expect(rig.say("ann", "sure", { replyTo: { id: "o1" } })).toBe("reply");
  });

  test("nobody else spoke, though history was read: no quote", () => {
    const rig = new Rig();
    rig.step({
      type: "history.seeded",
      at: 0,
      seq: 99,
      messages: [rig.message("bob", "x").message],
    });
    rig.say("ann", "earshot", { to: "us" });
    rig.say("ann", "are you there");
    rig.wait(500);
    rig.answer("yes");
    expect(rig.of("block").map(({ quote }) => quote)).toEqual([false]);
  });

  test("typing waits for the first visible word where nobody called us", () => {
    const rig = new Rig();
    rig.say("bob", "morning");
    rig.say("ann", "has earshot seen this");
    rig.wait(500);
    expect(rig.typing()).toBe(false);
    rig.step({ type: "agent.spoke", at: rig.now, turnId: rig.turnId, what: "reasoning" });
    expect(rig.typing()).toBe(false);
    rig.step({ type: "agent.spoke", at: rig.now, turnId: rig.turnId, what: "text" });
    expect(rig.typing()).toBe(true);
    rig.answer("yes");
    rig.end();
    expect(rig.typing()).toBe(true);
    rig.sent();
    expect(rig.typing()).toBe(false);
  });

  test("skip refuses what is said after it and takes typing off", () => {
    const rig = engaged();
    expect(rig.typing()).toBe(true);
    rig.step({ type: "skip", at: rig.now, turnId: rig.turnId });
    expect(rig.conversation.view().lock).toBe("silenced");
    expect(rig.answer("I will be quiet")).toEqual([]);
    expect(rig.typing()).toBe(false);
    rig.step({ type: "agent.spoke", at: rig.now, turnId: rig.turnId, what: "text" });
    expect(rig.typing()).toBe(false);
    rig.end();
    expect(rig.outcomes()).toEqual(["T1 silent"]);
  });

  test("a stop refuses what is said after it, and what waits still gets its turn", () => {
    const rig = engaged();
    rig.say("bob", "earshot too", { to: "us", id: "next" });
    rig.step({ type: "run.aborted", at: rig.now, by: "ann" });
    rig.step({ type: "run.aborted", at: rig.now, by: "ann" });
    expect(rig.of("turn.abort")).toHaveLength(1);
    expect(rig.answer("but")).toEqual([]);
    rig.end();
    expect(rig.outcomes()).toEqual(["T1 cancelled"]);
    rig.wait(1_000);
    expect(rig.batches()).toEqual([["first"], ["next"]]);
  });
});
