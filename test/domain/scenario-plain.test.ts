/** Messages recognised by hand come out as their schema would have made them, or not at all. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inboundSchema } from "../../src/domain/message.ts";
import { plainInbound } from "../../src/domain/scenario/plain-text.ts";
import { rounds } from "../support/rounds.ts";

const id = fc.oneof(
  { weight: 9, arbitrary: fc.string({ minLength: 1, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>("", 5, null, undefined) },
);
const flag = fc.oneof({ weight: 9, arbitrary: fc.boolean() }, fc.constant<unknown>("yes"));
const label = fc.constantFrom<unknown>("Ann", "", "x".repeat(5_000), 7);
/** As JSON makes them: with a prototype. */
const record = (fields: Record<string, fc.Arbitrary<unknown>>, required: string[]) =>
  fc.record(fields, { requiredKeys: required, noNullPrototype: true });
const message = record(
  {
    channel: id,
    account: id,
    chat: record({ id, kind: fc.constantFrom("group", "direct", "channel", "room") }, [
      "id",
      "kind",
    ]),
    thread: fc.constantFrom<unknown>(null, { id: "t1" }, undefined),
    id,
    author: record({ id, name: label, username: label, isBot: flag, isSelf: flag }, ["id"]),
    text: fc.constantFrom<unknown>("hello", "", 3),
    mentions: fc.array(record({ id, name: label, isSelf: flag }, ["id"]), { maxLength: 2 }),
    mentionsEveryone: flag,
    replyTo: fc.oneof(
      fc.constantFrom<unknown>(null, undefined, "m1"),
      record({ id, authorId: id, authorName: label, authorIsSelf: flag }, ["id"]),
    ),
    attachments: fc.constantFrom<unknown>([], [{ id: "a", kind: "image" }], null),
    groupId: id,
    explicitOnly: flag,
    sentAt: fc.constantFrom<unknown>(0, 5, -1, 1.5, 1e18),
    surprise: fc.constant<unknown>(1),
  },
  ["channel", "chat", "id", "author"],
);

describe("plainInbound()", () => {
  test("is the schema's answer, or leaves it to the schema", () => {
    fc.assert(
      fc.property(message, (given) => {
        const plain = plainInbound(given);
        if (plain === null) return;
        const parsed = inboundSchema.safeParse(given);
        expect(parsed.success).toBe(true);
        expect(plain).toStrictEqual(parsed.data);
      }),
      { numRuns: rounds(200, 2_000) },
    );
  });

  test("takes the usual message, so that one that never does fails too", () => {
    const usual = {
      channel: "irc",
      chat: { id: "#a", kind: "group" },
      id: "m1",
      author: { id: "u" },
    };
    expect(plainInbound(usual)).toStrictEqual(inboundSchema.parse(usual));
  });

  test.each([
    ["an unknown field", { surprise: 1 }],
    ["a prototype as a field", JSON.parse('{"__proto__":{"text":"x"}}') as object],
    ["a thread", { thread: { id: "t" } }],
  ])("leaves %s to the schema", (_, more) => {
    const usual = {
      channel: "irc",
      chat: { id: "#a", kind: "group" },
      id: "m1",
      author: { id: "u" },
    };
    const given = Object.defineProperties({ ...usual }, Object.getOwnPropertyDescriptors(more));
    expect(plainInbound(given)).toBeNull();
  });
});
