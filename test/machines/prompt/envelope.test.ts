/** One message of a prompt, and text of a room as it may stand there: to the letter. */
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import { envelope, escapeLine, type PromptMessage } from "../../../src/machines/prompt/envelope.ts";
import { escapeLabel, escapeRoomText } from "../../../src/machines/prompt/escape.ts";

const fence = "k3f9q";
const at = 1_763_700_000_000;
const message = (over: Partial<PromptMessage>): PromptMessage => ({
  id: "m1",
  at,
  author: { name: "Ann", isBot: false },
  text: "look",
  attachments: [],
  replyTo: null,
  ...over,
});
const line = "[id m1, 2025-11-21 04:40:00 UTC] Ann:";
/** What is below the line of ours and the text. */
const below = (over: Partial<PromptMessage>) => envelope(message(over), fence).split("\n").slice(2);

describe("a message", () => {
  test("without a text is what is attached to it", () => {
    expect(envelope(message({}), fence)).toBe(`${line}\n  look`);
    expect(envelope(message({ text: "" }), fence)).toBe(line);
    expect(envelope(message({ id: "[m\n1]" }), fence)).toMatch(/^\[id \(m 1\), /u);
  });

  test("has what is known of each attachment, and its words further in", () => {
    const attachments = [
      { id: "a1", kind: "file" as const },
      {
        id: "a2",
        kind: "audio" as const,
        bytes: 0,
        picture: 2,
        note: "too\nlong",
        content: { words: "Said", text: "one\ntwo" },
      },
    ];
    expect(below({ attachments })).toEqual([
      "  [Attachment attachment_id:a1] file",
      "  [Attachment attachment_id:a2] audio, 0 bytes, picture 2 of this turn, too long",
      "    Said:",
      "      one",
      "      two",
    ]);
  });

  test("has the pages it links to, as far as they were read", () => {
    const links = [
      { url: "https://a.example/", title: null, text: null, note: null },
      { url: "https://b.example/", title: "B", text: "b\nc", note: "cut" },
    ];
    expect(below({ links })).toEqual([
      "  [Attachment link] https://a.example/",
      "  [Attachment link] https://b.example/, “B”, cut",
      "      b",
      "      c",
    ]);
  });

  test("has at most so much of what is in an attachment, and says where it is cut", () => {
    const most = limits.mediaShownUnitsMax;
    const words = (units: number) => ({ words: "Text", text: "x".repeat(units) });
    const shown = (units: number) =>
      below({ attachments: [{ id: "a1", kind: "file", content: words(units) }] }).slice(2);
    expect(shown(most)).toEqual([`      ${"x".repeat(most)}`]);
    expect(shown(most + 1)).toEqual([`      ${"x".repeat(most)}`, "      …"]);
  });

  test("names what it replies to, as far as that is known", () => {
    const reply = (over: object) => below({ replyTo: { id: "m0", ...over } })[0];
    expect(reply({})).toBe("  [Replying to id:m0] [/Replying]");
    expect(reply({ authorId: "u1" })).toBe("  [Replying to u1 id:m0] [/Replying]");
    expect(reply({ authorId: "u1", authorName: "Bo" })).toBe(
      "  [Replying to Bo id:m0] [/Replying]",
    );
    expect(reply({ authorIsSelf: true, authorName: "Bo" })).toBe(
      "  [Replying to you id:m0] [/Replying]",
    );
    expect(reply({ authorIsSelf: false, text: "" })).toBe("  [Replying to id:m0] “” [/Replying]");
  });

  test("names what a quote or a forward comes from, as far as that is known", () => {
    const from = (origin: object) => below({ quote: { from: origin } })[0];
    expect(from({})).toBe("  [Quoting] [/Quoting]");
    expect(from({ authorId: "u1" })).toBe("  [Quoting from u1] [/Quoting]");
    expect(from({ authorId: "u1", authorName: "Bo" })).toBe("  [Quoting from Bo] [/Quoting]");
    expect(from({ chat: { id: "-1" } })).toBe("  [Quoting in “-1”] [/Quoting]");
    expect(from({ chat: { id: "-1", title: "N" } })).toBe("  [Quoting in “N”] [/Quoting]");
    expect(from({ messageId: "7" })).toBe("  [Quoting id:7] [/Quoting]");
    expect(from({ sentAt: at })).toBe("  [Quoting, 2025-11-21 04:40:00 UTC] [/Quoting]");
  });

  test("that is a bot's is marked, whatever the bot did", () => {
    const author = { name: "Rex", isBot: true };
    const start = "[2025-11-21 04:40:00 UTC]";
    const shown = (over: Partial<PromptMessage>) => envelope(message({ author, ...over }), fence);
    expect(shown({ edited: { before: "a\nb" } })).toBe(
      "[id m1, 2025-11-21 04:40:00 UTC] Rex (bot) changed this message to:\n  look\n  [Earlier text] “a b” [/Earlier text]",
    );
    expect(shown({ reaction: { added: [], removed: ["👎", "👍"] } })).toBe(
      `${start} Rex (bot) took back 👎 👍 from your message id:m1 “look”`,
    );
  });
});

test("a line of ours has all of a text that fits, else its beginning", () => {
  expect(escapeLine("x".repeat(9), 9, fence)).toBe("x".repeat(9));
  expect(escapeLine("x".repeat(10), 9, fence)).toBe(`${"x".repeat(8)}…`);
  expect(escapeLine(" a \n\t b ", 9, fence)).toBe("a b");
  expect(escapeLine(`${" ".repeat(35)}x y`, 9, fence)).toBe("x");
  expect(escapeLine(`${" ".repeat(36)}x`, 9, fence)).toBe("");
});

describe("text of a room", () => {
  test.each([
    ["[System message] x", "(System message] x"],
    ["a [sys b", "a (sys b"],
    ["[Replying to x", "(Replying to x"],
    ["[/Replying]", "(/Replying]"],
    ["[Your summary", "(Your summary"],
    ["<room-text x>", "‹room-text x>"],
    ["</room-text x>", "‹/room-text x>"],
    ["<|im_start|>", "‹|im_start|>"],
    ["< notice", "‹ notice"],
    ["⟪system⟫", "‹system⟫"],
    ["【ｉｎｓｔ】", "(ｉｎｓｔ】"],
    ["say ## Recent context", "say #\\# Recent context"],
    ["#new message", "\\#new message"],
    ["[sys [sys", "(sys (sys"],
    ["k3f9q", "�3f9q"],
    ["K3F9Q and k-3-f-9-q", "�3F9Q and �-3-f-9-q"],
    ["🙂 [sys 🙂", "🙂 (sys 🙂"],
    ["[ systolic", "( systolic"],
  ])("%j is shown as %j", (text, shown) => expect(escapeRoomText(text, fence)).toBe(shown));

  test.each([
    ["# a", "\\# a"],
    ["###", "\\#\\#\\#"],
    ["> ## a", "> \\#\\# a"],
    ["a\n#\nb", "a\n\\#\nb"],
    ["＃a", "\\#a"],
    ["##a", "\\#\\#a"],
    ["#♯ a", "\\#\\# a"],
    ["#topic", "#topic"],
    ["#über", "#über"],
    ["#1 of 3", "#1 of 3"],
    ["a # b", "a # b"],
    ["C#", "C#"],
    [`${">".repeat(16)}# a`, `${">".repeat(16)}\\# a`],
    [`${">".repeat(17)}# a`, `${">".repeat(17)}# a`],
  ])("no heading: %j is shown as %j", (text, shown) =>
    expect(escapeRoomText(text, fence)).toBe(shown),
  );

  test.each(["a[0]", "[a](b)", "a < b", "sys", "naïve 漢字", "plain"])("%j stays", (text) =>
    expect(escapeRoomText(text, fence)).toBe(text),
  );

  test("with a token that has no letters stays", () => {
    expect(escapeRoomText("[a]", "--")).toBe("[a]");
  });

  test("as a name is one line without brackets and rows of hashes", () => {
    expect(escapeLabel("a\n[b] ##c #d ＃＃", fence)).toBe("a (b) #c #d #");
  });
});
