/**
 * The index of messages: what FTS5 finds is what comparing each message finds, and nothing that
 * somebody types is read as a statement or an operator.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { openSearchIndex } from "../../../src/adapters/search/search-database.ts";
import type { IndexedMessage, MessageQuery, SearchIndex } from "../../../src/domain/ports/index.ts";
import { matchText, parseQuery } from "../../../src/domain/search/query.ts";
import { anyCharacter, property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";

const folder = mkdtempSync(join(tmpdir(), "earshot-search-"));
const fileOf = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const opened: SearchIndex[] = [];
afterEach(() => {
  for (const index of opened.splice(0)) index.close();
});

function open(path: string | null = null, fullText = true): SearchIndex {
  const index = openSearchIndex({ path, fullText });
  opened.push(index);
  return index;
}

function message(seq: number, text: string, more: Partial<IndexedMessage> = {}): IndexedMessage {
  return {
    seq,
    conv: 7,
    key: "agent:main:webhook:group:a",
    at: seq * 1_000,
    kind: "heard",
    id: `m${seq}`,
    author: { id: "ann", name: "Ann", isBot: false },
    decision: "observe",
    rule: "default",
    outcome: null,
    turnId: null,
    place: "",
    text,
    ...more,
  };
}

function fill(index: SearchIndex, texts: readonly (string | IndexedMessage)[]): void {
  const changes = texts.map((one, at) => ({
    op: "add" as const,
    message: typeof one === "string" ? message(at + 1, one) : one,
  }));
  index.write(changes, { seq: texts.length, conv: 7 });
}

async function ids(index: SearchIndex, text: string, more: Partial<MessageQuery> = {}) {
  const page = await index.find({ terms: parseQuery(text), limit: 100, ...more });
  return page.found.map(({ id }) => id);
}

describe.each([
  ["with FTS5", true],
  ["by comparing", false],
])("finding by text, %s", (_, fullText) => {
  test.each([
    ["lunch", ["m2", "m1"]],
    ["LUNCH noon", ["m1"]],
    ["lun", ["m2", "m1"]],
    ['"lun"', []],
    ['"at noon"', ["m1"]],
    ['"noon at"', []],
    ["lunch -noon", ["m2"]],
    ["-lunch", ["m7", "m6", "m5", "m4", "m3", "m2"]],
    ["cafe", ["m3"]],
    ["CAFÉ", ["m3"]],
    ["strasse", ["m3"]],
    ["京", ["m4"]],
    ["東京", ["m4"]],
    ["京東", []],
    [":)", ["m5"]],
    ["c++", ["m6"]],
    ["user_id", ["m6"]],
    ["हिन्दी", ["m7"]],
    ["", ["m7", "m6", "m5", "m4", "m3", "m2", "m1"]],
    ["nobody", []],
  ])("%s finds %j", async (text, wanted) => {
    const index = open(null, fullText);
    expect(index.fullText).toBe(fullText);
    fill(index, [
      "Lunch at noon?",
      "lunches are over",
      "das Café in der Straße",
      "私は東京に住んでいます",
      "fine :)",
      "the C++ of user_id",
      "हिन्दी में",
    ]);
    expect(await ids(index, text)).toEqual(wanted);
  });

  property(
    [
      fc.array(fc.array(fc.constantFrom("a", "abc", "abcd", "é", "東", "京", "b-a", ":)", "_")), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.array(
        fc.constantFrom(
          "a",
          "-a",
          "abc",
          "-abc",
          '"a ab"',
          "-",
          '"',
          "e",
          "東京",
          "-東",
          ":)",
          "-:)",
        ),
        { maxLength: 4 },
      ),
    ],
    { numRuns: 60 },
  )("finds what comparing each text finds", async (texts, query) => {
    const index = open(null, fullText);
    const said = texts.map((words) => words.join(" "));
    fill(index, said);
    const terms = parseQuery(query.join(" "));
    const wanted = said.flatMap((text, at) =>
      matchText(text, terms) === null ? [] : [`m${at + 1}`],
    );
    expect(await ids(index, query.join(" "))).toEqual(wanted.reverse());
  });

  property([fc.string({ unit: anyCharacter, maxLength: 300 }), fc.string()], {
    numRuns: rounds(50, 150),
  })("any text is a query and any text is a message", async (query, text) => {
    const index = open(null, fullText);
    fill(index, [text, query]);
    await ids(index, query);
    await ids(index, "", { author: query });
  });
});

test("syntax of FTS5 and SQL in a query is text", async () => {
  const index = open();
  fill(index, ["one", "two OR three", "near"]);
  for (const text of [
    ...['a OR "', "text:one", "one*", "^one", "NEAR(one two)", "one AND", "{text}: one", '""""'],
    ...["'; DROP TABLE message; --", "one NOT", "(", ")", "\0", "+one", '"one" + "two'],
  ])
    await ids(index, text);
  expect(await ids(index, "two OR three")).toEqual(["m2"]);
  expect(index.size()).toBe(3);
});

describe("facts", () => {
  test("author, decision, rule, outcome, room and time choose, each and together", async () => {
    const index = open();
    const bo = { id: "bo-1", name: "Böb Ross", isBot: false };
    fill(index, [
      message(1, "hey", { decision: "engage", rule: "mention" }),
      message(2, "hey", { author: bo }),
      message(3, "hey", { author: bo, conv: 8, key: "agent:main:webhook:group:b" }),
      message(4, "no", { author: bo, decision: "denied", rule: "dm-policy", conv: 0, key: "" }),
    ]);
    index.write([{ op: "ended", conv: 7, turnId: "t", messages: ["m1"], outcome: "failed" }], {
      seq: 5,
      conv: 7,
    });
    expect(await ids(index, "", { author: "ross" })).toEqual(["m4", "m3", "m2"]);
    expect(await ids(index, "", { author: "bo-1", conv: 8 })).toEqual(["m3"]);
    expect(await ids(index, "", { decisions: ["engage", "denied"] })).toEqual(["m4", "m1"]);
    expect(await ids(index, "", { rules: ["mention"] })).toEqual(["m1"]);
    expect(await ids(index, "hey", { outcomes: ["failed"] })).toEqual(["m1"]);
    expect(await ids(index, "", { since: 2_000, until: 4_000 })).toEqual(["m3", "m2"]);
  });

  test("pages follow one another without a gap or a message twice", async () => {
    const index = open();
    fill(
      index,
      Array.from({ length: 25 }, (_, n) => `word ${n}`),
    );
    const seen: string[] = [];
    let before: number | undefined;
    for (;;) {
      const page = await index.find({ terms: parseQuery("word"), limit: 10, before });
      seen.push(...page.found.map(({ id }) => id));
      if (page.next === null) break;
      before = page.next;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => `m${25 - n}`));
  });
});

describe("changes", () => {
  test.each([true, false])(
    "an edit and a deletion change what is found (FTS5: %s)",
    async (fts) => {
      const index = open(null, fts);
      fill(index, ["the secret plan", "another"]);
      index.write([{ op: "text", conv: 7, id: "m1", text: "nothing here" }], { seq: 3, conv: 7 });
      expect(await ids(index, "secret")).toEqual([]);
      expect(await ids(index, "nothing")).toEqual(["m1"]);
      index.write([{ op: "text", conv: 7, id: "m1", text: null }], { seq: 4, conv: 7 });
      expect(await ids(index, "nothing")).toEqual([]);
      expect(index.size()).toBe(1);
    },
  );

  test("what is deleted leaves no word in the file", () => {
    const path = fileOf("deleted.db");
    const index = open(path);
    fill(index, ["the zebrafish", "another"]);
    index.write([{ op: "text", conv: 7, id: "m1", text: null }], { seq: 3, conv: 7 });
    index.flush();
    index.close();
    const bytes = readFileSync(path, "latin1");
    expect(bytes).not.toContain("zebrafish");
    expect(bytes).toContain("another");
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  });

  test("pruning deletes what the journal no longer has", async () => {
    const index = open();
    fill(index, ["old one", "old two", "new"]);
    expect(index.prune(3, 1)).toBe(1);
    expect(index.prune(3, 5)).toBe(1);
    expect(index.prune(3, 5)).toBe(0);
    expect(await ids(index, "")).toEqual(["m3"]);
    expect(await ids(index, "old")).toEqual([]);
  });

  test("rows and position are one commit: a change that fails leaves both", () => {
    const index = open();
    fill(index, ["one"]);
    const bad = { op: "add", message: { ...message(2, "two"), kind: null as never } } as const;
    index.flush();
    const good = { op: "add", message: message(3, "three") } as const;
    expect(() => index.write([good, bad], { seq: 9, conv: 7 })).toThrow();
    expect(index.position()).toEqual({ seq: 1, conv: 7 });
    expect(index.size()).toBe(1);
  });

  test("a room is known by its key after a change that failed, and in an index that is made again", async () => {
    const index = open();
    const elsewhere = { conv: 8, key: "agent:main:webhook:group:b" };
    const add = (seq: number, more = {}) =>
      ({ op: "add", message: message(seq, "hello", { ...elsewhere, ...more }) }) as const;
    const keys = async () =>
      (await index.find({ terms: [], limit: 100 })).found.map(({ key }) => key);
    const failing = [add(1), add(2, { kind: null as never })];
    expect(() => index.write(failing, { seq: 2, conv: 8 })).toThrow();
    index.write([add(1)], { seq: 1, conv: 8 });
    expect(await keys()).toEqual([elsewhere.key]);
    index.clear();
    index.write([add(3)], { seq: 3, conv: 8 });
    expect(await keys()).toEqual([elsewhere.key]);
  });
});

describe("the file", () => {
  test("is for this user only, and is found again", async () => {
    const path = fileOf("kept.db");
    fill(open(path), ["kept"]);
    opened.pop()?.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await ids(open(path), "kept")).toEqual(["m1"]);
    opened.pop()?.close();
    // Without FTS5, as in another build of SQLite: built again, in its own way.
    expect(open(path, false).size()).toBe(0);
  });

  test("is made again when it is damaged", () => {
    const path = fileOf("damaged.db");
    writeFileSync(path, "this is no database, and it is longer than a header".repeat(90));
    expect(open(path).size()).toBe(0);
  });
});
