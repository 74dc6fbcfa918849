/**
 * Stickiness mode "floor": what a talk remembers, that more talk of others never makes us bolder, and
 * that the facts shown are the facts that decided.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EngagementInput } from "../../../src/domain/decision.ts";
import { emptyFloors, type FloorLedger } from "../../../src/domain/floor.ts";
import { limits } from "../../../src/domain/limits.ts";
import { explainEngagement } from "../../../src/machines/engagement/engagement.ts";
import { hearLine, keepCredited, noteAnswer } from "../../../src/machines/engagement/floor.ts";
import { hashesOf, wordsOfLine } from "../../../src/machines/engagement/floor-words.ts";
import { LadderCase } from "../../../src/machines/engagement/ladder-input.ts";
import { plainLine } from "../../support/machines/plain-line.ts";
import { property } from "../../support/property.ts";
import { growthOver16, linearMax } from "../../support/runtime/growth.ts";

const people = ["ann", "bo", "cy", "__proto__", "constructor"];
const who = fc.constantFrom(...people);
const texts = fc.constantFrom(
  "ok",
  "thanks!",
  "and the second one?",
  "does anybody know a good soup kitchen",
  "bo said so",
  "scout: what about the soup?",
  "",
);
const said = fc.oneof(
  fc.record({
    kind: fc.constant("line" as const),
    author: who,
    addresses: fc.subarray(people, { maxLength: 2 }),
    engaged: fc.boolean(),
    calls: fc.boolean(),
    afterMs: fc.integer({ min: 0, max: 300_000 }),
  }),
  fc.record({
    kind: fc.constant("answer" as const),
    authors: fc.subarray(people, { minLength: 1 }),
    text: texts,
    afterMs: fc.integer({ min: 0, max: 300_000 }),
  }),
);
type Said = typeof said extends fc.Arbitrary<infer One> ? One : never;

/** The ledger after everything, and when that was. */
function play(all: readonly Said[]): { readonly floors: FloorLedger; readonly now: number } {
  let floors = emptyFloors;
  let now = 1_000_000;
  for (const one of all) {
    now += one.afterMs;
    if (one.kind === "line") floors = hearLine(floors, { ...one, at: now });
    else {
      const words = hashesOf(one.text);
      const asked = one.text.endsWith("?");
      floors = noteAnswer(floors, { at: now, authors: one.authors, named: [], words, asked });
    }
  }
  return { floors, now };
}

function inputOf(floors: FloorLedger, now: number, authorId: string, text: string) {
  const participants = people.map((id) => ({ id, name: id, isBot: false, lastSeenAt: now }));
  return {
    message: {
      text,
      authorId,
      ...plainLine,
    },
    rules: {
      trigger: ["dm", "mention", "reply"],
      activation: "ladder",
      aliases: ["scout"],
      stickiness: { enabled: true, windowMs: 900_000, mode: "floor", holdDuringTurn: true },
    },
    room: { participants, membership: null, botInThread: false },
    credits: Object.fromEntries(people.map((id) => [id, now + 1])),
    held: [],
    floors,
    now,
  } satisfies EngagementInput;
}

const sure = (floors: FloorLedger, now: number, author: string, text: string) =>
  new LadderCase(inputOf(floors, now, author, text)).probability;

describe("the floor", () => {
  property([
    fc.array(said, { maxLength: 12 }),
    who,
    texts,
    fc.subarray(people, { maxLength: 2 }),
    fc.integer({ min: 0, max: 60_000 }),
  ])(
    "one more line of somebody else, whomever it addresses, never raises the judgement of a line",
    (all, author, text, addresses, afterMs) => {
      const { floors, now } = play(all);
      const at = now + afterMs;
      for (const other of people.filter((id) => id !== author)) {
        const line = { author: other, at, addresses, engaged: false, calls: false };
        const after = sure(hearLine(floors, line), at, author, text);
        expect(after).toBeLessThanOrEqual(sure(floors, at, author, text));
      }
    },
  );

  property([fc.array(said, { maxLength: 12 }), who, texts])(
    "the shares that are shown add up to the probability that decided",
    (all, author, text) => {
      const { floors, now } = play(all);
      const input = inputOf(floors, now, author, text);
      const rung = explainEngagement(input).rungs.find(({ rule }) => rule === "sticky");
      const sum = (rung?.shares ?? []).reduce((before, { share }) => before + share, 0);
      const { probability, threshold } = new LadderCase(input);
      expect(1 / (1 + Math.exp(-sum))).toBeCloseTo(probability, 1);
      expect(rung?.outcome).toBe(probability >= threshold ? "matched" : "passed");
      expect(rung?.fact).toContain(`${probability.toFixed(2)}, needs 0.40`);
    },
  );

  property([fc.array(said, { maxLength: 60 })])(
    "a talk takes at most 512 bytes beside its author's id, however much is said",
    (all) => {
      for (const row of Object.values(play(all).floors.rows))
        expect(JSON.stringify(row).length).toBeLessThanOrEqual(512);
    },
  );

  property([fc.array(said, { maxLength: 12 }), fc.subarray(people)])(
    "a talk ends with its author's credit, and only then",
    (all, credited) => {
      const { floors } = play(all);
      const credits = Object.fromEntries(credited.map((id) => [id, 1]));
      const kept = keepCredited(floors, credits);
      expect(Object.keys(kept.rows).sort()).toEqual(
        Object.keys(floors.rows)
          .filter((id) => credited.includes(id))
          .sort(),
      );
    },
  );

  test("parts of one answer are one exchange, and their words are known together", () => {
    const answer = { authors: ["ann"], named: [], asked: false };
    const first = noteAnswer(emptyFloors, { ...answer, at: 1, words: [1, 2] });
    const { rows } = noteAnswer(first, { ...answer, at: 2, words: [3] });
    expect(rows.ann).toMatchObject({ exchanges: 1, words: [3, 1, 2], since: 2 });
  });

  test("a follow-up at once after our answer engages, though others spoke in between", () => {
    const answer = { at: 999_990, authors: ["ann"], named: [], words: [], asked: false };
    const called = { author: "ann", at: 999_000, addresses: [], engaged: true, calls: true };
    const other = { author: "bo", at: 999_995, addresses: [], engaged: false, calls: false };
    const floors = hearLine(noteAnswer(hearLine(emptyFloors, called), answer), other);
    const input = inputOf(floors, 1_000_000, "ann", "and another thing");
    expect(explainEngagement(input).verdict).toMatchObject({ decision: "engage", rule: "sticky" });
  });

  test("lines go with a message whose turn has not begun, whatever they say", () => {
    const input = { ...inputOf(emptyFloors, 1_000_000, "ann", "hello bo"), held: ["ann"] };
    expect(explainEngagement(input).verdict).toMatchObject({ rule: "sticky", credit: "held" });
  });

  test("who has a credit and no talk, as after a change of mode, is judged as just answered", () => {
    const input = inputOf(emptyFloors, 1_000_000, "ann", "ok, and then?");
    expect(explainEngagement(input).verdict).toMatchObject({ decision: "engage", rule: "sticky" });
  });

  test("a name inside another word calls nobody; beside names of others only near the beginning", () => {
    const rules = inputOf(emptyFloors, 1_000_000, "ann", "").rules;
    const ruleOf = (text: string, mentionsOthers: boolean) => {
      const input = inputOf(emptyFloors, 1_000_000, "ann", text);
      const message = { ...input.message, mentionsOthers };
      return explainEngagement({ ...input, message, rules, credits: {} }).verdict.rule;
    };
    expect(ruleOf("what does scout think?", false)).toBe("alias");
    expect(ruleOf("the scouting trip", false)).toBe("default");
    expect(ruleOf("@bo and scout: lunch?", true)).toBe("alias");
    expect(ruleOf("@bo it is not needed, as scout said", true)).toBe("mentions-others");
  });
});

describe("words", () => {
  property([fc.string({ maxLength: 400 })])("at most sixteen hashes of 16 bits", (text) => {
    const hashes = hashesOf(text.toLowerCase());
    expect(hashes.length).toBeLessThanOrEqual(limits.floorWordsMax);
    for (const hash of hashes) expect(hash >= 0 && hash <= 0xffff).toBe(true);
  });

  test("the same words are the same wherever they stand", () => {
    expect(hashesOf("soup, kitchen!")).toEqual(hashesOf("the soup of a kitchen"));
  });

  test("reading a line takes time that grows with it and no faster", () => {
    for (const piece of ["a", "thanks ", "ab1 ", "é", "how do "]) {
      const read = (size: number) => wordsOfLine(piece.repeat(size / 4));
      expect(growthOver16(read, 20_000)).toBeLessThan(linearMax);
    }
  });
});
