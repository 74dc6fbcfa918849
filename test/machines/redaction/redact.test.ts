/** Redaction: other words of the same form, and nothing that decides is lost or made up. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { Pseudonyms } from "../../../src/machines/redaction/pseudonyms.ts";
import { Redactor } from "../../../src/machines/redaction/redact.ts";
import { TextRedactor } from "../../../src/machines/redaction/redact-text.ts";

const config = scenarioConfig({
  agents: { list: [{ id: "main", name: "Scout", aliases: ["Dr Ear"] }] },
});
const texts = () => new TextRedactor("a key", config);
const word = fc.stringMatching(/^[a-z0-9]{1,20}$/);

describe("pseudonyms", () => {
  test("are of the same form, the same each time, and never the word itself", () => {
    const words = new Pseudonyms("k", () => false);
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9]{1,24}$/), (given) => {
        const form = (text: string) =>
          text.replaceAll(/[a-z]/g, "a").replaceAll(/[A-Z]/g, "A").replaceAll(/\d/g, "0");
        const made = words.word(given);
        expect(form(made)).toBe(form(given));
        expect(made.toLowerCase()).not.toBe(given.toLowerCase());
        expect(new Pseudonyms("k", () => false).word(given)).toBe(made);
      }),
    );
  });

  test("keep two words apart", () => {
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 40 }), (given) => {
        const words = new Pseudonyms("k", () => false);
        expect(new Set(given.map((one) => words.word(one))).size).toBe(given.length);
      }),
    );
    const all = Array.from({ length: 10_000 }, (_, n) => String(n).padStart(4, "0"));
    const words = new Pseudonyms("k", () => false);
    expect(new Set(all.map((one) => words.word(one))).size).toBe(all.length);
  });

  test("say nothing that means something by chance", () => {
    const words = new Pseudonyms("k", (made) => /[aeiou]/.test(made));
    for (const given of ["ab", "cde", "fghi"]) expect(words.word(given)).not.toMatch(/[aeiou]/);
  });
});

describe("a redacted text", () => {
  test("keeps spaces, marks and lengths, and names of ours inside other words", () => {
    const made = texts().text("Hey scouting, dr ear! see https://example.com/a?b=12 😀 naïve");
    expect(made).toHaveLength(
      "Hey scouting, dr ear! see https://example.com/a?b=12 😀 naïve".length,
    );
    expect(made).toMatch(/^Hey scout[a-z]{3}, dr ear! [a-z]{3} [a-z]{5}:\/\/\S+ 😀 [a-z]{5}$/);
    expect(made).not.toMatch(/example|see/);
  });

  test("keeps the words by which mode “floor” decides, and nothing else of a line", () => {
    expect(texts().text("Thanks, can anybody help you?")).toMatch(
      /^Thanks, can anybody [a-z]{4} you\?$/,
    );
  });

  test("replaces the name of another bot alike wherever it is", () => {
    const redactor = texts();
    redactor.noteBot("Relay");
    const [name = "", plural = ""] = redactor.text("relay relays").split(" ");
    expect(name).not.toBe("relay");
    expect(plural.startsWith(name)).toBe(true);
  });

  test.each(["stop", "/stop", "/new", "/think high"])("keeps the order %s", (order) => {
    expect(texts().text(order)).toBe(order);
  });

  test("keeps a command beside words, and not the words", () => {
    expect(texts().text("/think high about lunch")).toMatch(/^\/think high [a-z]{5} [a-z]{5}$/);
    expect(texts().text("/lunch high about it")).not.toMatch(/lunch|high|about/);
  });
});

describe("a redacted config", () => {
  test("has what decides under the ids of the lines, and no secrets, paths or instructions", () => {
    const given = {
      agents: {
        list: [
          { id: "main", name: "Scout", system: "Be kind to Ann.", workspace: "/home/ann/ears" },
        ],
      },
      access: { dmPolicy: "allowlist", allowFrom: ["irc:annie42"] },
      channels: {
        irc: {
          groups: {
            kitchen42: {
              system: "Be kind to Ann.",
              aliases: ["Chef"],
              topics: { soup77: { model: "annies", engagement: { activation: "mention" } } },
            },
          },
          accounts: { default: { password: "hunter2", nick: "ears" } },
        },
      },
      conversations: { "agent:main:irc:group:annie42": { system: "Be kind to Ann." } },
      store: { path: "/home/ann/db" },
    };
    const redactor = new Redactor("k", { earshot: 1, config: given }, scenarioConfig);
    const { config: made } = redactor.header({ earshot: 1, config: given });
    const line = redactor.line({
      t: 0,
      membership: {
        channel: "irc",
        account: "default",
        chat: { id: "annie42", kind: "direct" },
        thread: null,
        humans: 1,
        bots: 0,
        truncated: false,
      },
    });
    const id = "membership" in line ? line.membership.chat.id : "";
    expect(id).not.toBe("annie42");
    expect(made).toMatchObject({ access: { dmPolicy: "allowlist", allowFrom: [`irc:${id}`] } });
    expect(JSON.stringify(made)).not.toMatch(/annie|kind to|hunter2|home|kitchen|soup/i);
    expect(JSON.stringify(made)).toContain('"engagement":{"activation":"mention"}');
    expect(new TextRedactor("k", scenarioConfig(given)).text("chefs?")).toMatch(/^chef/);
    expect(JSON.stringify(made)).toMatch(/"workspace":"ears"/);
    expect(() => scenarioConfig(made)).not.toThrow();
  });
});
