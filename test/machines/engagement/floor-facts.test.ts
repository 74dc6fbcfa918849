/** The facts of the floor one by one: when each counts, how much, and how it is said. */
import { describe, expect, test } from "vitest";
import { emptyFloors, type Floor } from "../../../src/domain/floor.ts";
import { limits } from "../../../src/domain/limits.ts";
import {
  countTalks,
  hearLine,
  keepCredited,
  noteAnswer,
  unknownFloor,
} from "../../../src/machines/engagement/floor.ts";
import {
  type FloorCase,
  type FloorFactName,
  floorFacts,
} from "../../../src/machines/engagement/floor-facts.ts";
import {
  endsWithQuestion,
  hashesOf,
  wordsOfLine,
} from "../../../src/machines/engagement/floor-words.ts";

const now = 10_000_000;
const ago = (seconds: number) => now - seconds * 1_000;
/** Answered ten minutes ago; nothing has been said since. */
const row: Floor = { ...unknownFloor(emptyFloors, ago(600)), exchanges: 0 };
const base: FloorCase = {
  row,
  who: "Ann",
  now,
  others: 0,
  talks: 0,
  spokeAt: ago(600),
  length: 0,
  namesOther: false,
  hasName: false,
  words: wordsOfLine(""),
};
const at = (name: FloorFactName, given: Partial<Floor>, more: Partial<FloorCase> = {}) => {
  const one = { ...base, row: { ...row, ...given }, ...more };
  return [floorFacts[name].value(one), floorFacts[name].say(one)];
};
const value = (...asked: Parameters<typeof at>) => at(...asked)[0];

describe("facts", () => {
  test("whose line it is, and what others said before it", () => {
    expect(at("first", {})).toEqual([1, "first line from Ann since the agent's answer"]);
    expect(value("first", { own: 1 })).toBe(0);
    expect(value("first", { answered: false })).toBe(0);
    expect(at("waiting", { answered: false })).toEqual([
      1,
      "Ann called the agent and has no answer yet",
    ]);
    expect(value("waiting", {})).toBe(0);
    const [three, one] = [{ others: 3 }, { others: 1 }];
    const said = "by others since the agent's answer";
    expect(at("othersFirst", {}, three)).toEqual([Math.log(4), `3 lines ${said}`]);
    expect(at("othersFirst", {}, one)).toEqual([Math.log(2), `1 line ${said}`]);
    expect(value("othersFirst", { own: 1 }, three)).toBe(0);
    expect(at("othersLater", { own: 1 }, three)).toEqual([Math.log(4), `3 lines ${said}`]);
    expect(at("othersLater", { answered: false }, three)[1]).toContain("since their call");
    expect(value("othersLater", {}, three)).toBe(0);
  });

  test("who addressed the author, and when: up to a minute, up to five", () => {
    for (const [name, seconds, words] of [
      ["addressedMinute", 60, "a minute"],
      ["addressedFive", 300, "five minutes"],
    ] as const) {
      expect(at(name, { addressedAt: ago(seconds - 1) })).toEqual([
        1,
        `someone addressed Ann within ${words}`,
      ]);
      expect(value(name, { addressedAt: ago(seconds) })).toBe(0);
      // Never addressed, with a clock that has only begun.
      expect(value(name, { addressedAt: 0 }, { now: 1_000 })).toBe(0);
    }
    expect([2, 3, 4].map((addressed) => value("addressed", { addressed }))).toEqual([2, 3, 3]);
    expect(at("addressed", { addressed: 4 })[1]).toBe(
      "Ann was addressed by others since the agent's answer: 4",
    );
  });

  test("how long ago the agent spoke, and how quick the line came", () => {
    expect(at("quiet", {}, { spokeAt: ago(89) })).toEqual([
      Math.log(90),
      "the agent last spoke 89 s ago",
    ]);
    expect(at("quiet", {}, { spokeAt: ago(90) })[1]).toBe("the agent last spoke 2 min ago");
    expect(at("quiet", {}, { spokeAt: ago(3_600) })).toEqual([
      Math.log(901),
      "the agent last spoke 60 min ago",
    ]);
    expect(value("quiet", {}, { spokeAt: now + 5_000 })).toBe(0);
    const [forty, long] = [{ length: 42 }, { length: 100_000 }];
    expect(at("pace", { since: ago(20) }, { length: 41 })).toEqual([
      0.2,
      "41 characters 20 s later",
    ]);
    expect(value("pace", { since: ago(1) }, forty)).toBe(1.2);
    expect(value("pace", { since: ago(1) }, long)).toBe(3);
  });

  test("the author's own lines, and where the last of them went", () => {
    expect([3, 4, 5].map((own) => value("own", { own }))).toEqual([3, 4, 4]);
    expect(at("own", { own: 1 })[1]).toBe("1 line from Ann since the agent's answer");
    expect([2, 3, 4].map((elsewhere) => value("elsewhere", { elsewhere }))).toEqual([2, 3, 3]);
    expect(at("elsewhere", { elsewhere: 2 })[1]).toBe("of these to someone else: 2");
    for (const [name, last, words] of [
      ["lastEngaged", "engaged", "the line before engaged the agent"],
      ["lastElsewhere", "elsewhere", "the line before was to someone else"],
    ] as const) {
      expect(at(name, { lastAt: ago(900), last })).toEqual([1, words]);
      expect(value(name, { lastAt: 0, last })).toBe(0);
      expect(value(name, { lastAt: ago(900), last: "open" })).toBe(0);
    }
    expect(at("soon", { lastAt: ago(24) })).toEqual([1, "24 s after their line before"]);
    expect(value("soon", { lastAt: ago(25) })).toBe(0);
    expect(value("soon", { lastAt: 0 }, { now: 1_000 })).toBe(0);
    expect(at("flow", { lastAt: ago(24), last: "engaged" })).toEqual([
      1,
      "follows at once a line that engaged the agent",
    ]);
    expect(value("flow", { lastAt: ago(25), last: "engaged" })).toBe(0);
    expect(value("flow", { lastAt: ago(24), last: "open" })).toBe(0);
  });

  test("the talk so far", () => {
    expect([3, 4, 5].map((talks) => value("talks", {}, { talks }))).toEqual([3, 4, 4]);
    expect(at("talks", {}, { talks: 2 })[1]).toBe(
      "others the agent talked with in five minutes: 2",
    );
    expect([3, 4, 5].map((exchanges) => value("exchanges", { exchanges }))).toEqual([3, 4, 4]);
    expect(at("exchanges", { exchanges: 2 })[1]).toBe("exchanges so far: 2");
    expect(at("habit", { calls: 2, plain: 1 })).toEqual([
      0.6,
      "Ann named the agent in 2 of 3 lines before",
    ]);
    expect(at("asked", { asked: true })).toEqual([1, "the agent's answer was a question"]);
    expect(value("asked", { asked: true, own: 1 })).toBe(0);
    expect(value("asked", { asked: false })).toBe(0);
    expect(at("named", { named: true })).toEqual([1, "the agent's answer named Ann"]);
  });

  test("what the line says", () => {
    const shared = (text: string) =>
      at("shared", { words: hashesOf("soup bread wine salt") }, { words: wordsOfLine(text) });
    expect(shared("the soup and bread of home")).toEqual([
      2,
      "words shared with the agent's answer: 2",
    ]);
    expect(shared("soup bread wine salt")[0]).toBe(3);
    expect(shared("home")[0]).toBe(0);
    expect(at("name", {}, { hasName: true })).toEqual([1, "contains a name of the agent"]);
    expect(at("namesOther", {}, { namesOther: true })).toEqual([
      1,
      "contains the name of someone else here",
    ]);
    for (const [name, text, words] of [
      ["acknowledges", "ok then", "begins like a reply"],
      ["thanks", "many thanks", "says thanks"],
      ["saysYou", "can you", "says “you”"],
      ["callsAll", "hello", "begins like a call to everybody"],
      ["question", "why?", "asks a question"],
    ] as const) {
      expect(at(name, {}, { words: wordsOfLine(text) })).toEqual([1, words]);
      expect(value(name, {}, { words: wordsOfLine("this then") })).toBe(0);
    }
  });
});

describe("words of a line", () => {
  test("the first word acknowledges or calls everybody, where needed with the second", () => {
    const found = (text: string) => {
      const { acknowledges, callsAll, saysYou, thanks, asks } = wordsOfLine(text);
      const all = { acknowledges, callsAll, saysYou, thanks, asks };
      return Object.entries(all).flatMap(([name, is]) => (is ? [name] : []));
    };
    expect(found("")).toEqual([]);
    expect(found("alright, you did")).toEqual(["acknowledges", "saysYou"]);
    expect(found("so alright")).toEqual([]);
    expect(found("does anyone know?")).toEqual(["callsAll", "asks"]);
    expect(found("does it, anyone")).toEqual([]);
    expect(found("does know anyone")).toEqual([]);
    expect(found("anybody here")).toEqual(["callsAll"]);
    expect(found("how do u do")).toEqual(["callsAll", "saysYou"]);
    expect(found("thanks for it")).toEqual(["acknowledges", "thanks"]);
    expect(found("so, thx a lot of times")).toEqual(["thanks"]);
    expect(found("you and me and thank him not at all")).toEqual(["saysYou", "thanks"]);
  });

  test("words are of letters and digits, of four units or more, each once, sixteen at most", () => {
    const [soup] = hashesOf("soup");
    expect(soup).toBeTypeOf("number");
    expect(hashesOf("a of the soup{soup/soup:soup`soup.soup")).toEqual([soup]);
    expect(wordsOfLine("a of the soup and soup").hashes).toEqual([soup]);
    for (const word of ["azaz", "0909", "\u00c0\u00c0\u00c0\u00c0"])
      expect(hashesOf(`- ${word} -`), word).toEqual(hashesOf(word));
    expect(hashesOf("azaz")).toHaveLength(1);
    expect(hashesOf("0909")).toHaveLength(1);
    expect(hashesOf("\u00c0\u00c1\u00c2\u00c3")).toHaveLength(1);
    expect(hashesOf("soup bread")).not.toEqual(hashesOf("soupbread"));
    const many = Array.from({ length: 30 }, (_, place) => `word${place}`).join(" ");
    expect(hashesOf(many)).toHaveLength(limits.floorWordsMax);
    expect(hashesOf(many)).toEqual(wordsOfLine(many).hashes);
  });

  test("a question is what ends with its mark", () => {
    expect(["so?", "so? \n", "so", "?so", ""].map(endsWithQuestion)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe("the ledger", () => {
  const line = { author: "ann", at: 5, addresses: [], engaged: true, calls: true };
  const answer = { at: 9, authors: ["ann"], named: [], words: [1], asked: false };

  test("a talk begins with a call that engages, and not with any other line", () => {
    const { rows, heard } = hearLine(emptyFloors, line);
    expect(heard).toBe(emptyFloors.heard + 1);
    expect(rows).toEqual({
      ann: {
        since: 5,
        answered: false,
        heard: emptyFloors.heard,
        exchanges: 0,
        asked: false,
        named: false,
        words: [],
        own: 1,
        elsewhere: 0,
        addressed: 0,
        addressedAt: 0,
        lastAt: 5,
        last: "engaged",
        calls: 1,
        plain: 0,
      },
    });
    for (const other of [
      { engaged: true, calls: false },
      { engaged: false, calls: true },
    ])
      expect(hearLine(emptyFloors, { ...line, ...other }).rows).toEqual({});
  });

  test("lines of the author count for the author, and addressing somebody for them", () => {
    let floors = hearLine(hearLine(emptyFloors, line), { ...line, author: "bo" });
    floors = hearLine(floors, {
      author: "ann",
      at: 7,
      addresses: ["bo", "ann", "cy"],
      engaged: false,
      calls: true,
    });
    expect(Object.keys(floors.rows)).toEqual(["ann", "bo"]);
    expect(floors.rows.ann).toMatchObject({ own: 2, elsewhere: 1, last: "elsewhere", lastAt: 7 });
    expect(floors.rows.ann).toMatchObject({ calls: 1, plain: 0, addressed: 0, addressedAt: 0 });
    expect(floors.rows.bo).toMatchObject({ own: 1, addressed: 1, addressedAt: 7, lastAt: 5 });
    floors = hearLine(floors, { ...line, at: 8, calls: false });
    expect(floors.rows.ann).toMatchObject({ own: 3, elsewhere: 1, plain: 1, last: "engaged" });
    floors = hearLine(floors, { ...line, at: 9, engaged: false });
    expect(floors.rows.ann).toMatchObject({ own: 4, elsewhere: 1, calls: 1, last: "open" });
  });

  test("an answer begins the count again, and is one exchange until somebody speaks", () => {
    let floors = hearLine(emptyFloors, line);
    floors = hearLine(floors, { ...line, author: "bo", addresses: ["ann"], engaged: false });
    floors = noteAnswer(floors, { ...answer, named: ["ann"], asked: true });
    expect(floors.spokeAt).toBe(9);
    expect(floors.rows.ann).toMatchObject({ since: 9, answered: true, heard: floors.heard });
    expect(floors.rows.ann).toMatchObject({ exchanges: 1, asked: true, named: true, words: [1] });
    expect(floors.rows.ann).toMatchObject({ own: 0, elsewhere: 0, addressed: 0, calls: 1 });
    const part = noteAnswer(floors, { ...answer, words: [2, 1] });
    expect(part.rows.ann).toMatchObject({ exchanges: 1, asked: false, named: true, words: [2, 1] });
    const other = hearLine(floors, { ...line, author: "bo", engaged: false });
    const next = noteAnswer(other, { ...answer, words: [2] });
    expect(next.rows.ann).toMatchObject({ exchanges: 1, named: false, words: [2] });
    const spoken = noteAnswer(hearLine(floors, line), { ...answer, words: [2] });
    expect(spoken.rows.ann).toMatchObject({ exchanges: 2, named: false, words: [2] });
    const long = {
      ...answer,
      words: Array.from({ length: limits.floorWordsMax }, (_, n) => n + 9),
    };
    expect(noteAnswer(floors, long).rows.ann?.words).toHaveLength(limits.floorWordsMax);
  });

  test("talks of others count for five minutes; a ledger that stays the same is the same", () => {
    const floors = noteAnswer(emptyFloors, { ...answer, authors: ["ann", "bo", "cy"] });
    expect(countTalks(floors, "ann", 9 + 299_999)).toBe(2);
    expect(countTalks(floors, "nobody", 9 + 299_999)).toBe(3);
    expect(countTalks(floors, "ann", 9 + 300_000)).toBe(0);
    expect(keepCredited(floors, { ann: 1, bo: 1, cy: 1 })).toBe(floors);
    expect(Object.keys(keepCredited(floors, { bo: 1 }).rows)).toEqual(["bo"]);
    expect(unknownFloor({ ...emptyFloors, heard: 4 }, 7)).toMatchObject({
      since: 7,
      answered: true,
      exchanges: 1,
      heard: 4,
    });
  });
});
