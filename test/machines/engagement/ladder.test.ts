/**
 * The ladder as a table: every combination of what it looks at, held against the plain reference;
 * the facts people read; and time that grows with the text and no faster.
 */
import { describe, expect, test } from "vitest";
import type { EngagementInput } from "../../../src/domain/decision.ts";
import { activations } from "../../../src/domain/decision.ts";
import { limits } from "../../../src/domain/limits.ts";
import {
  decideEngagement,
  explainEngagement,
} from "../../../src/machines/engagement/engagement.ts";
import { type LadderFacts, referenceRule } from "../../../src/testing/reference-ladder.ts";
import { growthOver16, linearMax } from "../../support/runtime/growth.ts";

const now = 1_000_000;
const flags = [
  "dm",
  "mention",
  "reply",
  "live",
  "held",
  "alias",
  "mentionsOthers",
  "repliesElsewhere",
  "namesPeer",
  "unknownThread",
  "crowd",
  "bot",
  "explicitOnly",
  "calledOthers",
  "calledOnly",
] as const;
type Flags = Record<(typeof flags)[number], boolean> & { readonly judge?: boolean };

/** An input in which exactly these things are so. */
function inputOf(on: Flags, activation: LadderFacts["activation"]): EngagementInput {
  const authorId = on.bot ? "b1" : "u1";
  const people = on.crowd ? ["u1", "u2"] : ["u1"];
  return {
    message: {
      text: `${on.alias ? "scout " : ""}${on.namesPeer ? "botty" : ""}`,
      authorId,
      authorIsBot: on.bot,
      isDirect: on.dm,
      inThread: on.unknownThread,
      mentionsSelf: on.mention,
      mentionsOthers: on.mentionsOthers,
      repliesToSelf: on.reply,
      repliesToOther: on.repliesElsewhere,
      explicitOnly: on.explicitOnly,
      inBroadcast: on.calledOnly,
      ...(on.calledOthers ? { namesOnly: ["Rover"] } : {}),
    },
    rules: {
      trigger: ["dm", "mention", "reply"],
      activation,
      aliases: ["Scout"],
      stickiness: { enabled: true, windowMs: 1_000, mode: "one-shot", holdDuringTurn: true },
      ...(on.judge === true ? { judge: { minConfidence: 0.5 } } : {}),
    },
    room: {
      participants: [
        ...people.map((id) => ({ id, name: "Ann", isBot: false, lastSeenAt: now })),
        { id: "b1", name: "Rex", isBot: true, lastSeenAt: now },
        { id: "b2", name: "Botty", isBot: true, lastSeenAt: now },
      ],
      membership: null,
      botInThread: false,
    },
    credits: on.live ? { [authorId]: now + 1 } : {},
    held: on.held ? [authorId] : [],
    now,
  };
}

test("every combination of facts, in every activation, comes to the reference's rule", () => {
  let compared = 0;
  const wrong: string[] = [];
  for (const activation of activations) {
    for (let bits = 0; bits < 1 << flags.length; bits += 1) {
      const on = Object.fromEntries(
        flags.map((flag, index) => [flag, (bits & (1 << index)) !== 0]),
      ) as Flags;
      const facts = {
        ...on,
        judge: false,
        credited: on.live,
        unknownThread: on.unknownThread && !on.dm,
        isDirect: on.dm,
        humans: on.crowd ? 2 : 1,
        activation,
      };
      const expected = referenceRule(facts);
      const { rule } = decideEngagement(inputOf(on, activation));
      compared += 1;
      // A judge is asked only where nothing else has decided.
      if (expected === "default") {
        const judged = decideEngagement(inputOf({ ...on, judge: true }, activation)).rule;
        const due = referenceRule({ ...facts, judge: true });
        if (judged !== due) wrong.push(`judged ${JSON.stringify(on)}: ${judged}, expected ${due}`);
      }
      if (rule !== expected && wrong.length < 5)
        wrong.push(`${activation} ${JSON.stringify(on)}: ${rule}, expected ${expected}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(compared).toBe(3 * 32_768);
});

const none = Object.fromEntries(flags.map((flag) => [flag, false])) as Flags;
const facts = (on: Partial<Flags>, activation: LadderFacts["activation"] = "ladder") =>
  Object.fromEntries(
    explainEngagement(inputOf({ ...none, ...on }, activation)).rungs.map(({ rule, fact }) => [
      rule,
      fact,
    ]),
  );

describe("names of peer bots", () => {
  const ruleFor = (name: string, text: string) => {
    const input = inputOf({ ...none, crowd: true }, "ladder");
    const bot = { id: "b3", name, isBot: true, lastSeenAt: now };
    const room = { ...input.room, participants: [...input.room.participants, bot] };
    return decideEngagement({ ...input, room, message: { ...input.message, text } }).rule;
  };

  test("a short name in a script without spaces is found with what follows it", () => {
    for (const [name, text] of [
      ["토토", "토토아 뭐해?"],
      ["토토".normalize("NFD"), "안녕 토토야"],
      ["小白", "小白在吗"],
      ["𠮷", "𠮷さん"],
      ["ポチ", "ねえポチ、おいで"],
      ["ごー", "ごーちゃん"],
      ["นก", "สวัสดีนกจ้า"],
    ] as const)
      expect([name, ruleFor(name, text)]).toEqual([name, "names-peer-bot"]);
  });

  test("a short name in any other script is found as a whole word only", () => {
    expect(ruleFor("Ro", "hello Ro, still there?")).toBe("names-peer-bot");
    expect(ruleFor("Ro", "a robot")).toBe("default");
    expect(ruleFor("Жу", "кожура")).toBe("default");
    expect(ruleFor("R2", "R2D2")).toBe("default");
    expect(ruleFor("Rob", "robots")).toBe("names-peer-bot");
  });
});

describe("facts say what was found", () => {
  test("a line that nobody aimed at us, in a room of two", () => {
    expect(facts({ crowd: true })).toEqual({
      dm: "a group",
      mention: "mentions nobody",
      reply: "not a reply to anyone known",
      "addressed-elsewhere": "no live credit for Ann",
      sticky: "no live credit for Ann",
      alias: "no name of the agent in the text",
      "mentions-others": "mentions nobody",
      "reply-to-other": "not a reply to anyone known",
      "names-peer-bot": "names no other bot",
      "thread-unknown": "not in a thread",
      "solo-human": "2 people here",
      default: "nothing matched",
    });
  });

  test("a post in a broadcast channel is for its readers, unless it calls us", () => {
    const off = "off: posts in a broadcast channel are for its readers";
    expect(facts({ calledOnly: true, live: true })).toMatchObject({
      sticky: off,
      "solo-human": off,
    });
    expect(facts({ calledOnly: true, alias: true }).alias).toBe("contains “Scout”");
    const post = inputOf({ ...none, calledOnly: true }, "ladder");
    expect(decideEngagement(post)).toMatchObject({ decision: "observe", rule: "default" });
    const rules = { ...post.rules, broadcasts: "ladder" as const };
    expect(decideEngagement({ ...post, rules }).rule).toBe("solo-human");
  });

  test("what is found is named, what is not reached says so", () => {
    expect(facts({ crowd: true, mentionsOthers: true }).mention).toBe("mentions someone else only");
    expect(facts({ crowd: true, live: true, mentionsOthers: true })["addressed-elsewhere"]).toBe(
      "mentions someone else only; credit of Ann kept",
    );
    expect(facts({ live: true }).sticky).toBe("credit of Ann, 0:01 left");
    expect(facts({ held: true }).sticky).toBe("Ann is held by a turn under way");
    expect(facts({ alias: true }).alias).toBe("contains “Scout”");
    expect(facts({ crowd: true, namesPeer: true })["names-peer-bot"]).toBe(
      "contains “Botty”, another bot",
    );
    expect(facts({ dm: true }).mention).toBe("not reached");
    expect(facts({}, "mention").sticky).toBe("off: activation is “mention”");
    expect(facts({}, "always").always).toBe("activation is “always”");
  });

  test("the always rung comes before the solo rung, and only in that activation", () => {
    const order = (activation: LadderFacts["activation"]) =>
      explainEngagement(inputOf(none, activation)).rungs.map(({ rule }) => rule);
    expect(order("ladder")).not.toContain("always");
    expect(order("always").slice(-3)).toEqual(["always", "solo-human", "default"]);
  });

  test("labels in facts are one harmless line", () => {
    const one = inputOf({ ...none, crowd: true, namesPeer: true }, "ladder");
    const participants = one.room.participants.map((who) =>
      who.id === "b2" ? { ...who, name: "botty\u202e\n# x" } : who,
    );
    const text = "botty\u202e\n# x";
    const { rungs } = explainEngagement({
      ...one,
      message: { ...one.message, text },
      room: { ...one.room, participants },
    });
    const fact = rungs.find(({ rule }) => rule === "names-peer-bot")?.fact;
    expect(fact).toBe("contains “botty # x”, another bot");
  });
});

describe("time", () => {
  const floods: Record<string, string> = {
    "one letter": "a",
    "a mark": "e\u0301\u0316",
    "a ligature": "ﷺ",
    "almost the name": "aaab",
  };
  for (const [what, unit] of Object.entries(floods)) {
    test(`deciding on a flood of ${what} takes linear time`, () => {
      const one = inputOf({ ...none, crowd: true }, "ladder");
      const rules = { ...one.rules, aliases: [`${"a".repeat(200)}c`, `c${"a".repeat(200)}`] };
      const decide = (units: number) => {
        const text = unit.repeat(Math.ceil(units / unit.length));
        decideEngagement({ ...one, rules, message: { ...one.message, text } });
      };
      expect(growthOver16(decide, 1_000)).toBeLessThan(linearMax);
    });
  }

  test("text beyond the cap is not looked at", () => {
    const decide = (before: number) => {
      const one = inputOf({ ...none, crowd: true }, "ladder");
      const text = `${"a".repeat(before)}scout`;
      return decideEngagement({ ...one, message: { ...one.message, text } }).rule;
    };
    expect(decide(limits.matchUnitsMax - 5)).toBe("alias");
    expect(decide(limits.matchUnitsMax - 4)).toBe("default");
  });
});
