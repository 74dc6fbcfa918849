/** Markdown as message styling (XEP-0393), and what of a text is code or a quote. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderMarkdown } from "../../../../src/adapters/channels/shared/markdown.ts";
import {
  styled,
  verbatimIn,
  withoutParts,
} from "../../../../src/adapters/channels/xmpp/rendering.ts";
import { property } from "../../../support/property.ts";
import { stanzaLength } from "../../../support/xmpp/stanzas.ts";

const render = (markdown: string) => styled(renderMarkdown(markdown));
const fence = "```";

describe("styling", () => {
  test.each<[string, string]>([
    ["plain words", "plain words"],
    ["**bold** and *it*", "*bold* and _it_"],
    ["~~gone~~ `code`", "~gone~ `code`"],
    ["**bold *both* bold**", "*bold _both_ bold*"],
    ["***all***", "*_all_*"],
    ["**two\nlines**", "**two\nlines**"],
    ["# A heading", "*A heading*"],
    ["- one\n- two\n  - inner", "• one\n• two\n  • inner"],
    ["1. one\n2. two", "1. one\n2. two"],
    ["> said\n> more", "> said\n> more"],
    ["> a **loud** quote", "> a *loud* quote"],
    ["[the page](https://example.com/a)", "the page (https://example.com/a)"],
    ["**[the page](https://example.com/a)**", "*the page* (https://example.com/a)"],
    ["[https://example.com/](https://example.com/)", "https://example.com/"],
    ["[you](tg://user?id=1)", "you"],
    ["||secret||", "secret"],
    [`${fence}js\nlet a = 1;\n${fence}`, `${fence}\nlet a = 1;\n${fence}`],
    [`see:\n${fence}\nx\n${fence}\nend`, `see:\n${fence}\nx\n${fence}\nend`],
    ["| a | b |\n|---|---|\n| 1 | 2 |", `${fence}\na  b\n1  2\n${fence}`],
    ["~~~\n```\n~~~", `${fence}\n ${fence}\n${fence}`],
    ["in**word**s", "inwords"],
    ["**a\\*b**", "a*b"],
    ["_snake_case_", "snake_case"],
    ["emoji **👩‍👩‍👧** and **שלום**", "emoji *👩‍👩‍👧* and *שלום*"],
  ])("%j", (markdown, expected) => {
    expect(render(markdown).text).toBe(expected);
  });

  test("a text without styling says so, whatever characters it has", () => {
    for (const text of ["2 * 3 * 4", "snake_case_", "a\\*b\\*", "plain"])
      expect(render(text).isStyled, text).toBe(false);
    expect(render("**b**").isStyled).toBe(true);
    expect(render("> q").isStyled).toBe(true);
  });

  const parts = ["a", "word", "語", "👩🏽‍🚀", " ", "*", "**", "`", "```", "_", "\n", "> ", "~~"];
  const texts = fc.array(fc.constantFrom(...parts), { maxLength: 80 }).map((all) => all.join(""));

  property([texts])("nothing visible is lost", (text) => {
    const visible = (shown: string) => shown.replace(/[\s*_~`>]+/g, "");
    expect(visible(render(text).text)).toBe(visible(renderMarkdown(text).text));
  });

  property([texts])("what is shown as code or quote lies in the text, in order", (text) => {
    let last = 0;
    for (const [from, to] of verbatimIn(text)) {
      expect(from).toBeGreaterThanOrEqual(last);
      expect(to).toBeGreaterThan(from);
      last = to;
    }
    expect(last).toBeLessThanOrEqual(text.length);
  });
});

describe("verbatim", () => {
  const found = (text: string) => verbatimIn(text).map(([from, to]) => text.slice(from, to));

  test.each<[string, string[]]>([
    ["a `b c` d", ["`b c`"]],
    ["a` b` c", []],
    ["`` x", []],
    ["> quoted\nnot", ["> quoted"]],
    [`${fence}js\nx\n${fence}`, [`${fence}js\nx\n${fence}`]],
    [`${fence}\nnever closed`, [`${fence}\nnever closed`]],
    [`${fence}\n> a\n\`b\`\n${fence}\n\`c\``, [`${fence}\n> a\n\`b\`\n${fence}`, "`c`"]],
  ])("%j", (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test("parts for other clients are counted in code points, and may be all of it", () => {
    expect(withoutParts("👩🏽‍🚀> x\nyes", [[4, 8]])).toBe("👩🏽‍🚀yes");
    expect(withoutParts("abc", [[1, 100]])).toBe("a");
    expect(withoutParts("abc", [null])).toBe("");
    expect(withoutParts("abc", [[2, 1]])).toBe("abc");
  });
});

test("the proxy takes whole stanzas out of a stream, however it is cut", () => {
  const units = [
    "<?xml version='1.0'?><stream:stream xmlns='jabber:client' id='a>b'>",
    "<stream:features><x/><y>z</y></stream:features>",
    `<message a='>'><body>1 &lt; 2 "'</body></message>`,
    "<presence/>",
    "</stream:stream>",
  ];
  const whole = Buffer.from(units.join(""));
  const found: string[] = [];
  let rest = Buffer.alloc(0);
  for (const byte of whole) {
    rest = Buffer.concat([rest, Buffer.from([byte])]);
    const length = stanzaLength(rest);
    if (length === 0) continue;
    found.push(rest.subarray(0, length).toString());
    rest = rest.subarray(length);
  }
  expect(found).toEqual(units);
});
