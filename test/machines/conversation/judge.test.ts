/** Lines that no rule decided: put to the judge, observed until it answers, engaged at most once. */
import { describe, expect, test } from "vitest";
import { chatOf, placed } from "../../../src/machines/batching/chats.ts";
import { Rig, type RigOptions } from "../../support/runtime/conversation-rig.ts";

const judged = { engagement: judgedBy(0.6) } as const;

function judgedBy(minConfidence: number) {
  return {
    trigger: ["dm", "mention", "reply"],
    activation: "ladder",
    aliases: ["earshot"],
    stickiness: { enabled: true, windowMs: 900_000, mode: "one-shot", holdDuringTurn: true },
    judge: { minConfidence },
  } as const;
}

const rigOf = (options: RigOptions = {}) =>
  new Rig({ ...options, settings: { ...judged, ...options.settings } });

interface Answer {
  readonly engage?: boolean;
  readonly confidence?: number;
  readonly failed?: "late" | "error" | "ill-formed";
}

const answer = (rig: Rig, id: string, { engage = true, confidence = 0.9, failed }: Answer = {}) =>
  rig.step({
    type: "judge.answered",
    at: rig.now,
    id,
    engage,
    confidence,
    why: "it asks for a table",
    ...(failed === undefined ? {} : { failed }),
  });

/** The judge answers about a line of one of several chats. */
function answerIn(rig: Rig, chat: string, id: string, engage = true) {
  const { severalChats } = rig.settings;
  const place = { channel: "test", account: "default", chat: { id: chat, kind: "group" } } as const;
  const about = placed({ id }, chatOf({ severalChats }, place));
  rig.step({ type: "judge.answered", at: rig.now, ...about, engage, confidence: 0.9, why: "" });
}

const decidedOf = (rig: Rig, id: string) =>
  rig.of("decided").filter(({ messageId }) => messageId === id);

describe("a line that nothing decides", () => {
  test("is engaged by no answer about the same id in another chat of its session", () => {
    const rig = rigOf({ settings: { severalChats: true } });
    rig.say("ann", "soup?", { id: "1", chat: { id: "room", kind: "group" } });
    rig.say("bob", "bread?", { id: "1", chat: { id: "attic", kind: "group" } });
    answerIn(rig, "cellar", "1");
    answerIn(rig, "attic", "1");
    answerIn(rig, "room", "1", false);
    rig.wait(5_000);
    expect(rig.runs).toMatchObject([{ route: { chat: { id: "attic" } }, batch: [{ seq: 2 }] }]);
    answerIn(rig, "room", "1");
    rig.wait(5_000);
    expect(rig.runs).toHaveLength(1);
  });

  test("is observed, and the judge is asked about it with what was said before", () => {
    const rig = rigOf();
    expect(rig.say("ann", "lunch?")).toBe("judge");
    expect(rig.say("bob", "who books?")).toBe("judge");
    const [, second] = rig.of("judge.ask");
    expect(second).toMatchObject({ messages: [{ id: "m1" }, { id: "m2" }] });
    expect(rig.runs).toEqual([]);
  });

  test("starts a turn when the answer is to engage, and only one", () => {
    const rig = rigOf();
    rig.say("ann", "hello");
    rig.say("bob", "can somebody book a table?", { id: "asked" });
    rig.wait(800);
    answer(rig, "asked");
    answer(rig, "asked");
    rig.wait(2_000);
    expect(rig.runs).toMatchObject([{ batch: [{ id: "asked" }], context: [{ id: "m1" }] }]);
    expect(decidedOf(rig, "asked")).toMatchObject([
      { decision: "observe", rule: "judge" },
      { decision: "engage", rule: "judge", credit: "none" },
    ]);
    rig.reply();
    answer(rig, "asked");
    rig.wait(60_000);
    expect(rig.runs).toHaveLength(1);
  });

  test("stays observed when the answer is no, unsure, or none", () => {
    const rig = rigOf();
    const no = [
      { engage: false },
      { confidence: 0.59 },
      { failed: "late" },
      { failed: "ill-formed" },
    ] as const;
    for (const [index, said] of no.entries()) {
      rig.say("bob", "hm", { id: `q${index}` });
      answer(rig, `q${index}`, said);
      // The question is closed: a second answer is none.
      answer(rig, `q${index}`);
    }
    rig.wait(60_000);
    expect(rig.runs).toEqual([]);
    expect(rig.conversation.context.buffer.entries).toHaveLength(4);
  });

  test("is not asked about where another rule decides, or a bot speaks", () => {
    const rig = rigOf();
    expect(rig.say("ann", "you there?", { to: "other" })).toBe("mentions-others");
    expect(rig.say("ann", "earshot?")).toBe("alias");
    expect(rig.say("rex", "beep", { bot: true })).toBe("default");
    expect(rig.of("judge.ask")).toEqual([]);
  });

  test("is not asked about without a judge, nor engaged by an answer that comes anyway", () => {
    const rig = new Rig();
    expect(rig.say("ann", "hello", { id: "x" })).toBe("default");
    answer(rig, "x");
    rig.wait(60_000);
    expect([rig.of("judge.ask"), rig.runs]).toEqual([[], []]);
  });
});

describe("an answer that comes too late for its line", () => {
  const late: Readonly<Record<string, (rig: Rig) => void>> = {
    "it was deleted": (rig) => rig.remove("asked"),
    "the agent was told to back off": (rig) => rig.step({ type: "disengage", at: rig.now }),
    "somebody gave a stop": (rig) => rig.step({ type: "run.aborted", at: rig.now, by: "ann" }),
    "a new session began": (rig) =>
      rig.step({ type: "session.reset", at: rig.now, sessionId: "s2" }),
    "newer lines have pushed it out": (rig) => {
      for (let line = 0; line < 20; line += 1) rig.say("cy", "hm");
    },
    "a turn was shown it": (rig) => {
      rig.say("ann", "what do you say?", { to: "us" });
      rig.wait(2_000);
      rig.reply();
    },
    "the judge was turned off": (rig) => {
      const { judge: _, ...engagement } = rig.settings.engagement;
      rig.settings = { ...rig.settings, version: 2, engagement };
      rig.step({ type: "config.changed", at: rig.now, settings: rig.settings });
    },
  };
  for (const [why, happens] of Object.entries(late))
    test(`leaves it observed: ${why}`, () => {
      const rig = rigOf();
      rig.say("bob", "can somebody book a table?", { id: "asked" });
      happens(rig);
      rig.wait(5_000);
      const before = rig.runs.length;
      answer(rig, "asked");
      rig.wait(60_000);
      expect(rig.runs).toHaveLength(before);
      expect(decidedOf(rig, "asked")).toHaveLength(1);
    });
});

describe("an engaged line", () => {
  test("is read with its edit", () => {
    const rig = rigOf();
    rig.say("bob", "book a tabel", { id: "asked" });
    const editSeq = rig.edit("asked", "book a table");
    answer(rig, "asked");
    rig.wait(2_000);
    expect(rig.runs).toMatchObject([{ batch: [{ id: "asked", editSeq }] }]);
  });

  test("joins a batch of its author in the order in which it was said", () => {
    const rig = rigOf();
    rig.say("bob", "can somebody book a table?", { id: "asked" });
    rig.say("bob", "for four", { id: "second", to: "us" });
    answer(rig, "asked");
    rig.wait(3_000);
    expect(rig.runs).toMatchObject([{ batch: [{ id: "asked" }, { id: "second" }] }]);
  });

  test("waits behind a running turn, and is answered with a quote once others have spoken", () => {
    const rig = rigOf();
    rig.say("ann", "hi", { to: "us" });
    rig.wait(2_000);
    rig.say("bob", "can somebody book a table?", { id: "asked" });
    rig.say("cy", "hm");
    answer(rig, "asked");
    rig.wait(1_000);
    expect(rig.runs).toHaveLength(1);
    rig.reply();
    rig.wait(5_000);
    rig.reply();
    expect(rig.runs).toMatchObject([{}, { batch: [{ id: "asked" }] }]);
    expect(rig.of("block").at(-1)).toMatchObject({ replyTo: "asked", quote: true });
  });

  test("goes at once where it has files, and gets the ack reaction", () => {
    const rig = rigOf();
    rig.say("bob", "look", { id: "asked", attachments: [{ id: "a", kind: "image" }] });
    answer(rig, "asked");
    expect(rig.runs).toMatchObject([{ batch: [{ id: "asked" }] }]);
    expect(rig.of("react")).toMatchObject([{ message: "asked" }]);
  });
});

test("a question survives passivation, and its answer engages the restored conversation", () => {
  const rig = rigOf();
  rig.say("bob", "can somebody book a table?", { id: "asked" });
  rig.edit("asked", "can somebody book a big table?");
  const again = rigOf({ record: rig.conversation.record() });
  expect(again.conversation.context).toEqual(rig.conversation.context);
  answer(again, "asked");
  again.wait(2_000);
  expect(again.runs).toMatchObject([{ batch: [{ id: "asked" }] }]);
});
