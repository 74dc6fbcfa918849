/** Facts come from the platform's structure; what it did not report stays unknown. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import { ownWords, type SignalFacts, signalsOf } from "../../../src/machines/engagement/signals.ts";
import { inboundInputs } from "../../../src/testing/arbitraries.ts";
import { property } from "../../support/property.ts";
import { growthOver16, linearMax } from "../../support/runtime/growth.ts";

const signals = (over: Partial<InboundInput>, facts: Partial<SignalFacts> = {}) =>
  signalsOf(
    inboundSchema.parse({
      channel: "telegram",
      chat: { id: "g", kind: "group" },
      id: "m1",
      author: { id: "u1" },
      text: "hi",
      ...over,
    }),
    { ownMessages: [], everyoneMentions: false, ...facts },
  );

describe("places", () => {
  test("a thread, a direct chat and a broadcast channel are what the platform says they are", () => {
    const plain = { inThread: false, isDirect: false, inBroadcast: false };
    expect(signals({})).toMatchObject(plain);
    expect(signals({ thread: { id: "t" } })).toMatchObject({ ...plain, inThread: true });
    const chat = (kind: "direct" | "channel") => signals({ chat: { id: "c", kind } });
    expect(chat("direct")).toMatchObject({ ...plain, isDirect: true });
    expect(chat("channel")).toMatchObject({ ...plain, inBroadcast: true });
  });
});

describe("mentions", () => {
  test("one of us among others is a mention of us, and of nobody else", () => {
    const mentions = [{ id: "u2" }, { id: "self", isSelf: true }];
    expect(signals({ mentions })).toMatchObject({ mentionsSelf: true, mentionsOthers: false });
    expect(signals({ mentions: [{ id: "u2" }] })).toMatchObject({
      mentionsSelf: false,
      mentionsOthers: true,
    });
  });

  test("@everyone is neither us nor others, unless it is configured as a call", () => {
    const everyone = { mentionsEveryone: true };
    expect(signals(everyone)).toMatchObject({ mentionsSelf: false, mentionsOthers: false });
    expect(signals(everyone, { everyoneMentions: true })).toMatchObject({ mentionsSelf: true });
  });
});

describe("replies", () => {
  const to = (replyTo: InboundInput["replyTo"], own: string[] = []) => {
    const { repliesToSelf, repliesToOther } = signals({ replyTo }, { ownMessages: own });
    return repliesToSelf ? "self" : repliesToOther ? "other" : "unknown";
  };
  test("the platform's word counts, then our own ids, then the named author", () => {
    expect(to({ id: "m0", authorId: "bot", authorIsSelf: true })).toBe("self");
    expect(to({ id: "m0", authorId: "u2", authorIsSelf: false })).toBe("other");
    expect(to({ id: "m0" }, ["m0"])).toBe("self");
    expect(to({ id: "m0", authorId: "u2" })).toBe("other");
  });
  test("a reply to what an agent beside us said is a reply to somebody else, whatever the account", () => {
    const replyTo = { id: "m0", authorId: "bot", authorIsSelf: true };
    expect(signals({ replyTo }, { siblingMessages: ["m0"] })).toMatchObject({
      repliesToSelf: false,
      repliesToOther: true,
    });
    const nobody = signals({ replyTo: null });
    expect(nobody).toMatchObject({ repliesToSelf: false, repliesToOther: false });
  });
  test("a reply by id alone to a message heard here is a reply to its author", () => {
    const replies = (id: string, facts: Partial<SignalFacts>) => {
      const { repliesToSelf, repliesToOther } = signals({ replyTo: { id } }, facts);
      return { repliesToSelf, repliesToOther };
    };
    const heardMessages = ["m0"];
    expect(replies("m0", { heardMessages })).toEqual({
      repliesToSelf: false,
      repliesToOther: true,
    });
    expect(replies("m9", { heardMessages }).repliesToOther).toBe(false);
    // The platform's own report comes first.
    const own = { id: "m0", authorIsSelf: true };
    expect(signals({ replyTo: own }, { heardMessages }).repliesToSelf).toBe(true);
  });
  test("an author nobody knows is neither us nor someone else", () => {
    expect(to({ id: "m0" })).toBe("unknown");
    expect(to(null)).toBe("unknown");
  });
});

describe("what the author did not say", () => {
  test("quoted lines and links are not looked at", () => {
    expect(ownWords("> scout said so\nreally?")).toBe("really?");
    expect(ownWords("see https://x.org/scout?a=1 please")).toBe("see   please");
    expect(ownWords("see HTTPS://scout and git+ssh://scout")).toBe("see   and  ");
    expect(ownWords("a -> b, scout")).toBe("a -> b, scout");
    expect(ownWords("://scout")).toBe(" ");
  });
  test("a flood of schemes takes linear time", () => {
    const clean = (count: number) => ownWords("a.b+c://".repeat(count));
    expect(growthOver16(clean, 128)).toBeLessThan(linearMax);
  });
});

const label = fc.constantFrom("Scout", "@scout", "earshot", "Rex");
const origins = fc.record(
  {
    authorId: fc.constantFrom("self", "u2"),
    authorName: label,
    chat: fc.record({ id: fc.constantFrom("g1", "g2"), title: label }, { requiredKeys: [] }),
    messageId: fc.constantFrom("m0", "m1"),
  },
  { requiredKeys: [] },
);

property([
  inboundInputs,
  fc.record(
    { quote: fc.record({ text: label, from: origins }, { requiredKeys: [] }), title: label },
    { requiredKeys: [] },
  ),
  origins,
])("origins, quotes and topic names decide nothing", (input, { quote, title = "Soup" }, origin) => {
  const facts = { ownMessages: ["m0"], heardMessages: ["m1"] };
  const asked = (over: Partial<InboundInput>) => signals({ ...input, ...over }, facts);
  expect(asked({ quote })).toEqual(asked({}));
  expect(asked({ thread: { id: "t1", title } })).toEqual(asked({ thread: { id: "t1" } }));
  expect(asked({ forwarded: origin })).toEqual(asked({ forwarded: true }));
});

test("the text of a forwarded message is not its author's: no name in it is looked for", () => {
  const said = { text: "scout said so", author: { id: "u1" } };
  expect(signals({ ...said, forwarded: { authorName: "Cy" } })).toEqual({
    ...signals(said),
    text: "",
  });
  expect(signals({ ...said, forwarded: true }).text).toBe("");
  expect(signals({ ...said, forwarded: false }).text).toBe("scout said so");
});
