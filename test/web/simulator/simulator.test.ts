/** The simulated room as data: mentions, scenario lines, and what has happened by a moment. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scenarioOf } from "../../../src/domain/scenario/read-scenario.ts";
import {
  firstCast,
  join,
  type Member,
  mentioned,
  pieces,
} from "../../../web/src/simulator/participants.ts";
import { type Answer, nextChange, rowsAt } from "../../../web/src/simulator/rows.ts";
import {
  agentMember,
  exampleRoom,
  type Line,
  scenarioLines,
} from "../../../web/src/simulator/scenario.ts";
import { anyCharacter } from "../../support/property.ts";

const agent = { id: "main", name: "Scout" };
const everyone = [...firstCast, agentMember(agent)];
const [ann, bo] = firstCast as [Member, Member];
const lineOf = (id: string, t: number, text: string, author = ann): Line => ({
  id,
  t,
  text,
  author,
  replyTo: null,
  cast: firstCast,
});

describe("mentions in the simulated room", () => {
  test("the pieces of a text are the text, whatever it and the names are made of", () => {
    const name = fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" });
    const text = fc.array(fc.oneof(fc.constant("@"), fc.constantFrom("Ann", "bo", "(.*)+"), name));
    fc.assert(
      fc.property(text, fc.array(name), (parts, names) => {
        const members = names.map((one, index) => ({ id: `n${index}`, name: one, isBot: false }));
        const all = parts.join("");
        const cut = pieces(all, [...everyone, ...members]);
        expect(cut.map((piece) => piece.text).join("")).toBe(all);
      }),
    );
  });

  test.each([
    ["@Scout hello", ["self"]],
    ["hello @bo and @ANN, and @Bo", ["bo", "ann"]],
    ["@Boat @ann_2 a@bo", ["bo"]],
    ["scout, hello", []],
    ["@ann's", ["ann"]],
  ])("%s mentions %j", (text, ids) => {
    expect(mentioned(text, everyone).map((who) => who.id)).toEqual(ids);
  });

  test("the longest name wins, and no one joins under a name that is taken", () => {
    const cast = join(firstCast, "Ann Lee", false, agent.name)!;
    expect(mentioned("@Ann Lee hi", cast)[0]?.name).toBe("Ann Lee");
    expect(join(firstCast, " scout ", false, agent.name)).toBeNull();
    expect(join(firstCast, "BO", true, agent.name)).toBeNull();
    expect(join(firstCast, "  ", true, agent.name)).toBeNull();
  });
});

describe("the simulated room as a scenario", () => {
  test("every room is a scenario that the runtime accepts", () => {
    const texts = fc.array(fc.string({ unit: anyCharacter, maxLength: 80 }), { maxLength: 8 });
    fc.assert(
      fc.property(texts, texts, (said, [draft]) => {
        const lines = said.map((text, index) => lineOf(`m${index}`, index * 1_000, text));
        const last = draft === undefined ? null : lineOf("draft", said.length * 1_000, draft, bo);
        const scenario = scenarioOf(scenarioLines({ startedAt: 1, lines }, agent, last), "page");
        const heard = scenario.lines.flatMap((line) => ("in" in line ? [line.in] : []));
        expect(heard.map((message) => message.text)).toEqual([
          ...said,
          ...(draft === undefined ? [] : [draft]),
        ]);
      }),
    );
  });

  test("people who have not spoken are counted, and mentions of the agent are marked as such", () => {
    const room = { startedAt: 5, lines: [lineOf("m1", 0, "@Scout hi")] };
    const { header, lines } = scenarioOf(scenarioLines(room, agent), "page");
    expect(header.start).toBe(5);
    const [, membership, message] = lines;
    expect(membership).toMatchObject({ membership: { humans: 3, bots: 1, truncated: false } });
    expect(message).toMatchObject({ in: { mentions: [{ isSelf: true }] } });
  });

  test("the example has lines of people and of a bot, all in the past", () => {
    const room = exampleRoom(firstCast, agent, 1_000_000);
    const authors = new Set(room.lines.map((line) => line.author.isBot));
    expect(authors).toEqual(new Set([true, false]));
    for (const line of room.lines) expect(room.startedAt + line.t).toBeLessThan(1_000_000);
  });
});

const key = "agent:main:simulator:group:room";
const sent = {
  out: "send",
  key,
  channel: "simulator",
  account: "default",
  chat: "room",
  thread: null,
} as const;
const answer: Answer = {
  why: {},
  lines: [
    { t: 0, id: "m1", key, decision: "engage", rule: "mention", credit: "none" },
    { t: 0, out: "react", emoji: "👀", message: "m1", chat: "room" },
    {
      t: 500,
      key,
      event: "agent_start",
      turn: 1,
      batch: ["m1"],
      replyTo: "m1",
      guard: false,
      nudge: true,
    },
    { t: 1_400, ...sent, replyTo: "m1", text: "Done.", id: "t1:0", status: "sent" },
    { t: 1_400, key, event: "agent_end", turn: 1, outcome: "replied" },
    { t: 1_400, out: "unreact", emoji: "👀", message: "m1", chat: "room" },
  ],
};

describe("what has happened in the simulated room", () => {
  const room = { startedAt: 0, lines: [lineOf("m1", 0, "@Scout hi")] };
  const kinds = (now: number) => rowsAt(room, answer, now).map((row) => row.kind);

  test("the agent writes from its start to its send, and not a moment longer", () => {
    expect(kinds(0)).toEqual(["person"]);
    expect(kinds(500)).toEqual(["person", "writing"]);
    expect(kinds(1_399)).toEqual(["person", "writing"]);
    expect(kinds(1_400)).toEqual(["person", "agent"]);
  });

  test("a reply says how long it took since the line that caused it, and quotes it", () => {
    const reply = rowsAt(room, answer, 2_000).at(-1);
    expect(reply).toMatchObject({ tookMs: 1_400, quote: { id: "m1" }, cause: { id: "m1" } });
  });

  test("a reaction is shown while it lasts", () => {
    const acks = (now: number) => rowsAt(room, answer, now)[0];
    expect(acks(10)).toMatchObject({ acks: ["👀"], verdict: { rule: "mention" } });
    expect(acks(1_400)).toMatchObject({ acks: [] });
  });

  test("going from change to change sees every state and ends", () => {
    const seen: number[] = [];
    for (let now = nextChange(answer, -1); now !== null; now = nextChange(answer, now))
      seen.push(now);
    expect(seen).toEqual([0, 500, 1_400]);
  });
});
