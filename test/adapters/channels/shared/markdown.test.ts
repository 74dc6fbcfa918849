/** Markdown as Telegram shows it: what is marked, what stays text, where a long text is cut. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderMarkdown } from "../../../../src/adapters/channels/shared/markdown.ts";
import {
  type Rendered,
  splitRendered,
} from "../../../../src/adapters/channels/shared/rendering.ts";
import { property } from "../../../support/property.ts";
import { growthOver16, linearMax } from "../../../support/runtime/growth.ts";

/** `text` with each entity as `type(what it covers)`. */
const shown = (markdown: string) => {
  const { text, entities } = renderMarkdown(markdown);
  return [
    text,
    ...entities.map(({ type, offset, length, url, language }) => {
      const extra = url ?? language;
      const covered = text.slice(offset, offset + length);
      return `${type}(${covered})${extra === undefined ? "" : `=${extra}`}`;
    }),
  ];
};

describe("markdown for Telegram", () => {
  test.each<[string, string[]]>([
    ["plain words", ["plain words"]],
    [
      "**bold** and *it* and ~~gone~~",
      ["bold and it and gone", "bold(bold)", "italic(it)", "strikethrough(gone)"],
    ],
    ["__bold__ and _it_", ["bold and it", "bold(bold)", "italic(it)"]],
    ["***both***", ["both", "bold(both)", "italic(both)"]],
    ["**a *b* c**", ["a b c", "bold(a b c)", "italic(b)"]],
    ["||secret||", ["secret", "spoiler(secret)"]],
    ["snake_case_name stays", ["snake_case_name stays"]],
    ["2 * 3 * 4", ["2 * 3 * 4"]],
    ["**open", ["**open"]],
    ["**a _b** c_", ["a _b c_", "bold(a _b)"]],
    ["`code *x*`", ["code *x*", "code(code *x*)"]],
    ["``a ` b``", ["a ` b", "code(a ` b)"]],
    ["`open", ["`open"]],
    ["\\*not italic\\*", ["*not italic*"]],
    ["# Title", ["Title", "bold(Title)"]],
    ["- one\n  * two\n1. three", ["• one\n  • two\n1. three"]],
    ["> quoted\n> more\nnot", ["quoted\nmore\nnot", "blockquote(quoted\nmore)"]],
    ["---", ["———"]],
    ["```ts\nlet a = 1;\n```\nafter", ["let a = 1;\nafter", "pre(let a = 1;)=ts"]],
    ["```\n**not bold**\n", ["**not bold**\n", "pre(**not bold**\n)"]],
    ["~~~\n```\n~~~", ["```", "pre(```)"]],
    ["```x``` inline", ["x inline", "code(x)"]],
    ["| a | bb |\n|---|----|\n| 1 | 2 |", ["a  bb\n1  2", "pre(a  bb\n1  2)"]],
    ["[site](https://example.com/a_b)", ["site", "text_link(site)=https://example.com/a_b"]],
    [
      "**[site](https://example.com)**",
      ["site", "bold(site)", "text_link(site)=https://example.com/"],
    ],
    ["![pic](https://example.com/p.png)", ["pic", "text_link(pic)=https://example.com/p.png"]],
    ["https://example.com/_a_/b", ["https://example.com/_a_/b"]],
    ["<https://example.com/x>", ["https://example.com/x"]],
    ["[a] [b](https://example.com/)", ["[a] b", "text_link(b)=https://example.com/"]],
    ["[a](b", ["[a](b"]],
    ["<b>not html</b> & <i>", ["<b>not html</b> & <i>"]],
  ])("%j", (markdown, expected) => {
    expect(shown(markdown)).toEqual(expected);
  });

  test.each(["tg://user?id=7001", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd"])(
    "a link to %s is only its label",
    (url) => {
      expect(shown(`[you](${url})`)).toEqual(["you"]);
    },
  );

  test("a link with a label nobody can see shows its address", () => {
    expect(shown("[\u200b](https://example.com/)")[0]).toContain("https://example.com/");
  });

  test("control characters and lone surrogates, which Telegram refuses, are taken out", () => {
    const { text } = renderMarkdown("a\u0000b\u001b[2Jc\ud83d d\r\ne");
    expect(text).toBe("ab[2Jc\ufffd d\ne");
  });

  const wellNested = ({ text, entities }: Rendered) => {
    for (const { offset, length } of entities) {
      expect(offset).toBeGreaterThanOrEqual(0);
      expect(length).toBeGreaterThan(0);
      expect(offset + length).toBeLessThanOrEqual(text.length);
    }
    for (const a of entities)
      for (const b of entities) {
        const apart = a.offset + a.length <= b.offset || b.offset + b.length <= a.offset;
        const inside =
          (a.offset >= b.offset && a.offset + a.length <= b.offset + b.length) ||
          (b.offset >= a.offset && b.offset + b.length <= a.offset + a.length);
        expect(apart || inside).toBe(true);
      }
  };

  const soup = fc
    .array(
      fc.constantFrom(
        ..."*_~`|[]()!<>\\#->\n \ta👩‍👩‍👧é".split(/(?:)/u),
        "**",
        "__",
        "```",
        "](https://e.x)",
        "[",
        "word ",
        "| a | b |\n",
        "|---|\n",
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(""));

  property([soup])("entities lie inside the text and inside each other", (markdown) => {
    wellNested(renderMarkdown(markdown));
  });

  property([fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 200 })])(
    "words without markup come through as they are",
    (words) => {
      expect(renderMarkdown(words.join(" ")).text).toBe(words.join(" "));
    },
  );

  property([soup, fc.integer({ min: 20, max: 60 })])(
    "a cut text keeps every visible character, in pieces within the limit",
    (markdown, limit) => {
      const whole = renderMarkdown(markdown);
      const parts = splitRendered(whole, limit, 1_000);
      for (const part of parts) {
        expect(part.text.length).toBeLessThanOrEqual(limit);
        wellNested(part);
      }
      const visible = (text: string) => text.replace(/\s+/g, "");
      expect(parts.map(({ text }) => visible(text)).join("")).toBe(visible(whole.text));
    },
  );

  test("a cut never goes through a grapheme", () => {
    const family = "👩‍👩‍👧‍👦";
    const parts = splitRendered({ text: family.repeat(40), entities: [] }, 50, 100);
    for (const { text } of parts) expect(text.replaceAll(family, "")).toBe("");
  });

  test("the rest of an endless text is dropped with a note", () => {
    const parts = splitRendered({ text: "word ".repeat(10_000), entities: [] }, 4_096, 3);
    expect(parts).toHaveLength(3);
    expect(parts[2]?.text.endsWith("[the rest is too long for this chat]")).toBe(true);
    for (const { text } of parts) expect(text.length).toBeLessThanOrEqual(4_096);
  });

  test.each([
    "`",
    "*",
    "[",
    "](",
    ">",
    "_a",
    "||",
    "~~x",
    "| ",
    "<http://",
    "](h",
    "- - ",
    "![",
    "\\",
  ])("many %j take time in proportion", (piece) => {
    const growth = growthOver16((count) => renderMarkdown(piece.repeat(count)), 8_000);
    expect(growth).toBeLessThan(linearMax);
  });
});
