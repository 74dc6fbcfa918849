/** The path of a turn through the chart: batches, turn slots, outcomes. */
import { describe, expect, test } from "vitest";
import { direct, engaged } from "../../support/machines/engaged.ts";
import { Rig } from "../../support/runtime/conversation-rig.ts";

describe("batches and turns", () => {
  test("A and B become one turn that replies to B, C becomes the next", () => {
    const rig = new Rig({ chat: direct, settings: { queue: { mode: "queue" } } });
    rig.say("ann", "A", { id: "A" });
    rig.wait(50);
    rig.say("ann", "B", { id: "B" });
    expect(rig.acked()).toEqual(["A", "B"]);
    rig.wait(500);
    rig.say("ann", "C", { id: "C" });
    rig.wait(500);
    expect(rig.acked()).toEqual(["A", "B", "C"]);
    expect(rig.runs.map(({ t, replyTo }) => [t, replyTo])).toEqual([[550, "B"]]);
    rig.reply();
    expect(rig.acked()).toEqual(["C"]);
    expect(rig.typing()).toBe(true);
    expect(rig.batches()).toEqual([["A", "B"], ["C"]]);
    rig.reply();
    expect(rig.acked()).toEqual([]);
    expect(rig.typing()).toBe(false);
    expect(rig.outcomes()).toEqual(["T1 replied", "T2 replied"]);
  });

  test("the k-th flush is the k-th turn, however late slots come", () => {
    const rig = new Rig({ chat: direct, holdSlots: true, settings: { queue: { mode: "queue" } } });
    const said: string[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      said.push(`line ${turn}`);
      rig.say("ann", "hello", { id: `line ${turn}` });
      rig.wait(501);
    }
    for (let turn = 0; turn < 8; turn += 1) {
      rig.grant();
      rig.reply();
    }
    expect(rig.batches().flat()).toEqual(said);
    expect(rig.runs.map(({ replyTo }) => replyTo)).toEqual(said);
  });

  test("two people who talk at once get a batch each, in the order they began", () => {
    const rig = new Rig({ settings: { queue: { mode: "queue" } } });
    rig.say("ann", "earshot", { to: "us", id: "a1" });
    rig.wait(100);
    rig.say("bob", "earshot", { to: "us", id: "b1" });
    rig.wait(300);
    rig.say("ann", "one more thing", { id: "a2" });
    rig.wait(499);
    expect(rig.runs).toEqual([]);
    rig.wait(1);
    rig.reply();
    rig.reply();
    expect(rig.batches()).toEqual([["a1", "a2"], ["b1"]]);
  });

  test("media goes by itself, after what was said before it", () => {
    const rig = new Rig({ chat: direct, settings: { queue: { mode: "queue" } } });
    rig.say("ann", "look", { id: "text" });
    const attachments = [{ id: "x", kind: "image" as const }];
    rig.say("ann", "", { id: "photo", attachments });
    expect(rig.batches()).toEqual([["text"]]);
    rig.reply();
    expect(rig.batches()).toEqual([["text"], ["photo"]]);
  });

  test("an album is one batch and a text after it is another", () => {
    const rig = new Rig({ chat: direct, settings: { queue: { mode: "queue" } } });
    const attachments = [{ id: "x", kind: "image" as const }];
    rig.say("ann", "", { id: "p1", attachments, groupId: "album" });
    rig.wait(200);
    rig.say("ann", "", { id: "p2", attachments, groupId: "album" });
    rig.say("ann", "nice, no?", { id: "text" });
    rig.wait(500);
    rig.reply();
    expect(rig.batches()).toEqual([["p1", "p2"], ["text"]]);
  });

  test("the reply goes where the question was, though the talk has moved on", () => {
    const rig = new Rig();
    const topic = (id: string) => ({ thread: { id, kind: "topic" as const }, to: "us" as const });
    rig.say("ann", "here", topic("one"));
    rig.wait(500);
    rig.say("ann", "and there", topic("two"));
    rig.answer("for one");
    expect(rig.of("block").map(({ route }) => route.thread?.id)).toEqual(["one"]);
    rig.end();
    rig.sent();
    rig.wait(1_000);
    rig.answer("for two");
    expect(rig.of("block").map(({ route }) => route.thread?.id)).toEqual(["one", "two"]);
  });

  test("an edit rewrites what waits, a deletion takes it away, neither decides again", () => {
    const rig = new Rig({ chat: direct });
    rig.say("ann", "helo", { id: "a" });
    rig.say("ann", "secret", { id: "b" });
    const seq = rig.edit("a", "hello");
    expect(rig.acked()).toEqual(["a", "b"]);
    rig.remove("b");
    expect(rig.acked()).toEqual(["a"]);
    rig.wait(500);
    expect(rig.runs[0]?.batch).toEqual([{ seq: 1, id: "a", editSeq: seq }]);
    expect(rig.of("decided")).toHaveLength(2);
    expect(rig.of("dropped").map(({ message, why }) => [message.id, why])).toEqual([
      ["b", "deleted"],
    ]);
    rig.remove("a");
    rig.reply();
    expect(rig.outcomes()).toEqual(["T1 replied"]);
  });

  test("a turn learns how many people are here from the member list, not by who has spoken", () => {
    const rig = new Rig();
    rig.step({
      type: "membership.read",
      at: rig.now,
      membership: { humans: 7, bots: 1, truncated: false, fetchedAt: rig.now },
    });
    rig.say("ann", "hello", { to: "us" });
    rig.wait(500);
    expect(rig.runs.map(({ humans, participants }) => [humans, participants])).toEqual([
      [7, ["ann"]],
    ]);
  });

  test("deleting all that waits gives the slot back and ends the attention", () => {
    const rig = new Rig({ chat: direct, holdSlots: true });
    rig.say("ann", "oops", { id: "a" });
    rig.wait(500);
    expect(rig.attention).toBe("engaged.waiting");
    rig.remove("a");
    expect(rig.attention).toBe("observing");
    expect(rig.acked()).toEqual([]);
    expect(rig.of("lane.release")).toHaveLength(1);
    rig.grant();
    expect(rig.runs).toEqual([]);
    expect(rig.of("lane.release")).toHaveLength(2);
  });
});

describe("a turn has exactly one outcome", () => {
  test("an answer is replied, no answer is silent, an error is failed, a stop is cancelled", () => {
    const rig = new Rig({ chat: direct, settings: { notifyRoom: "never" } });
    const turn = (end: () => void) => {
      rig.say("ann", "hi");
      rig.wait(500);
      end();
    };
    turn(() => rig.reply());
    turn(() => rig.end(true));
    turn(() => rig.fail());
    turn(() => {
      rig.step({ type: "run.aborted", at: rig.now, by: "ann" });
      rig.fail("aborted");
    });
    expect(rig.outcomes()).toEqual(["T1 replied", "T2 silent", "T3 failed", "T4 cancelled"]);
    expect(rig.runs.map(({ afterAbort }) => afterAbort)).toEqual([false, false, false, false]);
    turn(() => rig.end());
    expect(rig.runs.at(-1)?.afterAbort).toBe(true);
  });

  test("a lost host is tried three times with the same order, then it fails", () => {
    const rig = engaged();
    rig.fail("host-lost");
    rig.step({ type: "host.recovered", at: rig.now });
    const [first, second, third] = rig.runs;
    expect([first, second, third].map((run) => run?.attempt)).toEqual([1, 2, 3]);
    expect({ ...second, attempt: 1, t: 0 }).toEqual({ ...first, t: 0 });
    rig.fail("host-lost");
    expect(rig.runs).toHaveLength(3);
    expect(rig.outcomes()).toEqual(["T1 failed"]);
    expect(rig.attention).toBe("observing");
  });

  test("a turn that has spoken is not tried again: nothing is said twice", () => {
    const rig = engaged();
    rig.answer("hel");
    rig.step({ type: "host.recovered", at: rig.now });
    expect(rig.runs).toHaveLength(1);
    expect(rig.outcomes()).toEqual([]);
    expect(rig.attention).toBe("engaged.settling");
    rig.sent();
    expect(rig.outcomes()).toEqual(["T1 failed"]);
    expect(rig.attention).toBe("observing");
  });

  test("what waited too long expires without a run, and the next one runs", () => {
    const rig = new Rig({ chat: direct, holdSlots: true, settings: { queue: { mode: "queue" } } });
    rig.say("ann", "old", { id: "old" });
    rig.wait(900_000);
    rig.say("ann", "new", { id: "new" });
    rig.wait(501);
    rig.grant();
    expect(rig.outcomes()).toEqual(["T1 expired"]);
    expect(rig.wantsSlot).toBe(true);
    rig.grant();
    expect(rig.batches()).toEqual([["new"]]);
    expect(rig.acked()).toEqual(["new"]);
  });

  test("exactly at the age limit it is still answered", () => {
    const rig = new Rig({ chat: direct, holdSlots: true });
    rig.say("ann", "hi");
    rig.wait(900_000);
    rig.grant();
    expect(rig.runs).toHaveLength(1);
  });

  test("events of an earlier turn come late and change nothing", () => {
    const rig = engaged();
    rig.reply();
    rig.say("ann", "and?", { to: "us" });
    rig.wait(500);
    const before = rig.conversation.record();
    const at = rig.now;
    const turnId = "T1";
    const said = { index: 0, from: 0, to: 4, text: "late", mentions: [] };
    const late = [
      { type: "agent.text", at, turnId, ...said },
      { type: "agent.ended", at, turnId, silent: false },
      { type: "agent.failed", at, turnId, code: "error", message: "late" },
      { type: "agent.spoke", at, turnId, what: "text" },
      { type: "skip", at, turnId },
      { type: "delivery.failed", at, turnId, index: 0, status: "dead" },
      { type: "deadline.due", at, id: "flush" },
      { type: "deadline.due", at, id: "quiet" },
    ] as const;
    for (const event of late) expect(rig.step(event)).toEqual([]);
    expect(rig.conversation.record()).toBe(before);
  });

  test("the same block twice is sent once; two equal blocks are two", () => {
    const rig = engaged();
    rig.answer("same");
    rig.answer("same", { index: 0, from: 0 });
    rig.answer("same");
    expect(rig.of("block").map(({ index, text }) => [index, text])).toEqual([
      [0, "same"],
      [1, "same"],
    ]);
  });

  test("a failure is reported in a direct chat, plainly, and not in a group", () => {
    const rig = new Rig({ chat: direct });
    rig.say("ann", "hi");
    rig.wait(500);
    rig.answer("well");
    rig.fail();
    const notice = rig.of("block").at(-1);
    expect([notice?.kind, notice?.index]).toEqual(["notice", 1]);
    expect(notice?.text).not.toContain("boom");
    rig.sent(0);
    rig.sent(1);
    expect(rig.attention).toBe("observing");
    const group = engaged();
    group.fail();
    expect(group.of("block")).toEqual([]);
  });
});
