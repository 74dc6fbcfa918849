/**
 * Reasoning in tags: what is reasoning, what is text, and that neither depends on how it arrived.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AnswerPart,
  createTagFilter,
  withoutReasoning,
} from "../../src/domain/answer-tags.ts";
import { property } from "../support/property.ts";

/** The parts of a message that arrives in pieces of the given sizes, equal neighbours joined. */
function split(message: string, sizes: readonly number[] = []): AnswerPart[] {
  const filter = createTagFilter();
  const parts: AnswerPart[] = [];
  let at = 0;
  for (let piece = 0; at < message.length; piece += 1) {
    const size = sizes.length === 0 ? message.length : (sizes[piece % sizes.length] as number);
    parts.push(...filter.push(message.slice(at, at + size)));
    at += size;
  }
  const joined: AnswerPart[] = [];
  for (const part of [...parts, ...filter.end()]) {
    const last = joined.at(-1);
    if (last?.kind !== part.kind || part.kind === "reply") joined.push(part);
    else joined[joined.length - 1] = { ...part, text: last.text + part.text };
  }
  return joined;
}

const reasoningOf = (message: string) =>
  split(message)
    .map(({ kind, text }) => (kind === "reasoning" ? text : ""))
    .join("");

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom("<think>", "</think>", "<Thinking>", "</thinking >", "< think>", "<thinker>"),
    fc.constantFrom("[[reply_to:7]]", "[[ Reply_To_Current ]]", "[[reply_to:", "]]", "[", "[["),
    fc.constantFrom("<", "</", "<th", "`", "``", "```\n", "~~~\n", "\n", "\n\n", "\\", "> ", "- "),
    fc.lorem({ maxCount: 3 }),
    fc.string({ unit: "grapheme", maxLength: 8 }),
  ),
  { maxLength: 30 },
);
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 });

property([pieces, sizes])("any split into deltas gives the same parts", (all, deltas) => {
  const message = all.join("");
  expect(split(message, deltas)).toEqual(split(message));
});

property([fc.string({ unit: "grapheme", maxLength: 80 }), sizes])(
  "an answer without tags is what it was",
  (message, deltas) => {
    fc.pre(!/<\s*\/?\s*(think|thought|antthinking)|\[\[\s*reply_to/iu.test(message));
    expect(split(message, deltas)).toEqual(message === "" ? [] : [{ kind: "text", text: message }]);
  },
);

property([fc.lorem({ maxCount: 9 }), fc.lorem({ maxCount: 9 }), sizes])(
  "nothing of the reasoning is in the text, and nothing of the answer is lost",
  (thought, answer, deltas) => {
    expect(split(`\n<think>\n${thought}\n</think>\n\n${answer}`, deltas)).toEqual([
      { kind: "reasoning", text: `\n${thought}\n` },
      { kind: "text", text: answer },
    ]);
  },
);

describe("is reasoning", () => {
  test.each([
    ["<think>a</think>Tea.", "Tea."],
    ["<THINKING>a</Thinking> Tea.", "Tea."],
    ["<thought>a</thought>\n    code()", "    code()"],
    ["Tea.\n<think>a</think>\nCake.", "Tea.\n\nCake."],
    ["<think>a</think><think>b</think>Tea.", "Tea."],
    ["<think>never closed, so there is no answer", ""],
    ["Tea. <think>never closed", "Tea. "],
    ["<think>a<think>b</think>c</think>Tea.", "Tea."],
    ["<think>the tag <think> is mine</think>Tea.", "Tea."],
    ["reasoning that began in the prompt</think>Tea.", "reasoning that began in the promptTea."],
    ["It`s here: <think>a</think>Tea.", "It`s here: Tea."],
    ["> ```\n> code\n\n<think>a</think>Tea.", "> ```\n> code\n\nTea."],
    ["```\ncode\n```\n<think>a</think>Tea.", "```\ncode\n```\nTea."],
  ])("%j", (message, text) => {
    expect(withoutReasoning(message)).toBe(text);
  });

  test("code in it does not keep it open", () => {
    expect(withoutReasoning("<think>\n```\nunclosed </think>Tea.")).toBe("Tea.");
    expect(reasoningOf("<think>\n```\nunclosed </think>Tea.")).toBe("\n```\nunclosed ");
  });
});

describe("is text", () => {
  test.each([
    "Write `<think>` before and `</think>` behind.",
    "Write `` <think>`</think> `` so.",
    "```html\n<think>a</think>\n```\nDone.",
    "~~~\n<think>\n```\n</think>\n~~~",
    "````\n```\n<think>\n````\n",
    "- ```\n  <think>\n  ```\n",
    "> ```\n> <think>a</think>\n> ```\n",
    "<thinker>, <think about it>, 1 <think",
    "I <3 it, a < b, <",
  ])("%j", (message) => {
    expect(split(message)).toEqual([{ kind: "text", text: message }]);
  });
});

describe("reply tags", () => {
  const text = (said: string): AnswerPart => ({ kind: "text", text: said });
  const reply = (id: string): AnswerPart => ({ kind: "reply", text: id });

  test.each<[string, AnswerPart[]]>([
    ["[[reply_to:41]] Yes.", [reply("41"), text("Yes.")]],
    ["[[reply_to_current]]\nYes.", [reply(""), text("Yes.")]],
    [
      "\n[[ REPLY_TO : $a:b ]]Yes.\n[[reply_to:2]] No.",
      [reply("$a:b"), text("Yes.\n"), reply("2"), text("No.")],
    ],
    [
      "<think>x [[reply_to:1]]</think>Yes.",
      [{ kind: "reasoning", text: "x [[reply_to:1]]" }, text("Yes.")],
    ],
    ["so [[reply_to:2]]", [text("so "), reply("2")]],
    ["`x` [[reply_to:2]]y", [text("`x` "), reply("2"), text("y")]],
  ])("%j", (message, parts) => {
    expect(split(message)).toEqual(parts);
    expect(split(message, [1])).toEqual(parts);
  });

  test.each([
    "```\n[[reply_to:1]]\n```",
    "Write `[[reply_to:1]]` before it.",
    "[[reply_to:]] [[reply_to]] [[reply_to:1 2]] [[reply_to:1] [reply_to:1]] [[reply_to:1\n]]",
    "[[reply_to_currents]] [[other:1]] a[0][1] [[x]](y)",
    `[[reply_to:${"1".repeat(300)}]]`,
  ])("text: %j", (message) => {
    expect(split(message)).toEqual([text(message)]);
    expect(split(message, [1])).toEqual([text(message)]);
  });

  test("are gone from a text that is taken whole", () => {
    expect(withoutReasoning("[[reply_to_current]] Yes.")).toBe("Yes.");
  });
});

test("what cannot become a tag is not held back", () => {
  const filter = createTagFilter();
  expect(filter.push("one <thi")).toEqual([{ kind: "text", text: "one " }]);
  expect(filter.push("s> two")).toEqual([{ kind: "text", text: "<this> two" }]);
  expect(filter.push("<think>a")).toEqual([{ kind: "reasoning", text: "a" }]);
});

describe("hostile messages", () => {
  const took = (message: string) => {
    const { user } = process.cpuUsage();
    split(message, [7]);
    return (process.cpuUsage().user - user) / 1_000;
  };
  test.each([
    "<",
    "[",
    "[[",
    "[[reply_to:1]]",
    "`[[reply_to:1]]",
    "[[reply_to:",
    "`<think>",
    "<think></think>",
    "`",
    "``` <think>\n",
    " ",
    "\\",
    "<think>",
  ])("%j again and again takes time in proportion", (unit) => {
    const small = Math.max(15, took(unit.repeat(20_000 / unit.length)));
    expect(took(unit.repeat(160_000 / unit.length))).toBeLessThan(small * 30);
  });
});
