/** Facts come from the platform's structure; what it did not report stays unknown. */
import { describe, expect, test } from "vitest";
import { type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import { ownWords, type SignalFacts, signalsOf } from "../../../src/machines/engagement/signals.ts";
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
