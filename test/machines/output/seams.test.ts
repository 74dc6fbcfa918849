/**
 * Cuts in Markdown: the blocks, rendered one by one, say what the whole says. The parser that
 * renders is the reference; the texts are CommonMark's own examples and made-up ones.
 */

import { tests as examples } from "commonmark-spec";
import fc from "fast-check";
import { micromark } from "micromark";
import { gfmStrikethrough, gfmStrikethroughHtml } from "micromark-extension-gfm-strikethrough";
import { gfmTable, gfmTableHtml } from "micromark-extension-gfm-table";
import { describe, expect, test } from "vitest";
import {
  type Block,
  type ChunkerOptions,
  createChunker,
} from "../../../src/machines/output/chunker.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";

const chunk = (text: string, options: ChunkerOptions, size = text.length): Block[] => {
  const chunker = createChunker(options);
  const blocks: Block[] = [];
  for (let at = 0; at < text.length; at += size)
    blocks.push(...chunker.push(text.slice(at, at + size)));
  return [...blocks, ...chunker.flush()];
};

const extensions = [gfmTable(), gfmStrikethrough({ singleTilde: false })];
const htmlExtensions = [gfmTableHtml(), gfmStrikethroughHtml()];
const html = (markdown: string): string => micromark(markdown, { extensions, htmlExtensions });
/** What a reader reads, without white space. */
const says = (markdown: string): string =>
  html(markdown)
    .replace(/<[^>]*>/gu, "")
    .replace(/\s/gu, "");
const allSay = (blocks: readonly Block[]): string => blocks.map(({ text }) => says(text)).join("");

const sentence = (words: number) => `${Array(words).fill("word").join(" ")}.`;

describe("CommonMark's examples", () => {
  test("are there", () => {
    expect(examples.length).toBeGreaterThan(600);
  });

  for (const before of [230, 60, 150, 290].slice(0, rounds(1, 4)))
    test(`say the same in blocks, ${before} units into an answer`, () => {
      const broken = examples.flatMap(({ markdown, number }) => {
        const example = markdown.replaceAll("→", "\t");
        const intro = sentence(Math.floor(before / 5));
        const text = `${intro}\n\n${example}\n\n${sentence(70)}`;
        const blocks = chunk(text, { minChars: 200, maxChars: 300 });
        return allSay(blocks) === says(text) ? [] : [number];
      });
      expect(broken).toEqual([]);
    });
});

const word = fc.constantFrom("tea", "cake", "milk", "a", "sugar", "biscuits", "two", "I've");
const plain = fc.array(word, { minLength: 1, maxLength: 9 }).map((all) => all.join(" "));
const span = fc
  .tuple(fc.constantFrom("**", "*", "_", "~~", "`", "``", "link", "image", "both", "auto"), plain)
  .map(([kind, text]) => {
    if (kind === "link") return `[${text}](https://example.com/${text.length}?a=b_c*d)`;
    if (kind === "image") return `![${text}](https://example.com/a.png)`;
    if (kind === "both") return `**see [${text}](https://example.com) and \`${text}\`**`;
    return kind === "auto" ? "<https://example.com/a_b_c>" : `${kind}${text}${kind}`;
  });
const stray = fc.constantFrom(
  "`",
  "* tea",
  "_",
  "[",
  "]",
  "a_b",
  "b * c",
  "\\*",
  "&amp;",
  "- a",
  "# a",
);
const paragraph = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: plain },
      { weight: 3, arbitrary: span },
      { weight: 1, arbitrary: stray },
    ),
    { minLength: 1, maxLength: 25 },
  )
  .chain((all) =>
    fc
      .array(fc.constantFrom(" ", " ", " ", ". ", "\n"), {
        minLength: all.length,
        maxLength: all.length,
      })
      .map((gaps) =>
        all
          .map((text, index) => `${text}${gaps[index]}`)
          .join("")
          .trim(),
      ),
  );
const answers = fc
  .array(fc.tuple(fc.constantFrom("", "", "> ", "- ", "1. "), paragraph), {
    minLength: 1,
    maxLength: 5,
  })
  .map((all) => all.map(([mark, text]) => mark + text).join("\n\n"));

describe("blocks of an answer with spans", () => {
  property([answers, fc.integer({ min: 220, max: 500 })], { numRuns: rounds(20, 200) })(
    "say what the whole says",
    (text, maxChars) => {
      const blocks = chunk(text, { minChars: Math.floor(maxChars / 2), maxChars });
      expect(allSay(blocks)).toBe(says(text));
    },
  );

  property([answers, fc.integer({ min: 60, max: 400 }), fc.integer({ min: 1, max: 90 })])(
    "are the same however the text arrived, and no longer than allowed",
    (text, maxChars, size) => {
      const options = { minChars: Math.floor(maxChars / 2), maxChars };
      const blocks = chunk(text, options, size);
      expect(blocks).toEqual(chunk(text, options));
      for (const block of blocks) expect(block.text.length).toBeLessThanOrEqual(maxChars);
    },
  );

  test.each(["**", "*", "_", "~~", "`", "``", "***"])(
    "close what is longer than a block and open it again: %s",
    (mark) => {
      const text = `Look: ${mark}${sentence(200)}${mark} and so on.`;
      const blocks = chunk(text, { minChars: 100, maxChars: 200 });
      expect(blocks.length).toBeGreaterThan(4);
      expect(allSay(blocks)).toBe(says(text));
      for (const block of blocks.slice(0, -1)) {
        expect(block.text.endsWith(mark)).toBe(true);
        expect(block.text.length).toBeLessThanOrEqual(200);
      }
    },
  );

  test("close and open again the link that is longer than a block", () => {
    const text = `See [${sentence(120)}](https://example.com/x) there.`;
    const blocks = chunk(text, { minChars: 100, maxChars: 200 });
    expect(allSay(blocks)).toBe(says(text));
    for (const { text: block } of blocks)
      expect(html(block)).toContain('href="https://example.com/x"');
  });

  test("are not cut inside a link or code, though the block before it is short for that", () => {
    const link = `[${sentence(20)}](https://example.com/)`;
    const text = `${sentence(20)} ${link} ${sentence(40)}`;
    const [first, second] = chunk(text, { minChars: 120, maxChars: 180 });
    expect(first?.text).toBe(`${sentence(20)} `);
    expect(second?.text.startsWith(link)).toBe(true);
  });

  test("code with backticks inside is not cut beside them", () => {
    const inner = `${sentence(30)} \`\`${sentence(8)}\`\` ${sentence(30)}`;
    const text = `${sentence(20)} \`${inner}\` ${sentence(20)}`;
    for (let maxChars = 60; maxChars < 300; maxChars += rounds(6, 1)) {
      const blocks = chunk(text, { minChars: Math.floor(maxChars / 2), maxChars });
      expect(allSay(blocks), `${maxChars}`).toBe(says(text));
    }
  });

  test("leave a stray mark what it is", () => {
    const text = `It\`s **so. ${sentence(30)} \`code here\` ${sentence(30)}`;
    const blocks = chunk(text, { minChars: 80, maxChars: 160 });
    expect(allSay(blocks)).toBe(says(text));
  });
});

test("a paragraph of very many links and bold words is cut between them", () => {
  const one = "[A cup. Of tea](t_t) **the milk. And** ";
  for (const text of [one.repeat(rounds(200, 600)), `${one.repeat(80)}\n`.repeat(8)]) {
    const blocks = chunk(text, { minChars: 700, maxChars: 1_000 });
    expect(allSay(blocks)).toBe(says(text));
    expect(blocks.map(({ text: block }) => block).join("")).toBe(text);
  }
});

describe("blocks of a table", () => {
  const header = "| name | *price* |\n|:--|--:|\n";
  const rows = (count: number) =>
    Array.from({ length: count }, (_, index) => `| row ${index} | ${index} \\| ${index} |\n`).join(
      "",
    );

  test("each have the header, and each row once", () => {
    const text = `${sentence(8)}\n\n${header}${rows(60)}\n${sentence(30)}`;
    const blocks = chunk(text, { minChars: 100, maxChars: 250 });
    const tables = blocks.filter(({ text: block }) => block.includes("| row"));
    expect(tables.length).toBeGreaterThan(4);
    for (const { text: block } of tables) {
      expect(html(block).match(/<th /gu)).toHaveLength(2);
      expect(block.length).toBeLessThanOrEqual(250);
    }
    const cells = blocks.flatMap(({ text: block }) => html(block).match(/row \d+/gu) ?? []);
    expect(cells).toEqual(Array.from({ length: 60 }, (_, index) => `row ${index}`));
    expect(blocks.map(({ text: block, opens }) => block.slice(opens.length)).join("")).toBe(text);
  });

  test("repeat no header that is too large for it", () => {
    const wide = `| ${sentence(20)} |\n|--|\n`;
    const blocks = chunk(wide + rows(40), { minChars: 100, maxChars: 250 });
    expect(blocks.every(({ opens }) => opens === "")).toBe(true);
  });
});

describe("blocks of a list", () => {
  const items = (count: number, words: number) =>
    Array.from({ length: count }, (_, index) => `${index + 1}. ${sentence(words)} ${sentence(9)}`);
  const listed = (markdown: string): number[] =>
    [...html(markdown).matchAll(/<ol(?: start="(\d+)")?>([\s\S]*?)<\/ol>/gu)].flatMap(
      ([, start = "1", inside = ""]) =>
        (inside.match(/<li>/gu) ?? []).map((_, index) => Number(start) + index),
    );

  test.each([12, 25, 33, 41])("have each item whole and under its number, %d words", (words) => {
    const text = `${sentence(30)}\n\n${items(20, words).join("\n")}\n\n${sentence(30)}`;
    const blocks = chunk(text, { minChars: 250, maxChars: 400 });
    expect(blocks.length).toBeGreaterThan(4);
    expect(allSay(blocks)).toBe(says(text));
    const numbers = blocks.flatMap(({ text: block }) => listed(block));
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  test("keep an item and the items inside it together", () => {
    const inner = "   - milk and tea. And cake, too\n   - sugar\n     - brown\n     - white\n";
    const text = Array.from({ length: 12 }, (_, n) => `${n + 1}. ${sentence(20)}\n${inner}`).join(
      "",
    );
    const blocks = chunk(text, { minChars: 200, maxChars: 420 });
    expect(blocks.length).toBeGreaterThan(4);
    for (const { text: block } of blocks) {
      expect(block).toMatch(/^\d+\. /);
      expect(html(block).match(/<ul>/gu)?.length).toBe(2 * (block.match(/sugar/gu)?.length ?? 0));
    }
  });
});
