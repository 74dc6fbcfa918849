/**
 * The invariants of the ladder as properties, each safety claim with its positive twin, and a
 * histogram that shows every rung is reached by the generators that claim so.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EngagementInput, Rule } from "../../../src/domain/decision.ts";
import { rules as allRules } from "../../../src/domain/decision.ts";
import {
  decideEngagement,
  explainEngagement,
} from "../../../src/machines/engagement/engagement.ts";
import { effectiveHumans } from "../../../src/machines/engagement/humans.ts";
import { authorIds, engagementInputs, sampleNames } from "../../../src/testing/arbitraries.ts";
import { referenceVerdict } from "../../../src/testing/reference-ladder.ts";
import { plainLine } from "../../support/machines/plain-line.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";

/** A quiet room of two people, plain ladder; `over` changes parts of it. */
function input(over: {
  message?: Partial<EngagementInput["message"]>;
  rules?: Partial<EngagementInput["rules"]>;
  stickiness?: Partial<EngagementInput["rules"]["stickiness"]>;
  room?: Partial<EngagementInput["room"]>;
  credits?: EngagementInput["credits"];
  held?: EngagementInput["held"];
  now?: number;
}): EngagementInput {
  const now = over.now ?? 1_000_000;
  return {
    message: {
      text: "hello",
      authorId: "u1",
      ...plainLine,
      ...over.message,
    },
    rules: {
      trigger: ["dm", "mention", "reply"],
      activation: "ladder",
      aliases: ["Scout"],
      stickiness: {
        enabled: true,
        windowMs: 900_000,
        mode: "one-shot",
        holdDuringTurn: true,
        ...over.stickiness,
      },
      ...over.rules,
    },
    room: {
      participants: [
        { id: "u1", name: "Ann", isBot: false, lastSeenAt: now },
        { id: "u2", name: "Bo", isBot: false, lastSeenAt: now },
        { id: "b1", name: "Botty", isBot: true, lastSeenAt: now },
      ],
      membership: null,
      botInThread: false,
      ...over.room,
    },
    credits: over.credits ?? {},
    held: over.held ?? [],
    now,
  };
}

const freeze = <Value>(value: Value): Value => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
};
const isStructural = (rule: Rule) => rule === "dm" || rule === "mention" || rule === "reply";
const withRules = (one: EngagementInput, rules: Partial<EngagementInput["rules"]>) => ({
  ...one,
  rules: { ...one.rules, ...rules },
});

describe("invariant 1: total, deterministic, changes nothing", () => {
  property([engagementInputs])("a frozen input is decided, twice the same", (one) => {
    const before = structuredClone(one);
    const verdict = decideEngagement(freeze(one));
    expect(decideEngagement(one)).toEqual(verdict);
    expect(one).toEqual(before);
    expect(["engage", "observe"]).toContain(verdict.decision);
    expect(allRules).toContain(verdict.rule);
  });

  property([engagementInputs], { numRuns: rounds(150, 1_000) })(
    "the ladder decides as the plain reference does",
    (one) => {
      expect(decideEngagement(one)).toEqual(referenceVerdict(one));
    },
  );

  property([engagementInputs])("explaining comes to the same verdict as deciding", (one) => {
    const { verdict, rungs } = explainEngagement(one);
    expect(verdict).toEqual(decideEngagement(one));
    const matched = rungs.findIndex(({ outcome }) => outcome === "matched");
    expect(rungs[matched]?.rule).toBe(verdict.rule);
    rungs.forEach(({ outcome, fact }, index) => {
      expect(outcome).toBe(
        index < matched ? "passed" : index === matched ? "matched" : "not-reached",
      );
      expect(fact).toMatch(/^[^\n]{2,200}$/);
    });
  });
});

describe("invariant 2: a trigger that is on always engages", () => {
  const triggered = engagementInputs.chain((one) =>
    fc.constantFrom("dm" as const, "mention" as const, "reply" as const).map((trigger) => ({
      ...withRules(one, { trigger: [...one.rules.trigger, trigger] }),
      message: {
        ...one.message,
        isDirect: one.message.isDirect || trigger === "dm",
        mentionsSelf: one.message.mentionsSelf || trigger === "mention",
        repliesToSelf: one.message.repliesToSelf || trigger === "reply",
      },
    })),
  );
  property([triggered])("dm, mention and reply engage whatever else is set", (one) => {
    const { decision, rule, credit } = decideEngagement(one);
    expect(decision).toBe("engage");
    expect(isStructural(rule)).toBe(true);
    expect(credit).toBe("none");
  });

  test("a mention without its trigger does not engage by it", () => {
    const one = input({ message: { mentionsSelf: true }, rules: { trigger: ["dm"] } });
    expect(decideEngagement(one)).toEqual({
      decision: "observe",
      rule: "default",
      credit: "none",
    });
  });
});

describe("invariant 4: credits end", () => {
  property([engagementInputs])("a credit at or past its end engages nobody", (one) => {
    const dead = Object.fromEntries(
      Object.keys(one.credits).map((author, index) => [author, one.now - index]),
    );
    expect(decideEngagement({ ...one, credits: dead, held: [] }).rule).not.toBe("sticky");
  });

  test("a live credit engages and is consumed (one-shot), or slides (sliding)", () => {
    const credits = { u1: 1_000_001 };
    expect(decideEngagement(input({ credits }))).toEqual({
      decision: "engage",
      rule: "sticky",
      credit: "consumed",
    });
    expect(decideEngagement(input({ credits, stickiness: { mode: "sliding" } }))).toEqual({
      decision: "engage",
      rule: "sticky",
      credit: "slid",
      creditExpiresAt: 1_900_000,
    });
    expect(decideEngagement(input({ credits: { u1: 1_000_000 } })).decision).toBe("observe");
  });

  test("an author held by a turn engages without a row of the ledger", () => {
    expect(decideEngagement(input({ held: ["u1"] })).credit).toBe("held");
    const released = input({ held: ["u1"], stickiness: { holdDuringTurn: false } });
    expect(decideEngagement(released).rule).toBe("default");
  });

  test("an id named like an object's own furniture holds no credit by that", () => {
    for (const authorId of ["constructor", "__proto__", "toString"])
      expect(decideEngagement(input({ message: { authorId } })).rule).toBe("default");
  });
});

describe("invariant 5: addressed elsewhere keeps the credit", () => {
  property([engagementInputs])("the verdict never spends what it says is kept", (one) => {
    const { rule, credit, decision } = decideEngagement(one);
    expect(rule === "addressed-elsewhere").toBe(credit === "kept");
    if (credit === "kept") expect(decision).toBe("observe");
  });

  test("a credited author's line to a third party is observed, the next one engages", () => {
    const credits = { u1: 2_000_000 };
    for (const message of [
      { mentionsOthers: true },
      { repliesToOther: true },
      { text: "botty, your turn" },
    ])
      expect(decideEngagement(input({ credits, message }))).toEqual({
        decision: "observe",
        rule: "addressed-elsewhere",
        credit: "kept",
      });
    expect(decideEngagement(input({ credits })).rule).toBe("sticky");
  });

  test("two bots named in one line are both engaged; one human keeps his credit's right", () => {
    const credits = { u1: 2_000_000 };
    const both = input({ credits, message: { text: "Scout, Botty, look", mentionsOthers: true } });
    expect(decideEngagement(both).rule).toBe("sticky");
    const alone = input({
      credits,
      message: { mentionsOthers: true },
      room: { participants: [{ id: "u1", name: "Ann", isBot: false, lastSeenAt: 1_000_000 }] },
    });
    expect(decideEngagement(alone).rule).toBe("sticky");
  });
});

describe("invariant 6: more names engage more, fewer triggers engage less", () => {
  property([engagementInputs, fc.constantFrom(...sampleNames)])(
    "adding an alias never turns engage into observe",
    (one, alias) => {
      const before = decideEngagement(one);
      const after = decideEngagement(withRules(one, { aliases: [...one.rules.aliases, alias] }));
      if (before.decision === "engage") expect(after.decision).toBe("engage");
    },
  );
  property([engagementInputs, fc.constantFrom("dm", "mention", "reply")])(
    "removing a trigger never turns observe into engage",
    (one, gone) => {
      const trigger = one.rules.trigger.filter((kept) => kept !== gone);
      const before = decideEngagement(one);
      const after = decideEngagement(withRules(one, { trigger }));
      if (before.decision === "observe") expect(after.decision).toBe("observe");
    },
  );
  test("an alias does engage", () => {
    const one = input({ message: { text: "is SCOUT here?" } });
    expect(decideEngagement(one).rule).toBe("alias");
    expect(decideEngagement(withRules(one, { aliases: [] })).rule).toBe("default");
  });
});

describe("invariant 7: a bot never rides the fallback for people", () => {
  property([engagementInputs])("a bot author never engages by solo-human or always", (one) => {
    const { rule } = decideEngagement({ ...one, message: { ...one.message, authorIsBot: true } });
    expect(["solo-human", "always"]).not.toContain(rule);
  });
  test("a person alone with us engages without being asked to name us", () => {
    const room = { participants: [{ id: "u1", name: "Ann", isBot: false, lastSeenAt: 1_000_000 }] };
    expect(decideEngagement(input({ room })).rule).toBe("solo-human");
  });
});

describe("invariant 8: among several people nobody is answered unasked", () => {
  property([engagementInputs])("untriggered, uncredited, alias-free lines are observed", (one) => {
    const quiet: EngagementInput = {
      ...withRules(one, { activation: "ladder", aliases: [] }),
      message: { ...one.message, isDirect: false, mentionsSelf: false, repliesToSelf: false },
      credits: {},
      held: [],
    };
    fc.pre(effectiveHumans(quiet.room, quiet.rules, quiet.now).count > 1);
    expect(decideEngagement(quiet).decision).toBe("observe");
  });
  test("with one person fewer the same line is answered", () => {
    const membership = { humans: 1, bots: 1, truncated: false, fetchedAt: 1_000_000 };
    expect(decideEngagement(input({})).decision).toBe("observe");
    expect(decideEngagement(input({ room: { membership } })).decision).toBe("engage");
  });
});

describe("invariant 13: names of things do not matter", () => {
  const renamed = (id: string) => `x-${[...id].reverse().join("")}`;
  property([engagementInputs])("renaming every id changes no decision", (one) => {
    const other: EngagementInput = {
      ...one,
      message: { ...one.message, authorId: renamed(one.message.authorId) },
      room: {
        ...one.room,
        participants: one.room.participants.map((who) => ({ ...who, id: renamed(who.id) })),
      },
      credits: Object.fromEntries(
        Object.entries(one.credits).map(([id, endsAt]) => [renamed(id), endsAt]),
      ),
      held: one.held.map(renamed),
    };
    expect(decideEngagement(other)).toEqual(decideEngagement(one));
  });
  property([engagementInputs])("the order of config lists and of people changes none", (one) => {
    const other: EngagementInput = {
      ...withRules(one, {
        trigger: one.rules.trigger.toReversed(),
        aliases: one.rules.aliases.toReversed(),
      }),
      room: { ...one.room, participants: one.room.participants.toReversed() },
      held: one.held.toReversed(),
    };
    expect(decideEngagement(other)).toEqual(decideEngagement(one));
  });
});

describe("invariant 16: text matters only by the names in it", () => {
  property([engagementInputs, fc.string({ unit: "grapheme" })])(
    "other words that name nobody change no decision",
    (one, words) => {
      const silent = (text: string) => ({ ...one, message: { ...one.message, text } });
      const nameless: EngagementInput = {
        ...silent(""),
        rules: { ...one.rules, aliases: [] },
        room: {
          ...one.room,
          participants: one.room.participants.map((who) => ({ ...who, name: "" })),
        },
      };
      const said = { ...nameless, message: { ...nameless.message, text: words } };
      expect(decideEngagement(said)).toEqual(decideEngagement(nameless));
    },
  );
  test("a name does change it", () => {
    expect(decideEngagement(input({ message: { text: "scout?" } })).decision).toBe("engage");
  });
});

describe("activation", () => {
  property([engagementInputs])("mention: only rule 1 and our names engage", (one) => {
    const { rule } = decideEngagement(withRules(one, { activation: "mention" }));
    expect(["dm", "mention", "reply", "alias", "default"]).toContain(rule);
  });
  test("always: people engage unless they speak to someone else", () => {
    const always = { activation: "always" as const };
    const rule = (message: Partial<EngagementInput["message"]>) =>
      decideEngagement(input({ rules: always, message })).rule;
    expect(rule({})).toBe("always");
    expect(rule({ inThread: true })).toBe("always");
    expect(rule({ mentionsOthers: true })).toBe("mentions-others");
    expect(rule({ repliesToOther: true })).toBe("reply-to-other");
    expect(rule({ authorIsBot: true, authorId: "b1" })).toBe("default");
  });
  test("a room for explicit calls: neither names nor credits nor always engage", () => {
    const one = (over: Parameters<typeof input>[0]) =>
      decideEngagement(input({ ...over, message: { ...over.message, explicitOnly: true } })).rule;
    expect(one({ message: { text: "scout" } })).toBe("default");
    expect(one({ credits: { u1: 2_000_000 } })).toBe("default");
    expect(one({ rules: { activation: "always" } })).toBe("default");
    expect(one({ message: { mentionsSelf: true } })).toBe("mention");
  });
});

test("every rung is reached by the generators, none of them by luck alone", () => {
  const seen = new Map<Rule, number>();
  for (const one of fc.sample(engagementInputs, { numRuns: 4_000, seed: 7 })) {
    const { rule } = decideEngagement(one);
    seen.set(rule, (seen.get(rule) ?? 0) + 1);
  }
  const ladderRules = new Set(
    [
      ...explainEngagement(input({})).rungs,
      ...explainEngagement(input({ rules: { activation: "always" } })).rungs,
    ].map(({ rule }) => rule),
  );
  expect(ladderRules.size).toBe(13);
  for (const rule of ladderRules) expect([rule, (seen.get(rule) ?? 0) >= 40]).toEqual([rule, true]);
});

test("authors of every kind are generated, those with awkward ids too", () => {
  const seen = new Set(
    fc.sample(engagementInputs, { numRuns: 500, seed: 7 }).map((one) => one.message.authorId),
  );
  expect([...seen].sort()).toEqual([...authorIds].sort());
});
