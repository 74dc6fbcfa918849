/** A turn and a text that nobody in the room asked for, in the chart. */
import { expect, test } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import { Rig } from "../../support/runtime/conversation-rig.ts";

const route = {
  channel: "test",
  account: "default",
  thread: null,
  chat: { id: "room", kind: "group" },
} as const;
const prompt = (rig: Rig, seq: number) =>
  rig.step({
    type: "prompt.due",
    at: rig.now,
    seq,
    id: `p${seq}`,
    route,
    text: "say when the build is red",
    by: "operator",
  });
const text = (rig: Rig) =>
  rig.step({ type: "text.due", at: rig.now, id: "t1", route, parts: ["Lunch"], replyTo: null });

test("a prompt is a turn, and one that comes meanwhile waits for its own", () => {
  const rig = new Rig();
  prompt(rig, 900);
  expect(rig.runs).toMatchObject([{ turnId: "T1", prompt: 900, batch: [], replyTo: "" }]);
  prompt(rig, 901);
  expect(rig.runs).toHaveLength(1);
  rig.reply();
  expect(rig.runs).toMatchObject([{ prompt: 900 }, { turnId: "T2", prompt: 901 }]);
});

test("people come first, and do not end it", () => {
  const rig = new Rig();
  prompt(rig, 900);
  rig.say("bob", "earshot?", { to: "us", id: "asked" });
  prompt(rig, 901);
  rig.wait(10_000);
  expect(rig.of("turn.abort")).toEqual([]);
  rig.reply();
  rig.wait(10_000);
  expect(rig.runs.at(-1)).toMatchObject({ batch: [{ id: "asked" }] });
  expect(rig.runs.at(-1)).not.toHaveProperty("prompt");
  rig.reply();
  rig.wait(10_000);
  expect(rig.runs.at(-1)).toMatchObject({ prompt: 901 });
});

test("its answer replies to nothing, and its failure is not told to the room", () => {
  const rig = new Rig();
  prompt(rig, 900);
  rig.fail("error");
  expect(rig.of("block")).toEqual([]);
  expect(rig.of("outcome")).toMatchObject([{ outcome: "failed" }]);
  prompt(rig, 901);
  rig.reply();
  expect(rig.of("block")).toMatchObject([{ replyTo: null, quote: false }]);
});

test("too many are dropped, the newest first, and each is named", () => {
  const rig = new Rig({ holdSlots: true });
  for (let seq = 1; seq <= limits.promptsOwedMax + 1; seq += 1) prompt(rig, seq);
  expect(rig.of("dropped")).toMatchObject([
    { message: { seq: limits.promptsOwedMax + 1 }, why: "queue-cap-new" },
  ]);
});

test("a text is said at once, starts no turn, and one that fails is named", () => {
  const rig = new Rig();
  text(rig);
  const [said] = rig.of("say");
  expect(said).toMatchObject({ parts: ["Lunch"], replyTo: null });
  expect(rig.runs).toEqual([]);
  const turnId = (said as { readonly turnId: string }).turnId;
  rig.step({ type: "delivery.failed", at: rig.now, turnId, index: 0, status: "dead" });
  expect(rig.of("unsaid")).toMatchObject([{ turnId, part: 0, status: "dead" }]);
});

test("a report about a text leaves the turn beside it as it is", () => {
  const rig = new Rig();
  text(rig);
  const [said] = rig.of("say");
  const turnId = (said as { readonly turnId: string }).turnId;
  prompt(rig, 900);
  const before = rig.conversation.record();
  rig.step({ type: "delivery.sent", at: rig.now, turnId, index: 0, messageIds: [] });
  expect(rig.conversation.record()).toBe(before);
  rig.reply();
  expect(rig.of("outcome")).toMatchObject([{ outcome: "replied" }]);
});
