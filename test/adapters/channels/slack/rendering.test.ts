/**
 * Markdown to Slack's blocks, read back from the blocks as Slack stores them; and Slack's own text forms
 * to plain text.
 */
import { expect, test } from "vitest";
import { renderMarkdown } from "../../../../src/adapters/channels/shared/markdown.ts";
import { slackTextLimit } from "../../../../src/adapters/channels/slack/config.ts";
import { emojiOf, reactionOf } from "../../../../src/adapters/channels/slack/emoji.ts";
import { fallbackOf, messageOf } from "../../../../src/adapters/channels/slack/rendering.ts";
import { blocksText, readText } from "../../../../src/adapters/channels/slack/text.ts";

const blockOf = (markdown: string) => messageOf(renderMarkdown(markdown)).blocks[0]?.elements;
const section = (...elements: object[]) => ({ type: "rich_text_section", elements });
const text = (of: string, style?: object) => ({
  type: "text",
  text: of,
  ...(style === undefined ? {} : { style }),
});

test.each([
  ["plain", "hello", [section(text("hello"))]],
  ["bold", "a **b** c", [section(text("a "), text("b", { bold: true }), text(" c"))]],
  [
    "italic in bold",
    "**a *b* c**",
    [
      section(
        text("a ", { bold: true }),
        text("b", { bold: true, italic: true }),
        text(" c", { bold: true }),
      ),
    ],
  ],
  ["strikethrough", "~~no~~", [section(text("no", Object.fromEntries([["strike", true]])))]],
  ["code", "`a <b> & *c*`", [section(text("a <b> & *c*", { code: true }))]],
  [
    "a code block",
    "see\n```js\nlet a = 1 < 2;\n```\nok",
    [
      section(text("see")),
      { type: "rich_text_preformatted", elements: [text("let a = 1 < 2;")] },
      section(text("ok")),
    ],
  ],
  [
    "a quote",
    "> said **so**\nyes",
    [
      { type: "rich_text_quote", elements: [text("said "), text("so", { bold: true })] },
      section(text("yes")),
    ],
  ],
  [
    "a link and an address",
    "[docs](https://example.org/a?b=c&d) or https://example.org/x.",
    [
      section(
        { type: "link", url: "https://example.org/a?b=c&d", text: "docs" },
        text(" or "),
        { type: "link", url: "https://example.org/x" },
        text("."),
      ),
    ],
  ],
  ["a nested list", "- a\n  - b\n1. c", [section(text("• a\n  • b\n1. c"))]],
  [
    "a table",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    [{ type: "rich_text_preformatted", elements: [text("a  b\n1  2")] }],
  ],
  ["right to left, marks, emoji", "שלום 👩‍👩‍👧 é", [section(text("שלום 👩‍👩‍👧 é"))]],
  [
    "what would be markup in Slack's own form",
    "<!channel> <@U123> *x* :tada: &amp;",
    [section(text("<!channel> <@U123> "), text("x", { italic: true }), text(" :tada: &amp;"))],
  ],
])("%s", (_name, markdown, expected) => {
  expect(blockOf(markdown)).toEqual(expected);
});

test("the text for notifications is escaped, and fits into an edit whatever it holds", () => {
  expect(fallbackOf("a < b & <!channel>")).toBe("a &lt; b &amp; &lt;!channel&gt;");
  for (const long of ["&".repeat(slackTextLimit), "😀<".repeat(1_300)]) {
    const cut = fallbackOf(long);
    expect(cut.length).toBeLessThanOrEqual(slackTextLimit);
    expect(Buffer.from(cut).toString()).toBe(cut);
    expect(cut).not.toMatch(/&(?!amp;|lt;|gt;)/);
  }
});

const names = {
  selfId: "U0SCOUT",
  person: (id: string) => ({ U0SCOUT: "scout", U0ANN: "Ann" })[id] ?? null,
  chat: (id: string) => (id === "C0KITCHEN" ? "kitchen" : null),
};
const read = (raw: string) => readText(raw, names);

test.each([
  ["Tom &amp; Jerry &lt;3 &amp;lt;", "Tom & Jerry <3 &lt;"],
  ["see <https://example.org/a?b=1&amp;c=2>", "see https://example.org/a?b=1&c=2"],
  ["<https://example.org|the docs>", "the docs (https://example.org)"],
  ["<http://example.org|example.org>", "example.org (http://example.org)"],
  ["<mailto:ann@example.org|ann@example.org>", "ann@example.org"],
  ["<tel:+15551234|+1 555 1234>", "+1 555 1234 (+15551234)"],
  ["in <#C0KITCHEN> or <#C0OTHER|garden> or <#C0NEW>", "in #kitchen or #garden or #C0NEW"],
  ["<!date^1392734382^{date}|Feb 18>", "Feb 18"],
  ["<@U0NEW|old.form> hi", "@old.form hi"],
  ["*bold* _it_ :wave:", "*bold* _it_ :wave:"],
  ["a &lt;@U0ANN&gt; that somebody typed", "a <@U0ANN> that somebody typed"],
])("%s", (raw, plain) => {
  expect(read(raw).text).toBe(plain);
});

test("mentions have ids and names, once each; groups and everybody are apart", () => {
  const {
    mentions,
    mentionsEveryone,
    text: plain,
  } = read("<@U0ANN> and <@U0SCOUT>, <@U0ANN>! <!subteam^S0COOKS|@cooks> <!here>");
  expect(plain).toBe("@Ann and @scout, @Ann! @cooks @here");
  expect(mentions).toEqual([
    { id: "U0ANN", name: "Ann", isSelf: false },
    { id: "U0SCOUT", name: "scout", isSelf: true },
    { id: "S0COOKS", name: "cooks", isSelf: false },
  ]);
  expect(mentionsEveryone).toBe(true);
  expect(read("&lt;!channel&gt; @channel").mentionsEveryone).toBe(false);
});

test("code and quotes are marked as such", () => {
  const raw = "look: `x` and\n&gt; quoted\n```\nlet a;\n```";
  const { text: plain, verbatim } = read(raw);
  expect(verbatim.map(([from, to]) => plain.slice(from, to))).toEqual([
    "`x`",
    "> quoted",
    "```\nlet a;\n```",
  ]);
});

test("blocks say what people see of them", () => {
  const blocks = [
    { type: "header", text: { type: "plain_text", text: "Build <7> failed" } },
    { type: "section", text: { type: "mrkdwn", text: "*main* by <@U0ANN>" } },
    { type: "divider" },
    {
      type: "rich_text",
      elements: [
        {
          type: "rich_text_section",
          elements: [
            { type: "user", user_id: "U0SCOUT" },
            { type: "text", text: " see " },
            { type: "link", url: "https://example.org/7", text: "log" },
            { type: "emoji", name: "wave", unicode: "1f44b" },
            { type: "emoji", name: "partyparrot" },
            { type: "broadcast", range: "here" },
          ],
        },
        {
          type: "rich_text_list",
          style: "ordered",
          indent: 1,
          elements: [
            { type: "rich_text_section", elements: [{ type: "text", text: "first" }] },
            { type: "rich_text_section", elements: [{ type: "text", text: "second" }] },
          ],
        },
        { type: "rich_text_preformatted", elements: [{ type: "text", text: "a < b" }] },
        { type: "rich_text_quote", elements: [{ type: "text", text: "two\nlines" }] },
      ],
    },
    {
      type: "context",
      elements: [
        { type: "image", alt_text: "" },
        { type: "mrkdwn", text: "now" },
      ],
    },
    {
      type: "actions",
      elements: [{ type: "button", text: { type: "plain_text", text: "Retry" } }],
    },
    { type: "something_new", text: 7 },
    null,
  ];
  expect(read(blocksText(blocks)).text).toBe(
    [
      "Build <7> failed",
      "*main* by @Ann",
      "@scout see log (https://example.org/7)👋:partyparrot:@here",
      "  1. first",
      "  2. second",
      "```",
      "a < b",
      "```",
      "> two",
      "> lines",
      "now",
    ].join("\n"),
  );
});

test("reactions have one name for each emoji, tones included", () => {
  for (const emoji of ["👍", "👀", "✅", "❤️", "🎉", "👍🏽", "1️⃣"]) {
    const name = reactionOf(emoji);
    expect(name).not.toBeNull();
    expect(emojiOf(name as string).replaceAll("\ufe0f", "")).toBe(emoji.replaceAll("\ufe0f", ""));
  }
  expect(reactionOf("👍")).toBe("+1");
  expect(emojiOf("thumbsup")).toBe("👍");
  expect(emojiOf("partyparrot")).toBe(":partyparrot:");
  expect(reactionOf(":partyparrot:")).toBe("partyparrot");
  expect(reactionOf("🦤")).toBeNull();
});
