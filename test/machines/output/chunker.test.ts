/**
 * The chunker: what may be sent as one message, and that nothing of an answer is lost on the way.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Block,
  type ChunkerOptions,
  createChunker,
} from "../../../src/machines/output/chunker.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";

/** Feeds a text in pieces of the given sizes (the last one repeated). */
function chunk(text: string, options: ChunkerOptions, sizes: readonly number[] = []): Block[] {
  const chunker = createChunker(options);
  const blocks: Block[] = [];
  let at = 0;
  for (let turn = 0; at < text.length; turn += 1) {
    const size = sizes.length === 0 ? text.length : (sizes[Math.min(turn, sizes.length - 1)] ?? 1);
    blocks.push(...chunker.push(text.slice(at, at + size)));
    at += size;
  }
  return [...blocks, ...chunker.flush()];
}

/** The source that blocks cover, without what fences added. */
const sources = (blocks: readonly Block[]): string[] =>
  blocks.map(({ text, opens, closes }) => text.slice(opens.length, text.length - closes.length));

const lines = (...all: string[]): string => all.join("\n");
const words = (count: number, word = "word"): string => Array(count).fill(word).join(" ");

/** Text made to trip: fences, breaks of every kind, wide and combining characters, long runs. */
const pieces = fc.oneof(
  { weight: 8, arbitrary: fc.lorem({ maxCount: 12 }) },
  { weight: 3, arbitrary: fc.constantFrom("\n", "\n\n", " ", "\r\n", "\n\n\n   ", "\t") },
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      "\n```\n",
      "\n```ts\n",
      '\n   ```ts title="a b"\n',
      "\n````\n",
      "\n~~~\n",
      "\n~~~~ md\n",
      "\n```python ```\n",
      "```",
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom("。", "你好。", "「そう。」", "! ", '." ', "？！") },
  { weight: 2, arbitrary: fc.constantFrom("👨‍👩‍👧‍👦", "🇩🇪", "é", "न्द्र", "😀", "\ud83d") },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 60 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("a", "`", "=", " ", "\n", "x\n"), fc.nat(300))
      .map(([unit, count]) => unit.repeat(count)),
  },
);
const texts = fc.array(pieces, { maxLength: 60 }).map((all) => all.join(""));
const options = fc
  .record({
    maxChars: fc.integer({ min: 16, max: 400 }),
    share: fc.double({ min: 0.01, max: 0.9, noNaN: true }),
    prefer: fc.constantFrom("paragraph" as const, "newline" as const, "sentence" as const),
  })
  .map(({ maxChars, share, prefer }) => ({
    maxChars,
    minChars: Math.max(1, Math.floor(maxChars * share)),
    prefer,
  }));
const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 40 });

describe("whatever the text", () => {
  property([texts, options, sizes])(
    "any split into deltas gives the same blocks",
    (text, given, deltas) => {
      expect(chunk(text, given, deltas)).toEqual(chunk(text, given));
    },
  );

  property([texts, options])(
    "a block is its place in the source, and no more than maxChars",
    (text, given) => {
      for (const { text: whole, from, to, opens, closes } of chunk(text, given)) {
        expect(whole).toBe(opens + text.slice(from, to) + closes);
        expect(whole.length).toBeLessThanOrEqual(given.maxChars);
        expect(text.slice(from, to).trim()).not.toBe("");
      }
    },
  );

  property([texts, options])(
    "nothing is lost but whitespace that would be alone",
    (text, given) => {
      let at = 0;
      for (const { from, to } of chunk(text, given)) {
        expect(from).toBeGreaterThanOrEqual(at);
        expect(text.slice(at, from).trim()).toBe("");
        at = to;
      }
      expect(text.slice(at).trim()).toBe("");
    },
  );

  /** Fails when something is missing but the blanks at a cut inside a span, which its marks replace. */
  function expectWhole(short: string, given: Parameters<typeof chunk>[1]): void {
    let at = 0;
    let closes = "";
    for (const block of chunk(short, given)) {
      const missing = short.slice(at, block.from);
      expect(missing.trim()).toBe("");
      if (closes === "") expect(missing).toBe("");
      at = block.to;
      closes = block.closes;
    }
    expect(short.slice(at)).toBe("");
  }

  property([texts, options])(
    "where no whitespace runs long, only cuts inside a span leave blanks out",
    (text, given) => {
      const short = text.replace(/\s{9,}/gu, "\n").trimEnd();
      expectWhole(short, { ...given, maxChars: given.maxChars + 32 });
    },
  );

  test("a cut inside inline code leaves out the blank beside the marks (found with seed 1389214043)", () => {
    const text = "diam```enim vitae convallis convallis\n```python ```";
    const given = { minChars: 1, maxChars: 48, prefer: "paragraph" } as const;
    expectWhole(text, given);
    expect(chunk(text, given).map((block) => block.text)).toEqual([
      "diam```enim vitae convallis```",
      "```convallis\n```python ```",
    ]);
  });

  property([texts, options])("the last block, and no other, is final", (text, given) => {
    const blocks = chunk(text, given);
    expect(blocks.map(({ final }) => final)).toEqual(blocks.map((_, i) => i === blocks.length - 1));
    expect(blocks.length > 0).toBe(text.trim() !== "");
  });

  property([texts, options])("a fence that a block closes is opened by the next", (text, given) => {
    const blocks = chunk(text, given);
    for (const [index, { closes }] of blocks.slice(0, -1).entries()) {
      const opens = blocks[index + 1]?.opens ?? "";
      expect(opens.trimStart().startsWith(closes.trim())).toBe(true);
      expect(opens === "").toBe(closes === "");
    }
  });

  property([fc.string({ unit: "grapheme", minLength: 1, maxLength: 400 }), options])(
    "no cut falls inside a character",
    (text, given) => {
      const largest = Math.max(
        ...[...new Intl.Segmenter("und").segment(text)].map(({ segment }) => segment.length),
      );
      fc.pre(largest < given.maxChars && !/[`~]/u.test(text));
      const bounds = new Set(
        [...new Intl.Segmenter("und").segment(text)].map(({ index }) => index),
      );
      bounds.add(text.length);
      for (const { from, to } of chunk(text, given)) {
        expect(bounds.has(from)).toBe(true);
        expect(bounds.has(to)).toBe(true);
      }
    },
  );
});

describe("breaks", () => {
  const given = { minChars: 20, maxChars: 60 };

  test("a paragraph is preferred to a later line, a line to a later sentence, that to a word", () => {
    const cases = [
      [`${words(5)}\n\n${words(3)}\n${words(40)}`, `${words(5)}\n\n`],
      [`${words(5)}\n${words(2)}. ${words(40)}`, `${words(5)}\n`],
      [`${words(5)}. ${words(40)}`, `${words(5)}. `],
      [words(40), `${words(12)} `],
      ["a".repeat(100), "a".repeat(60)],
    ] as const;
    for (const [text, first] of cases) expect(chunk(text, given)[0]?.text).toBe(first);
  });

  test("what is preferred can be weaker, and stronger breaks then count alike", () => {
    const text = `${words(5)}\n\n${words(3)}. ${words(40)}`;
    expect(chunk(text, { ...given, prefer: "sentence" })[0]?.text).toBe(
      `${words(5)}\n\n${words(3)}. `,
    );
  });

  test("scripts without spaces break at the end of a sentence, brackets included", () => {
    const text = `${"漢".repeat(30)}。」${"字".repeat(80)}`;
    expect(chunk(text, given)[0]?.text).toBe(`${"漢".repeat(30)}。」`);
    expect(chunk(`${"漢".repeat(30)}。${"字".repeat(80)}`, given)[0]?.text).toHaveLength(31);
  });

  test("the indentation of a line stays with its line", () => {
    const text = `${words(8)}\n    - ${words(40)}`;
    expect(chunk(text, given)[1]?.text.startsWith("    - ")).toBe(true);
  });

  test("a carriage return is not cut from its newline", () => {
    for (const { text } of chunk(`${words(9, "a")}\r\n`.repeat(30), given))
      expect(text.endsWith("\r")).toBe(false);
  });

  test("a family of emoji longer than the window before it is kept whole", () => {
    const family = "👨‍👩‍👧‍👦";
    for (const { text } of chunk(family.repeat(40), given)) {
      expect(text.length % family.length).toBe(0);
      expect(text.length).toBeGreaterThan(0);
    }
  });

  test("flags are cut between flags", () => {
    for (const { text } of chunk("🇩🇪".repeat(60), { minChars: 1, maxChars: 18 }))
      expect(text.length % 4).toBe(0);
  });
});

describe("code", () => {
  const code = (count: number, line = "let x = 1;") => Array(count).fill(line).join("\n");

  test("a break before a fence is taken, not a cut inside it", () => {
    const text = lines(words(30), "", words(30), "", "```ts", code(20), "```");
    const [first, second] = chunk(text, { minChars: 100, maxChars: 400 });
    expect(first?.text).toBe(lines(words(30), "", words(30), "", ""));
    expect(second?.text.startsWith("```ts\n")).toBe(true);
    expect(second?.opens).toBe("");
  });

  test("code that fits into a block is kept whole even after a short intro", () => {
    const text = lines("See:", "```ts", code(19), "```", words(50));
    const blocks = chunk(text, { minChars: 150, maxChars: 220 });
    expect(blocks.map(({ text: block }) => block)).toEqual([
      "See:\n",
      lines("```ts", code(19), "```", ""),
      `${words(44)} `,
      words(6),
    ]);
  });

  test("code that fits no block is closed and opened again with its info string", () => {
    for (const [open, close] of [
      ["```ts", "```"],
      ['```ts title="a b.ts"', "```"],
      ["   ```ts", "   ```"],
      ["`````md", "`````"],
      ["~~~", "~~~"],
      ["~~~~ sh {1,3}", "~~~~"],
    ] as const) {
      const text = lines(open, code(60), close);
      const blocks = chunk(text, { minChars: 100, maxChars: 200 });
      expect(blocks.length).toBeGreaterThan(2);
      for (const { text: block } of blocks) {
        expect(block.startsWith(`${open}\n`)).toBe(true);
        expect(block.endsWith(`\n${close}`)).toBe(true);
        expect(block.length).toBeLessThanOrEqual(200);
      }
      expect(sources(blocks).join("")).toBe(text);
    }
  });

  test("a fence line inside a longer or another fence does not close it", () => {
    for (const [outer, inner] of [
      ["````", "```"],
      ["~~~", "```"],
      ["```", "```python"],
      ["```", "    ```"],
    ] as const) {
      const text = lines(outer, code(10), inner, code(30), outer, "", words(60));
      const blocks = chunk(text, { minChars: 60, maxChars: 120 });
      const reopened = blocks.filter(({ opens }) => opens !== "");
      expect(reopened.length).toBeGreaterThan(2);
      expect(new Set(reopened.map(({ opens }) => opens))).toEqual(new Set([`${outer}\n`]));
      expect(blocks.at(-1)?.opens).toBe("");
    }
  });

  test("backticks in a line are not a fence", () => {
    const text = lines("```inline``` and more", words(200));
    expect(chunk(text, { minChars: 50, maxChars: 100 }).every(({ closes }) => closes === "")).toBe(
      true,
    );
  });

  test("a cut just before the closing line leaves no empty fence behind", () => {
    for (let count = 1; count < 60; count += 1) {
      const text = lines("```", code(count, "1234567"), "```", "", words(30));
      for (const { text: block } of chunk(text, { minChars: 40, maxChars: 80 }))
        expect(block).not.toMatch(/^```\n+```/);
    }
  });

  test("a giant info string ends, and the code after it is still code", () => {
    const text = lines(`\`\`\`${"x".repeat(2_500)}`, code(40), "```", "after");
    const blocks = chunk(text, { minChars: 100, maxChars: 200 });
    expect(sources(blocks).join("")).toBe(text);
    expect(blocks.slice(1, -1).every(({ opens }) => opens === "```\n")).toBe(true);
    expect(blocks.at(-1)?.text.endsWith("after")).toBe(true);
  });

  test("a line of code longer than a block is cut, closed and opened like any other", () => {
    const text = lines("```", "y".repeat(1_000), "```");
    const blocks = chunk(text, { minChars: 50, maxChars: 100 });
    expect(sources(blocks).join("")).toBe(text);
    for (const { text: block } of blocks) expect(block).toMatch(/^```\n[\s\S]*\n```$/);
  });
});

describe("the ends of an answer", () => {
  const given = { minChars: 20, maxChars: 60 };

  test("text that comes in one piece is cut like any other", () => {
    const blocks = chunk(words(2_000), { minChars: 800, maxChars: 2_000 });
    expect(blocks.length).toBeGreaterThan(4);
  });

  test("text that ends exactly on a cut has a final block", () => {
    for (let length = 55; length < 130; length += 1)
      expect(chunk("a".repeat(length), given).at(-1)?.final).toBe(true);
  });

  test("whitespace alone is never a block, before, between or after", () => {
    expect(chunk("\n".repeat(500), given)).toEqual([]);
    const text = `${" ".repeat(300)}one${"\n".repeat(500)}two${"\n".repeat(300)}`;
    const blocks = chunk(text, given);
    expect(blocks.map(({ text: block }) => block.trim())).toEqual(["one", "two"]);
    expect(blocks.at(-1)?.final).toBe(true);
  });

  test("whitespace behind the last block stays with it as far as there is room, and counts", () => {
    const chunker = createChunker(given);
    const text = `${"a".repeat(40)}\n\n${" ".repeat(30)}`;
    const blocks = [...chunker.push(text), ...chunker.flush()];
    expect(blocks).toEqual([
      { text: text.slice(0, 60), from: 0, to: 60, opens: "", closes: "", final: true },
    ]);
    chunker.push("second");
    expect(chunker.flush()[0]?.from).toBe(text.length);
  });

  test("code that the last block has to close is followed by nothing", () => {
    const text = `\`\`\`\n${"tea\n".repeat(12)}${"\n".repeat(40)}`;
    const blocks = chunk(text, given);
    expect(blocks.map(({ closes }) => closes)).toEqual(["```"]);
    expect(blocks[0]?.text).toBe(`${text.slice(0, 56)}\`\`\``);
  });

  test("a block of under 16 units is refused, as no fence fits into it", () => {
    expect(() => createChunker({ maxChars: 15 })).toThrow(
      "Cannot chunk as maxChars must be 16 or more: received 15",
    );
    expect(chunk("tea", { maxChars: 16 })).toHaveLength(1);
  });

  test("equal code twice is two blocks", () => {
    const one = lines("```", "same", "```", "");
    const blocks = chunk(one.repeat(6), { minChars: 1, maxChars: 16 });
    expect(blocks.length).toBe(6);
    expect(new Set(blocks.map(({ from }) => from)).size).toBe(6);
  });

  test("offsets go on counting after a flush", () => {
    const chunker = createChunker(given);
    const first = [...chunker.push("first message"), ...chunker.flush()];
    const second = [...chunker.push("second"), ...chunker.flush()];
    expect([...first, ...second].map(({ from, to }) => [from, to])).toEqual([
      [0, 13],
      [13, 19],
    ]);
  });

  test("a fence left open by one message does not reach the next", () => {
    const chunker = createChunker(given);
    chunker.push("```\ncode");
    chunker.flush();
    expect(
      [...chunker.push(words(30)), ...chunker.flush()].every(({ opens }) => opens === ""),
    ).toBe(true);
  });
});

describe("hostile texts", () => {
  const size = rounds(6_000, 12_000);
  const hostile: Record<string, (length: number) => string> = {
    backticks: (length) => "`".repeat(length),
    "fences on every line": (length) => "```\n".repeat(length / 4),
    "fences that never close": (length) => "```a\n~~~\n".repeat(length / 9),
    "quote nesting": (length) => ">".repeat(length),
    brackets: (length) => "[".repeat(length),
    "closing quotes": (length) => '"'.repeat(length),
    "no spaces": (length) => "a".repeat(length),
    spaces: (length) => `a${" ".repeat(length)}b`,
    "spaces before fences": (length) => "   ```\n   \n".repeat(length / 11),
    "emoji joined without end": (length) => "👩\u200d".repeat(length / 3),
    "a tower of marks": (length) => `a${"\u0301".repeat(length)}`,
    "marks on spaces": (length) => " \u0301".repeat(length / 2),
    flags: (length) => "🇩🇪".repeat(length / 4),
    "bold words": (length) => "**a** b ".repeat(length / 8),
    "rows of a table": (length) => `|a|b|\n|-|-|\n${"|c|d|\n".repeat(length / 6)}`,
    "short intros": (length) => `x\n\`\`\`\n${"y".repeat(1_180)}\n\`\`\`\n`.repeat(length / 1_194),
  };
  /** CPU time in ms, so that a busy machine does not count. */
  const took = (text: string, deltas?: readonly number[]): number => {
    const { user } = process.cpuUsage();
    const blocks = chunk(text, {}, deltas);
    expect(blocks.every(({ text: block }) => block.length <= 1_200)).toBe(true);
    return (process.cpuUsage().user - user) / 1_000;
  };
  /** Below this a time is mostly noise. */
  const floorMs = 15;
  /** How much longer eight times the text takes; a busy machine may spoil some tries, not all. */
  const growth = (make: (length: number) => string, from: number, deltas?: readonly number[]) => {
    took(make(from), deltas);
    let [once, often] = [took(make(from), deltas), took(make(from * 8), deltas)];
    const quotient = () => often / Math.max(once, floorMs);
    for (let round = 0; round < 4 && quotient() >= 30; round += 1) {
      once = Math.min(once, took(make(from), deltas));
      often = Math.min(often, took(make(from * 8), deltas));
    }
    return quotient();
  };

  for (const [name, make] of Object.entries(hostile))
    test(`${name}: eight times the text takes far less than 64 times the time`, () => {
      expect(growth(make, size)).toBeLessThan(30);
    });

  test("deltas of one character cost in proportion too", () => {
    expect(growth(words, size / 5, [1])).toBeLessThan(30);
  });
});
