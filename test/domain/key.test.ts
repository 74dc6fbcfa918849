/** Session keys: one conversation, one key, whatever a platform puts into its ids. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatSessionKey,
  hash52,
  isSessionKey,
  parseSessionKey,
  type SessionKeyParts,
} from "../../src/domain/key.ts";
import { anyCharacter, property } from "../support/property.ts";
import { rounds } from "../support/rounds.ts";

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  // Lone surrogates, separators and what looks like the grammar itself.
  fc
    .array(
      fc.constantFrom(
        ":",
        "%",
        "%3A",
        "\ud83d",
        "\udc00",
        "\0",
        " ",
        "\n",
        "\u2028",
        "a",
        "direct",
        "account",
        "thread",
        "group",
        "global",
        "main",
        "default",
        "é",
        "e\u0301",
      ),
      { maxLength: 6 },
    )
    .map((all) => all.join("")),
);
const thread = fc.option(
  fc.record({ kind: fc.constantFrom("thread" as const, "topic" as const), id: anyText }),
);
const common = { agentId: anyText, thread };
const parts: fc.Arbitrary<SessionKeyParts> = fc.oneof(
  fc.record({ ...common, kind: fc.constant("main" as const), mainKey: anyText }),
  fc.record({ ...common, kind: fc.constant("per-peer" as const), peer: anyText }),
  fc.record({
    ...common,
    kind: fc.constant("per-channel-peer" as const),
    channel: anyText,
    account: anyText,
    peer: anyText,
  }),
  fc.record({
    ...common,
    kind: fc.constant("per-account-channel-peer" as const),
    channel: anyText,
    account: anyText,
    peer: anyText,
  }),
  fc.record({
    ...common,
    kind: fc.constantFrom("group" as const, "channel" as const),
    channel: anyText,
    account: anyText,
    id: anyText,
  }),
);

describe("formatting and parsing", () => {
  test("every case of the table reads as documented", () => {
    const none = { agentId: "main", thread: null };
    const at = { channel: "telegram", account: "default" };
    const topic = { kind: "topic", id: "42" } as const;
    const cases: readonly (readonly [SessionKeyParts, string])[] = [
      [{ ...none, kind: "main", mainKey: "main" }, "agent:main:main"],
      [{ ...none, kind: "main", mainKey: "global" }, "agent:main:global"],
      [{ ...none, kind: "per-peer", peer: "7" }, "agent:main:direct:7"],
      [{ ...none, ...at, kind: "per-channel-peer", peer: "7" }, "agent:main:telegram:direct:7"],
      [
        { ...none, ...at, account: "work", kind: "per-channel-peer", peer: "7" },
        "agent:main:telegram:account:work:direct:7",
      ],
      [
        { ...none, ...at, kind: "per-account-channel-peer", peer: "7" },
        "agent:main:telegram:default:direct:7",
      ],
      [{ ...none, ...at, kind: "group", id: "-100" }, "agent:main:telegram:group:-100"],
      [{ ...none, ...at, kind: "channel", id: "C1" }, "agent:main:telegram:channel:C1"],
      [
        { ...none, ...at, account: "work", kind: "group", id: "-100" },
        "agent:main:telegram:account:work:group:-100",
      ],
      [
        { ...none, ...at, kind: "group", id: "-100", thread: topic },
        "agent:main:telegram:group:-100:topic:42",
      ],
      [
        {
          ...none,
          channel: "matrix",
          account: "default",
          kind: "channel",
          id: "!r:x.org",
          thread: { kind: "thread", id: "a b" },
        },
        "agent:main:matrix:channel:!r%3Ax.org:thread:a%20b",
      ],
    ];
    for (const [given, key] of cases) {
      expect(formatSessionKey(given)).toBe(key);
      expect(parseSessionKey(key)).toEqual(given);
    }
  });

  property([parts], { numRuns: rounds(200, 2_000) })(
    "parts come back as they were, whatever they hold",
    (given) => {
      expect(parseSessionKey(formatSessionKey(given))).toEqual(given);
    },
  );

  property([parts, parts], { numRuns: rounds(200, 2_000) })(
    "different parts have different keys",
    (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      expect(formatSessionKey(one) === formatSessionKey(other)).toBe(same);
    },
  );

  property([parts])(
    "a key has no whitespace, no control character and no lone surrogate",
    (given) => {
      expect(formatSessionKey(given)).not.toMatch(/[\s\p{Cc}\p{Cs}]/u);
    },
  );

  property([
    fc.oneof(
      anyText,
      parts.map(formatSessionKey),
      anyText.map((text) => `agent:a:${text}`),
    ),
  ])("a text is either exactly how a key is written, or refused", (text) => {
    if (isSessionKey(text)) expect(formatSessionKey(parseSessionKey(text))).toBe(text);
    else expect(() => parseSessionKey(text)).toThrow(/Cannot read a session key/u);
  });

  test("A21: twins by case, normal form, encoding or prototype stay distinct", () => {
    const ids = [
      "a",
      "A",
      "é",
      "e\u0301",
      ":",
      "%3A",
      "%",
      "/",
      "..",
      "\0",
      "__proto__",
      "constructor",
      " a",
      "a ",
      "0123",
      "123",
      "a".repeat(10_000),
      "\ud83d",
      "\ufffd",
      "．",
      ".",
    ];
    const key = (id: string) =>
      formatSessionKey({
        agentId: "m",
        kind: "group",
        channel: "x",
        account: "default",
        id,
        thread: null,
      });
    expect(new Set(ids.map(key)).size).toBe(ids.length);
  });

  test("other ways of writing the same key are refused", () => {
    for (const key of [
      "agent:main",
      "main",
      "AGENT:main:main",
      "agent:main:tele%67ram:group:1",
      "agent:main:telegram:group:a%3a",
      "agent:main:telegram:account:default:group:1",
      "agent:main:telegram:group:1:topic",
      "agent:main:telegram:room:1",
      "agent:main:a b",
      "agent:main:%C0%80",
      "agent:main:%",
      "",
    ])
      expect(isSessionKey(key)).toBe(false);
  });
});

describe("hashes", () => {
  property([fc.string({ maxLength: 60 })])("hash52 is an integer of at most 52 bits", (text) => {
    const hash = hash52(text);
    expect(Number.isSafeInteger(hash) && hash >= 0 && hash < 2 ** 52).toBe(true);
    expect(hash52(text)).toBe(hash);
  });

  const names = rounds(40_000, 200_000);
  test(`hash52 keeps ${5 * names} near neighbours apart`, () => {
    const seen = new Set<number>();
    for (let n = 0; n < names; n += 1)
      for (const text of [
        `${n}`,
        `${n}:a`,
        `a:${n}`,
        `agent:main:telegram:group:-100${n}`,
        `\u0000${n}`,
      ])
        seen.add(hash52(text));
    expect(seen.size).toBe(5 * names);
  });

  test("every bit of hash52 depends on every unit", () => {
    const base = "agent:main:telegram:group:-100123";
    const changed = Array<number>(52).fill(0);
    let tries = 0;
    for (let at = 0; at < base.length; at += 1)
      for (let bit = 0; bit < 7; bit += 1) {
        const other =
          base.slice(0, at) +
          String.fromCharCode(base.charCodeAt(at) ^ (1 << bit)) +
          base.slice(at + 1);
        const difference = BigInt(hash52(base)) ^ BigInt(hash52(other));
        for (let index = 0; index < 52; index += 1)
          if ((difference >> BigInt(index)) & 1n) changed[index] = (changed[index] as number) + 1;
        tries += 1;
      }
    for (const count of changed) {
      expect(count / tries).toBeGreaterThan(0.3);
      expect(count / tries).toBeLessThan(0.7);
    }
  });
});
