/** Markdown as IRC shows it, and where a text is cut: in bytes of a line. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ircLines } from "../../../../src/adapters/channels/irc/rendering.ts";
import { withoutFormatting } from "../../../../src/adapters/channels/irc/wire.ts";
import { renderMarkdown } from "../../../../src/adapters/channels/shared/markdown.ts";
import { property } from "../../../support/property.ts";

const lines = (markdown: string, bytes = 400, before = "") =>
  ircLines(renderMarkdown(markdown), bytes, 1_000, before);
const [bold, italic, crossed, mono, reset] = ["\u0002", "\u001d", "\u001e", "\u0011", "\u000f"];

describe("formatting", () => {
  test.each<[string, string[]]>([
    ["plain words", ["plain words"]],
    ["**bold** and *it*", [`${bold}bold${reset} and ${italic}it`]],
    ["~~gone~~ `code`", [`${crossed}gone${reset} ${mono}code`]],
    ["**bold *both* bold**", [`${bold}bold ${reset}${bold}${italic}both${reset}${bold} bold`]],
    ["# A heading", [`${bold}A heading`]],
    ["- one\n- two\n  - inner", ["• one", "• two", "  • inner"]],
    ["1. one\n2. two", ["1. one", "2. two"]],
    ["> said\n> more", ["> said", "> more"]],
    ["[the page](https://example.com/a)", ["the page (https://example.com/a)"]],
    ["https://example.com/a", ["https://example.com/a"]],
    ["[https://example.com/](https://example.com/)", ["https://example.com/"]],
    ["[you](tg://user?id=1)", ["you"]],
    ["||secret||", ["\u000301,01secret"]],
    ["```js\nlet a = 1;\nlet b;\n```", [`${mono}let a = 1;`, `${mono}let b;`]],
    ["| a | b |\n|---|---|\n| 1 | 2 |", [`${mono}a  b`, `${mono}1  2`]],
    ["one\n\n\ntwo", ["one", "two"]],
    ["emoji 👩‍👩‍👧 and שלום", ["emoji 👩‍👩‍👧 and שלום"]],
    ["a\u0001ACTION b\u0001\u0002c", ["aACTION bc"]],
    ["**not closed", ["**not closed"]],
    ["   ", []],
  ])("%j", (markdown, expected) => {
    expect(lines(markdown).map((line) => line.replace(/\s+$/, ""))).toEqual(expected);
  });

  test("formatting goes on in the next line, and the name comes once", () => {
    expect(lines("**aaaa bbbb cccc**", 12, "ann: ")).toEqual([
      `ann: ${bold}aaaa`,
      `${bold}bbbb cccc`,
    ]);
  });
});

describe("the limit of a line", () => {
  const parts = ["a", "word", "ä", "ш", "語", "👩🏽‍🚀", "e\u0301", " ", "*", "**", "`", "_", "\n"];
  const words = fc.array(fc.constantFrom(...parts), { maxLength: 300 }).map((all) => all.join(""));
  const sizes = fc.integer({ min: 64, max: 200 });

  property([words, sizes])("no line is longer in bytes, none cuts a character", (text, bytes) => {
    for (const line of lines(text, bytes)) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(bytes);
      expect(Buffer.from(line).toString("utf8")).toBe(line);
      expect(line).not.toMatch(/[\r\n]/);
    }
  });

  property([words, sizes])("nothing visible is lost", (text, bytes) => {
    const visible = (shown: string) => shown.replace(/\s+/g, "");
    const { text: whole } = renderMarkdown(text);
    expect(visible(withoutFormatting(lines(text, bytes).join(" ")))).toBe(visible(whole));
  });

  test("a long word of one script is cut between characters", () => {
    const word = "語".repeat(100);
    const cut = lines(word, 100);
    expect(cut.map((line) => [...line].length)).toEqual([33, 33, 33, 1]);
  });

  test("what is too long for a room says so", () => {
    const cut = ircLines(renderMarkdown("word ".repeat(500)), 100, 4);
    expect(cut).toHaveLength(4);
    expect(cut.at(-1)).toBe("[the rest is too long for this chat]");
  });
});
