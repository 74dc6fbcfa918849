/** What an operator could allow for a refused message, and what is kept of messages with a claim code. */
import { describe, expect, test } from "vitest";
import { type EarshotConfigInput, parseConfig } from "../../../src/domain/config/index.ts";
import { type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import type { ChannelEvent } from "../../../src/domain/ports/index.ts";
import { newClaimCode, redactedClaim, withoutClaims } from "../../../src/machines/access/codes.ts";
import { redactClaimCode, redactClaimCodes } from "../../../src/machines/access/redact-claims.ts";
import { remedyFor } from "../../../src/machines/access/remedy.ts";

const place = { channel: "telegram", account: "default", thread: null };
const group = { id: "-1", kind: "group" as const };
const message = (given: Partial<InboundInput> = {}) =>
  inboundSchema.parse({ ...place, chat: group, id: "m", author: { id: "7" }, ...given });

describe("what would admit a refused message", () => {
  const chat = { id: "7", kind: "direct" as const };
  const remedy = (access: EarshotConfigInput["access"], given: Partial<InboundInput> = {}) =>
    remedyFor(message(given), parseConfig({ access }), { local: false });
  const rooms = (over: object) => ({ "telegram:-1": over });

  test("in a direct chat: the person, where there is a list and no code", () => {
    expect(remedy({ dmPolicy: "allowlist" }, { chat })).toBe("person");
    for (const dmPolicy of ["pairing", "disabled", "open"] as const)
      expect(remedy({ dmPolicy }, { chat }), dmPolicy).toBeNull();
    expect(remedy({ dmPolicy: "allowlist", allowFrom: ["telegram:7"] }, { chat })).toBeNull();
  });

  test("in a group: the group, or the person in a listed one, unless the config means it", () => {
    expect(remedy({ groupPolicy: "allowlist" })).toBe("group");
    expect(remedy({ groupPolicy: "disabled" })).toBeNull();
    expect(remedy({ groupPolicy: "disabled", groups: rooms({}) })).toBeNull();
    expect(remedy({ groupPolicy: "open" })).toBeNull();
    const one = ["telegram:1"];
    expect(remedy({ groups: rooms({}), groupAllowFrom: one })).toBe("person");
    expect(remedy({ groups: rooms({ allowFrom: one }) })).toBeNull();
    expect(remedy({ groups: rooms({ enabled: false }) })).toBeNull();
  });
});

describe("a claim code", () => {
  const code = newClaimCode(() => 0.5);
  const said = `it is ${code}, thanks`;
  const kept = withoutClaims(said);

  test("is not in the text it was said in", () => {
    expect(kept).not.toContain(code);
    expect(kept).not.toBe(said);
    expect(redactClaimCode({ ...message({ text: said }), verbatim: [[0, 3]] })).toEqual(
      message({ text: redactedClaim }),
    );
  });

  test("is redacted in messages, what they reply to and quote, edits, reactions and histories", () => {
    const replyTo = { id: "m0", text: said };
    const full = message({ text: said, replyTo, quote: { text: said } });
    const clean = message({
      text: kept,
      replyTo: { ...replyTo, text: kept },
      quote: { text: kept },
    });
    const redacted = (event: unknown) => redactClaimCodes(event as ChannelEvent);
    expect(redacted({ type: "message", message: full })).toEqual({
      type: "message",
      message: clean,
    });
    for (const one of [{ replyTo }, { quote: { text: said } }, { text: said }]) {
      const { message: result } = redacted({ type: "message", message: message(one) }) as {
        message: unknown;
      };
      expect(JSON.stringify(result)).not.toContain(code);
      expect(result).not.toHaveProperty("quote", undefined);
    }
    const history = { ...place, chat: group, messages: [full] };
    expect(redacted({ type: "history", history })).toEqual({
      type: "history",
      history: { ...history, messages: [clean] },
    });
    const edit = { ...place, chat: group, id: "m", text: said };
    expect(redacted({ type: "edit", edit })).toEqual({
      type: "edit",
      edit: { ...edit, text: kept },
    });
    const reaction = { ...place, chat: group, emoji: "x", text: said };
    expect(redacted({ type: "reaction", reaction })).toEqual({
      type: "reaction",
      reaction: { ...reaction, text: kept },
    });
  });

  test("that is not there changes nothing, not even the object", () => {
    for (const one of [{}, { replyTo: { id: "m0" } }, { quote: { text: "hm" } }]) {
      const plain = message({ text: "hello", ...one });
      const event = redactClaimCodes({ type: "message", message: plain });
      expect(event.type === "message" && event.message === plain).toBe(true);
    }
    const reaction = { ...place, emoji: "x" };
    const reacted = { type: "reaction", reaction } as unknown as ChannelEvent;
    expect((redactClaimCodes(reacted) as unknown as { reaction: object }).reaction).toBe(reaction);
    const other = { type: "delete" } as unknown as ChannelEvent;
    expect(redactClaimCodes(other)).toBe(other);
  });
});
