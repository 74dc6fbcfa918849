/** One case before the ladder: what counts as a name, a credit, an aim, a person who is alone. */
import { describe, expect, test } from "vitest";
import type { EngagementInput } from "../../../src/domain/decision.ts";
import { emptyFloors, floorThreshold } from "../../../src/domain/floor.ts";
import { limits } from "../../../src/domain/limits.ts";
import { noteAnswer, unknownFloor } from "../../../src/machines/engagement/floor.ts";
import { aliasIn, LadderCase } from "../../../src/machines/engagement/ladder-input.ts";
import { plainLine } from "../../support/machines/plain-line.ts";

const now = 10_000_000;
const who = (id: string, over: object = {}) => ({
  id,
  name: id,
  isBot: false,
  lastSeenAt: now,
  ...over,
});
const bot = (name: string) => who(name, { isBot: true });
const stickiness = { enabled: true, windowMs: 90_000, mode: "expire", holdDuringTurn: true };
const floor = { ...stickiness, mode: "floor" };
/** `sticky`, `people` and others go to where they belong. */
const line = (
  text: string,
  {
    message = {},
    rules = {},
    people = [],
    room = {},
    ...more
  }: { message?: object; rules?: object; people?: object[]; room?: object } & Partial<
    Omit<EngagementInput, "message" | "rules" | "room">
  > = {},
) =>
  new LadderCase({
    message: { ...plainLine, text, authorId: "ann", ...message },
    rules: {
      trigger: ["dm", "mention"],
      activation: "ladder",
      aliases: ["scout"],
      stickiness,
      ...rules,
    },
    room: { participants: [who("ann"), ...people], membership: null, botInThread: false, ...room },
    credits: {},
    held: [],
    now,
    ...more,
  } as EngagementInput);

describe("a name in a text", () => {
  test("is found wherever it is, the first of the list; no text has the empty name", () => {
    expect(aliasIn("hey scouting", ["rex", "SCOUT"])).toBe(1);
    expect(aliasIn("hey", ["scout"])).toBe(-1);
    expect(aliasIn("hey", [])).toBe(-1);
    expect(aliasIn("hey you", ["", "  ", "you"])).toBe(2);
    expect(aliasIn("a b", [" "])).toBe(-1);
    expect(line("hey scouting").alias).toBe(0);
    expect(line("hey", { rules: { aliases: [] } }).alias).toBe(-1);
    const far = `${"x".repeat(limits.matchUnitsMax - 4)}scout`;
    expect([line(far).alias, line(far.slice(1)).alias]).toEqual([-1, 0]);
  });

  const judged = { rules: { stickiness: floor, aliases: ["ud", "토토"] } };

  test("where the floor is judged is a word, but in scripts without spaces", () => {
    expect(line("sudo now", judged).alias).toBe(-1);
    expect(line("so, ud!", judged).alias).toBe(0);
    expect(line("토토야", judged).alias).toBe(1);
    expect(line("sudo", { rules: { aliases: ["ud"] } }).alias).toBe(0);
  });

  test("where the floor is judged and others are mentioned is among the first four words", () => {
    const others = { ...judged, message: { mentionsOthers: true } };
    expect(line("one two three ud", others).alias).toBe(0);
    expect(line("one two three four ud", others).alias).toBe(-1);
    expect(line("one two three four ud", judged).alias).toBe(0);
    expect(line("  one\ttwo  three\nud five", others).alias).toBe(0);
    expect(line("", others).alias).toBe(-1);
    const plain = { message: { mentionsOthers: true } };
    expect(line("one two three four scout", plain).alias).toBe(0);
  });
});

describe("another bot in a text", () => {
  test("is found inside words where its name is long enough, or has no spaces around it", () => {
    expect(line("robots", { people: [bot("bot")] }).peer).toBe("bot");
    expect(line("robots", { people: [bot("ob")] }).peer).toBeNull();
    expect(line("hey ob!", { people: [bot("ob")] }).peer).toBe("ob");
    expect(line("小白在吗", { people: [bot("小白")] }).peer).toBe("小白");
    expect(line("x𝟘𝟙", { people: [bot("𝒂𝒃")] }).peer).toBeNull();
    expect(line("𐐨𐐩𐐪", { people: [bot("𐐨𐐩")] }).peer).toBeNull();
    expect(line("𐐨𐐩𐐪𐐫", { people: [bot("𐐨𐐩𐐪")] }).peer).toBe("𐐨𐐩𐐪");
  });

  test("is a bot, and not the author; the first that is here", () => {
    expect(line("bobby?", { people: [who("bobby")] }).peer).toBeNull();
    const said = { message: { authorId: "robo" }, people: [bot("robo")] };
    expect(line("I, robo", said).peer).toBeNull();
    expect(line("wall-e, robo!", { people: [bot("robo"), bot("wall-e")] }).peer).toBe("robo");
    expect(line("hi", { people: [bot("  ")] }).peer).toBeNull();
    expect(line("ROBO", { people: [bot(" Robo ")] }).peer).toBe(" Robo ");
    const long = "r".repeat(limits.labelUnitsMax);
    expect(line(long, { people: [bot(`${long}x`)] }).peer).toBe(`${long}x`);
  });
});

describe("an aim at somebody else", () => {
  test("is a mention, else a reply, else a name", () => {
    const people = [bot("robo")];
    const reply = { repliesToOther: true };
    expect(line("robo", { people, message: { ...reply, mentionsOthers: true } }).aim).toBe(
      "mention",
    );
    expect(line("robo", { people, message: reply }).aim).toBe("reply");
    expect(line("robo", { people }).aim).toBe("name");
    expect(line("hi", { people }).aim).toBeNull();
  });

  test("is no reply where we take part", () => {
    const message = { repliesToOther: true };
    expect(line("hi", { message, room: { botInThread: true } }).repliesElsewhere).toBe(false);
    expect(line("hi", { message }).repliesElsewhere).toBe(true);
    expect(line("hi").repliesElsewhere).toBe(false);
  });
});

describe("what is switched off", () => {
  const of = (message: object, rules: object = {}) => {
    const { explicitOnly, calledOnly, unrestricted } = line("hi", { message, rules });
    return [explicitOnly, calledOnly, unrestricted];
  };

  test("where only a call counts, in a broadcast channel, and with another activation", () => {
    expect(of({})).toEqual([false, false, true]);
    expect(of({ explicitOnly: true })).toEqual([true, false, false]);
    expect(of({ explicitOnly: false })).toEqual([false, false, true]);
    expect(of({ inBroadcast: true })).toEqual([false, true, false]);
    expect(of({ inBroadcast: true }, { broadcasts: "called" })).toEqual([false, true, false]);
    expect(of({ inBroadcast: true }, { broadcasts: "ladder" })).toEqual([false, false, true]);
    expect(of({}, { activation: "mention" })).toEqual([false, false, false]);
  });

  test("what triggers, and that others are called", () => {
    expect([line("hi").triggers("dm"), line("hi").triggers("reply")]).toEqual([true, false]);
    expect(line("hi").calledOthers).toBe(false);
    expect(line("hi", { message: { namesOnly: [] } }).calledOthers).toBe(true);
  });
});

describe("a credit", () => {
  const live = { credits: { ann: now + 1 } };
  const held = { held: ["ann"] };
  const of = (given: Parameters<typeof line>[1]) => line("hi", given).credit;

  test("is a row that has not run out, or a turn under way", () => {
    expect(of({})).toBe("none");
    expect(of(live)).toBe("live");
    expect(of({ credits: { ann: now } })).toBe("none");
    expect(of({ credits: { bob: now + 1 } })).toBe("none");
    expect(of(held)).toBe("held");
    expect(of({ held: ["bob"] })).toBe("none");
    expect(of({ ...live, ...held })).toBe("live");
  });

  test("is none where nothing sticks, and a turn holds nobody where it should not", () => {
    const off = { rules: { stickiness: { ...stickiness, enabled: false } } };
    expect(of({ ...live, ...held, ...off })).toBe("none");
    const loose = { rules: { stickiness: { ...stickiness, holdDuringTurn: false } } };
    expect([of({ ...held, ...loose }), of({ ...live, ...held, ...loose })]).toEqual([
      "none",
      "live",
    ]);
  });

  test("is a turn under way first where the floor is judged", () => {
    expect(of({ ...live, ...held, rules: { stickiness: floor } })).toBe("held");
    expect(of({ ...live, rules: { stickiness: floor } })).toBe("live");
  });

  test("alone is enough but where the floor is judged, with its own threshold if it has one", () => {
    const { judgesFloor, threshold, probability } = line("hi", { ...live });
    expect([judgesFloor, threshold, probability]).toEqual([false, floorThreshold, 1]);
    const off = { ...floor, enabled: false };
    expect(line("hi", { rules: { stickiness: off } }).judgesFloor).toBe(false);
    const own = line("hi", { ...live, rules: { stickiness: { ...floor, threshold: 0.25 } } });
    expect([own.judgesFloor, own.threshold]).toEqual([true, 0.25]);
    expect(own.probability).toBeGreaterThan(0);
    expect(own.probability).toBeLessThan(1);
    expect(line("hi", { ...held, rules: { stickiness: floor } }).probability).toBe(1);
  });
});

describe("how many are here", () => {
  const member = { humans: 1, bots: 0, truncated: false, fetchedAt: now };
  const of = (given: Parameters<typeof line>[1]) => line("hi", given);

  test("counts people, and a count that is known answers whether there are several", () => {
    const two = of({ people: [who("bob"), bot("robo")] });
    expect([two.severalHumans, two.humans, two.severalHumans]).toEqual([true, 2, true]);
    const first = of({ people: [who("bob")] });
    expect([first.humans, first.severalHumans]).toEqual([2, true]);
    const one = of({ people: [bot("robo")] });
    expect([one.humans, one.severalHumans, one.multiHumanGroup]).toEqual([1, false, false]);
  });

  test("a direct chat is no group, whoever has spoken in it", () => {
    expect(of({ people: [who("bob")] }).multiHumanGroup).toBe(true);
    expect(of({ people: [who("bob")], message: { isDirect: true } }).multiHumanGroup).toBe(false);
  });

  test("nobody else is here only by a fresh and whole list of members", () => {
    const solo = (membership: object | null) => of({ room: { membership } }).knownSolo;
    expect(solo(member)).toBe(true);
    expect(solo({ ...member, humans: 0 })).toBe(true);
    expect(solo({ ...member, humans: 2 })).toBe(false);
    expect(solo({ ...member, truncated: true })).toBe(false);
    expect(solo({ ...member, fetchedAt: now - 60_000 })).toBe(false);
    expect(solo(null)).toBe(false);
  });
});

describe("the line before the floor", () => {
  const floorOf = (text: string, given: Parameters<typeof line>[1] = {}) =>
    line(text, { ...given, rules: { stickiness: floor, aliases: ["ud"] } }).floorCase("ann");

  test("of somebody unknown, by the end of their credit", () => {
    const found = floorOf("hello there, bobby?", { people: [who("bobby")] });
    expect(found).toMatchObject({
      who: "ann",
      now,
      others: 0,
      talks: 0,
      spokeAt: now - 90_000,
      length: 19,
      namesOther: true,
      hasName: false,
    });
    expect(found.row).toEqual(unknownFloor(emptyFloors, now - 90_000));
    expect(floorOf("x", { credits: { ann: now + 5 } }).row).toEqual(
      unknownFloor(emptyFloors, now + 5 - 90_000),
    );
    expect(floorOf("ud, x").hasName).toBe(true);
  });

  test("of somebody we talk with, by their own row", () => {
    const answer = { at: now - 500, authors: ["ann", "bob"], named: [], words: [], asked: false };
    const talked = noteAnswer(emptyFloors, answer);
    const floors = { ...talked, heard: 9 };
    const found = floorOf("x", { floors });
    const row = floors.rows.ann;
    expect(found.row).toEqual(row);
    expect(found.others).toBe(9 - (row?.heard ?? 0) - (row?.own ?? 0));
    expect(found.spokeAt).toBe(now - 500);
    expect(found.talks).toBe(1);
    expect(floorOf("x", { floors: { ...floors, heard: 0, spokeAt: 0 } })).toMatchObject({
      others: 0,
      spokeAt: row?.since,
    });
  });

  test("has a name only of somebody else, as a word of three units or more", () => {
    const namesOther = (text: string, ...people: object[]) => floorOf(text, { people }).namesOther;
    expect(namesOther("bobbys", who("bobby"))).toBe(false);
    expect(namesOther("Bob!", who("bob"))).toBe(true);
    expect(namesOther("al", who("al"))).toBe(false);
    expect(namesOther("ann")).toBe(false);
    expect(namesOther("robo", bot("robo"))).toBe(true);
    expect(namesOther("cy and eve", who("bob"), who("eve"))).toBe(true);
  });
});
