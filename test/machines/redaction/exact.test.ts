/** What is kept and what is replaced of a text, word for word; and that a key means the same in every version. */
import { describe, expect, test } from "vitest";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { lowered, Pseudonyms } from "../../../src/machines/redaction/pseudonyms.ts";
import { TextRedactor } from "../../../src/machines/redaction/redact-text.ts";

const config = scenarioConfig({
  agents: { list: [{ id: "main", name: "Scout", aliases: ["Dr Ear"], silent: { token: "HUSH" } }] },
  silent: { token: "NO_REPLY" },
  session: { resetTriggers: ["/new", "Fresh start"] },
  commands: { stopWords: ["halt"] },
});
const texts = (key = "k", given = config) => new TextRedactor(key, given);
/** Replaced, each of these words. */
const other = (...words: string[]) => words.map((word) => texts().id(word)).join(" ");

describe("pseudonyms", () => {
  test.each([
    ["a", "y"],
    ["7", "3"],
    ["ab", "yy"],
    ["A1b2", "S1b4"],
    ["Hello", "Foqvf"],
    ["kitchen42", "stcxgfv37"],
    ["wordsthatarelong", "wghihgqwegmkdrgx"],
    ["ÉTÉ", "EQR"],
    ["İstanbul", "Irzinaoa"],
    ["漢字", "mw"],
    ["0042", "2150"],
    ["abcdefgh", "jjdpwlag"],
    ["ABCDEFGHI", "CTUAZLVMZ"],
  ])("under one key %s is %s: recordings of two versions agree", (word, made) => {
    expect(new Pseudonyms("k", () => false).word(word)).toBe(made);
  });

  test("are all different for all words of a form, and under another key", () => {
    const words = new Pseudonyms("k", () => false);
    const pairs = Array.from("abcdefghijklmnopqrstuvwxyz", (a) => `${a}0`);
    const all = pairs.flatMap((start) => Array.from({ length: 10 }, (_, n) => `${start[0]}${n}`));
    expect(new Set(all.map((one) => words.word(one))).size).toBe(260);
    expect(all.filter((one) => words.word(one) === one)).toEqual([]);
    expect(new Pseudonyms("l", () => false).word("kitchen")).not.toBe(words.word("kitchen"));
  });

  test("never are a word that is taken, where there is another", () => {
    const plain = new Pseudonyms("k", () => false);
    const first = plain.word("ab");
    const second = plain.word(first);
    expect(new Pseudonyms("k", (made) => made === first).word("ab")).toBe(second);
    expect(new Pseudonyms("k", (made) => made === first || made === second).word("ab")).toBe(
      plain.word(second),
    );
    const none = new Pseudonyms("k", () => true);
    expect(none.word("ab")).toMatch(/^[a-z]{2}$/u);
  });

  test("are no name of ours, no command and no word that decides", () => {
    expect(new Pseudonyms("k", () => false).word("ab")).toBe("yy");
    const named = (name: string) =>
      texts("k", scenarioConfig({ agents: { list: [{ id: "main", name }] } }));
    expect(named("yy").id("ab")).not.toBe("yy");
    expect(named("hgq").id("wordsthatarelong")).not.toContain("hgq");
    for (const letter of "abcdefghijklmnopqrstuvwxyz")
      expect(["t", "v"]).not.toContain(texts().id(letter));
  });

  test("are found under lower case of the same length", () => {
    expect(lowered("ÀB")).toBe("àb");
    expect(lowered("İB")).toBe("İb");
  });
});

describe("of a text", () => {
  test.each([
    ["halt", "halt"],
    [" HALT! ", " HALT! "],
    ["please, halt", "please, halt"],
    ["fresh start", "fresh start"],
    [" fresh start\n", " fresh start\n"],
    ["HALT\nnow", `HALT\n${other("now")}`],
    ["  Fresh start, please", `  Fresh start, ${other("please")}`],
    ["a fresh start", other("a", "fresh", "start")],
    ["freshen", other("freshen")],
    ["NO_REPLY hush", "NO_REPLY hush"],
    ["dr ear and scouts", `dr ear ${other("and")} scouts`.replace("scouts", `scout${other("s")}`)],
    ["/model 12 gpt5 high", `/model 12 ${other("gpt5")} high`],
    ["/model 12 5gpt", "/model 12 5gpt"],
    ["12 high", other("12", "high")],
    ["/unknown 12 high", `/${other("unknown", "12", "high")}`],
    ["a/model high", `${other("a")}/${other("model", "high")}`],
    ["a /MODEL b", `${other("a")} /MODEL ${other("b")}`],
    ["Thanks THANKS", "Thanks THANKS"],
    ["claim-ABCDEF-GHJKMN", `claim-${texts().id("ABCDEF")}-${texts().id("GHJKMN")}`],
    ["`Claim-ABCDEF-GHJKMN`", `claim-${texts().id("ABCDEF")}-${texts().id("GHJKMN")}`],
    ["", ""],
  ])("%j is %j", (text, made) => expect(texts().text(text)).toBe(made));

  test("an id is replaced whatever it says, but one that a simulated platform gave", () => {
    expect(texts().id("sent-12")).toBe("sent-12");
    expect(texts().id("xsent-12")).not.toContain("sent");
    expect(texts().id("sent-12x")).not.toContain("sent");
    expect(texts().id("scout")).not.toBe("scout");
    expect(texts().id("thanks:high")).not.toMatch(/thanks|high/u);
  });
});

describe("names of other bots", () => {
  const noted = (...names: string[]) => {
    const made = texts();
    for (const name of names) made.noteBot(name);
    return made;
  };

  test("are replaced alike, whole and each word, also inside other words", () => {
    const made = noted(" Relay Bot7 ");
    const relay = other("relay");
    const bot = other("bot7");
    expect(made.text("relay bot7")).toBe(`${relay} ${bot}`);
    expect(made.text("xrelays")).toBe(`${other("x")}${relay}${other("s")}`);
    expect(made.text("RELAYS")).toBe(relay + other("S"));
    expect(made.text("bot7bot7")).toBe(bot + bot);
  });

  test("are looked for as whole words only where they are short or ours", () => {
    expect(noted("Al").text("also")).toBe(other("also"));
    expect(noted("Ali").text("alias")).toBe(other("ali") + other("as"));
    expect(noted("Scouty").text("scouty")).toBe(`scout${other("y")}`);
  });

  test("come up in no pseudonym, once they are long enough to be recognised", () => {
    const made = noted("Relay");
    const relay = other("relay");
    for (let n = 0; n < 200; n += 1) expect(made.text(`word${n}`)).not.toContain(relay);
  });

  test("are a thousand at most", () => {
    const made = texts();
    const nameOf = (n: number) => `${String.fromCharCode(97 + (n % 26))}q${n}x`;
    for (let n = 0; n < 1_001; n += 1) made.noteBot(nameOf(n));
    const inside = (n: number) => made.text(`zz${nameOf(n)}`).endsWith(texts().id(nameOf(n)));
    expect([inside(0), inside(999), inside(1_000)]).toEqual([true, true, false]);
  });
});
