/** The sentence beside each rung, for what was found; and what a line's case asks of the room. */
import { describe, expect, test } from "vitest";
import type { EngagementInput } from "../../../src/domain/decision.ts";
import { emptyFloors } from "../../../src/domain/floor.ts";
import { noteAnswer, unknownFloor } from "../../../src/machines/engagement/floor.ts";
import * as facts from "../../../src/machines/engagement/ladder-facts.ts";
import { LadderCase } from "../../../src/machines/engagement/ladder-input.ts";
import { plainLine } from "../../support/machines/plain-line.ts";

type Message = EngagementInput["message"];
const now = 10_000_000;
const who = (id: string, over = {}) => ({
  id,
  name: id.toUpperCase(),
  isBot: false,
  lastSeenAt: now,
  ...over,
});
const three = [who("ann"), who("bobby"), who("robo", { isBot: true }), who("cy")];
const caseOf = (
  message: Partial<Message> = {},
  { rules, room, ...more }: Partial<EngagementInput> = {},
) =>
  new LadderCase({
    message: {
      text: "and then?",
      authorId: "ann",
      ...plainLine,
      ...message,
    },
    rules: {
      trigger: ["dm", "mention", "reply"],
      activation: "ladder",
      aliases: ["scout"],
      stickiness: { enabled: true, windowMs: 90_000, mode: "expire", holdDuringTurn: true },
      ...rules,
    },
    room: { participants: three, membership: null, botInThread: false, ...room },
    credits: {},
    held: [],
    now,
    ...more,
  } as EngagementInput);
const room = (over: object) => ({ room: over }) as Partial<EngagementInput>;
const rules = (over: object) => ({ rules: over }) as Partial<EngagementInput>;
const credited = { credits: { ann: now + 61_000 } };

describe("the fact beside a rung", () => {
  test("who is called, replied to or named", () => {
    expect(facts.mention(caseOf({ mentionsSelf: true }), true)).toBe("mentions the agent");
    expect(facts.mention(caseOf({ mentionsOthers: true }), true)).toBe(
      "mentions someone else only",
    );
    expect(facts.mention(caseOf(), false)).toBe("mentions nobody");
    expect(facts.reply(caseOf({ repliesToSelf: true }), true)).toBe("replies to the agent");
    expect(facts.reply(caseOf(), false)).toBe("not a reply to anyone known");
    const other = { repliesToOther: true };
    expect(facts.reply(caseOf(other), true)).toBe("replies to someone else");
    expect(facts.reply(caseOf(other, room({ botInThread: true })), true)).toBe(
      "replies to someone else, where we take part",
    );
    expect(facts.namesPeerBot(caseOf(), false)).toBe("names no other bot");
    expect(facts.namesPeerBot(caseOf({ text: "robo: you?" }), true)).toBe(
      "contains “ROBO”, another bot",
    );
    expect(facts.called(caseOf({ namesOnly: ["Rover", "A\nB"] }))).toBe("names Rover, A B only");
    expect(facts.called(caseOf())).toBe("names  only");
    expect(facts.direct(caseOf({ isDirect: true }), true)).toBe("a direct chat");
    expect(facts.direct(caseOf(), false)).toBe("a group");
    expect(facts.alias(caseOf({ text: "Scout?" }), true)).toBe("contains “scout”");
    expect(facts.alias(caseOf(), false)).toBe("no name of the agent in the text");
    expect(facts.alias(caseOf({}, rules({ aliases: [] })), false)).toBe("no name is configured");
  });

  test("where a credit is kept, or what is missing for that", () => {
    const fact = (...given: Parameters<typeof caseOf>) =>
      facts.addressedElsewhere(caseOf(...given), false);
    const kept = (message: Partial<Message>) =>
      facts.addressedElsewhere(caseOf(message, credited), true);
    expect(kept({ mentionsOthers: true })).toBe("mentions someone else only; credit of ANN kept");
    expect(kept({ repliesToOther: true })).toBe("replies to someone else; credit of ANN kept");
    expect(kept({ text: "robo: you?" })).toBe("contains “ROBO”, another bot; credit of ANN kept");
    expect(fact()).toBe("no live credit for ANN");
    expect(fact({ authorId: "u9" })).toBe("no live credit for u9");
    expect(fact({ authorId: "\n" })).toBe("no live credit for the author");
    const stickiness = { enabled: false, windowMs: 90_000, mode: "expire", holdDuringTurn: true };
    expect(fact({}, rules({ stickiness }))).toBe("off: stickiness is disabled");
    expect(fact({ isDirect: true }, credited)).toBe("a direct chat");
    const alone = room({ participants: [who("ann")] });
    expect(fact({}, { ...credited, ...alone })).toBe("1 person here");
    expect(fact({}, credited)).toBe("aimed at nobody else");
    expect(fact({ mentionsOthers: true, text: "scout and bobby" }, credited)).toBe(
      "contains “scout”",
    );
  });

  test("a credit, with what is left of it, or the floor with what was weighed", () => {
    expect(facts.sticky(caseOf(), false)).toBe("no live credit for ANN");
    expect(facts.sticky(caseOf({}, credited), true)).toBe("credit of ANN, 1:01 left");
    expect(facts.sticky(caseOf({}, { credits: { ann: now + 4_001 } }), true)).toContain(", 0:05 ");
    expect(facts.sticky(caseOf({}, { held: ["ann"] }), true)).toBe(
      "ANN is held by a turn under way",
    );
    expect(facts.stickyShares(caseOf({}, credited))).toBeUndefined();
    const stickiness = { enabled: true, windowMs: 90_000, mode: "floor", holdDuringTurn: true };
    const floor = (row: object, heard: number) => {
      const ann = { ...unknownFloor(emptyFloors, now - 9_000), ...row };
      const floors = { ...emptyFloors, heard, rows: { ann } };
      return caseOf({}, { ...credited, floors, ...rules({ stickiness }) });
    };
    expect(facts.sticky(floor({}, 1), true)).toMatch(
      /^1 line by others since the agent's answer, nobody addressed ANN: 0\.\d\d, needs 0\.40$/u,
    );
    expect(facts.sticky(floor({ answered: false, addressed: 1 }, 2), true)).toMatch(
      /^2 lines by others since their call, others addressed ANN: 0\.\d\d, needs 0\.40$/u,
    );
    expect(facts.stickyShares(floor({}, 1))?.[0]?.share).toBe(0.73);
    const free = caseOf({}, rules({ stickiness }));
    expect(facts.stickyShares(free)).toBeUndefined();
  });

  test("who is there", () => {
    const thread = (message: Partial<Message>, more = {}, matched = false) =>
      facts.threadUnknown(caseOf(message, more), matched);
    expect(thread({ inThread: true }, {}, true)).toContain("who reads it is not known");
    expect(thread({})).toBe("not in a thread");
    expect(thread({ inThread: true, isDirect: true })).toBe("a direct chat");
    expect(thread({ inThread: true }, room({ botInThread: true }))).toBe(
      "the agent has spoken in this thread",
    );
    expect(thread({ inThread: true })).toBe("member list: 1 person at most");
    expect(facts.soloHuman(caseOf({ authorIsBot: true }), false)).toBe("author is a bot");
    expect(facts.soloHuman(caseOf(), false)).toBe("3 people here");
    expect(facts.judge(caseOf(), true)).toBe("nothing else decided, so the judge is asked");
    expect(facts.judge(caseOf({ authorIsBot: true }), true)).toContain("the judge is asked");
    expect(facts.judge(caseOf({ authorIsBot: true }), false)).toBe("author is a bot");
    expect(facts.noTrigger("dm")).toBe("off: “dm” is not a trigger");
  });
});

describe("the floor's case", () => {
  const answer = { at: now - 5_000, authors: ["ann", "cy"], named: [], words: [], asked: false };
  const floors = noteAnswer({ ...emptyFloors, heard: 4 }, answer);

  test("counts lines of others since, and talks with others", () => {
    const one = caseOf({}, { floors: { ...floors, heard: 7 } }).floorCase("Ann");
    expect(one).toMatchObject({ who: "Ann", now, others: 3, talks: 1, spokeAt: now - 5_000 });
    expect(one).toMatchObject({ length: 9, namesOther: false, hasName: false });
    const own = { ...floors.rows.ann, own: 2 };
    const rows = { ...floors.rows, ann: own } as typeof floors.rows;
    expect(caseOf({}, { floors: { ...floors, heard: 7, rows } }).floorCase("").others).toBe(1);
    expect(caseOf({}, { floors: { ...floors, heard: 5, rows } }).floorCase("").others).toBe(0);
    expect(caseOf({ text: "scout!" }, { floors }).floorCase("").hasName).toBe(true);
  });

  test("takes a credit without a talk as one that was answered when it began", () => {
    const one = caseOf({}, credited).floorCase("Ann");
    expect(one.row).toMatchObject({ since: now + 61_000 - 90_000, answered: true, exchanges: 1 });
    expect(one.spokeAt).toBe(one.row.since);
    expect(caseOf().floorCase("Ann").row.since).toBe(now - 90_000);
  });

  test("sees the name of somebody else as a word, when it is long enough to be one", () => {
    const names = (text: string) => caseOf({ text }).floorCase("").namesOther;
    expect(names("ask bobby")).toBe(true);
    expect(names("bobbying")).toBe(false);
    expect(names("ann said so")).toBe(false);
    expect(names("cy said so")).toBe(false);
  });
});
