/**
 * The lines of a refused config file that a person sees: the right ones, and never a secret, however
 * the file is broken.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { excerptOf } from "../../../src/daemon/config/excerpt.ts";

const textOf = (text: string, line = 1) => excerptOf(text, line).map((one) => one.text);

test("two lines before and two after, as many as the file has", () => {
  const text = ["a", "b", "c", "d", "e", "f"].join("\n");
  expect(
    excerptOf(text, 4)
      .map(({ line, text }) => `${line}${text}`)
      .join(" "),
  ).toBe("2b 3c 4d 5e 6f");
  expect(textOf(text, 1)).toEqual(["a", "b", "c"]);
  expect(textOf(text, 6)).toEqual(["d", "e", "f"]);
  expect(textOf(text, 7)).toEqual([]);
  expect(textOf("{\r\n  a: 1\r\n}", 2)).toEqual(["{", "  a: 1", "}"]);
});

test("what controls a screen is taken out, and a long line is cut", () => {
  expect(textOf("a\u001b[2J\u202e\tb\u2028c")).toEqual(["a[2J    b c"]);
  const [long = ""] = textOf(`${"word ".repeat(100)}`);
  expect([long.length, long.at(-1)]).toEqual([160, "…"]);
});

describe("secrets", () => {
  test.each([
    ['botToken: "s3cret word", b: 1', "botToken: [redacted], b: 1"],
    ["\"bot_token\": 's3cret', b: 1", '"bot_token": [redacted], b: 1'],
    ['botToken "s3cret", b: 1', "botToken [redacted], b: 1"],
    ['"botToken: "s3cret", b: 1', '"botToken: [redacted], b: 1'],
    ['apiKey: "s3cret, b: 1', "apiKey: [redacted]"],
    ['apiKey: s3cret word", b: 1', "apiKey: [redacted]"],
    ['api-key = "s3cret"', "api-key = [redacted]"],
    ['secret: ["s3cret", "more"], b: 1', "secret: [redacted], b: 1"],
    ['url: "https://ann:s3cret@example.com/"', 'url: "https://[redacted]@example.com/"'],
    // Under a name that is misspelled or unknown.
    ['botTokn: "123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"', 'botTokn: "[redacted]"'],
    ['key: "sk-abcdefgh12"', 'key: "[redacted]"'],
    ['key: "0123456789abcdef0123456789abcdef"', 'key: "[redacted]"'],
    ['key: "Abcdefghijklmnopqrstuv1="', 'key: "[redacted]"'],
  ])("%s", (text, shown) => {
    expect(textOf(text)).toEqual([shown]);
  });

  test("a value on the next line, and one of several lines, keep the count of lines", () => {
    expect(textOf('botToken:\n  "s3cret",\nb: 1', 3)).toEqual([
      "botToken:",
      "  [redacted],",
      "b: 1",
    ]);
    expect(textOf('botToken: "s3\\\ncret",\nb: 1', 3)).toEqual([
      "botToken: [redacted]",
      ",",
      "b: 1",
    ]);
  });

  test.each([
    [`botToken: "\${TELEGRAM_TOKEN}",`],
    ['channels: { telegram: { groups: { "telegram:-1001234567890": {} } } }'],
    ['url: "https://api.example.com/v1/models"'],
    ['model: "claude-sonnet-4-5-20250929"'],
  ])("what is none stays: %s", (text) => {
    expect(textOf(text)).toEqual([text]);
  });

  test("none is shown, whichever character the file lacks", () => {
    const secret = fc.stringMatching(/^[a-z][a-z0-9 :,/_.-]{6,30}[a-z]$/u);
    fc.assert(
      fc.property(secret, fc.boolean(), fc.nat(), (value, isQuoted, at) => {
        const field = isQuoted ? '"botToken"' : "botToken";
        const before = `{\n  channels: {\n    telegram: {\n      `;
        const text = `${before}${field}: "${value}",\n      poll: 1,\n    },\n  },\n}\n`;
        const name = text.indexOf("botToken");
        const begin = text.indexOf(value, name + 8);
        const lost = at % text.length;
        const kept = (from: number, length: number) => lost >= from && lost < from + length;
        fc.pre(!kept(name, "botToken".length) && !kept(begin, value.length));
        const broken = text.slice(0, lost) + text.slice(lost + 1);
        for (const line of [3, 4, 5]) expect(textOf(broken, line).join("\n")).not.toContain(value);
      }),
    );
  });
});
