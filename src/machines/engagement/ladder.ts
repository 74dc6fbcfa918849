/**
 * The order in which a message is tried, as data: one row a rung with its tier, rule, decision,
 * test and the fact it reports. The first rung that matches decides (docs/guide/engagement.md).
 * Deciding runs the tests; explaining runs the same rows and asks for the facts as well, so what
 * `why` shows is what happened.
 *
 * A rung that the activation mode or the message's own rules switch off is still a rung: it passes,
 * and says that it is off.
 */
import type { Rule, Trigger } from "../../domain/decision.ts";
import type { FloorFact } from "../../domain/floor.ts";
import * as facts from "./ladder-facts.ts";
import type { LadderCase } from "./ladder-input.ts";

export interface LadderRung {
  readonly tier: number;
  readonly rule: Rule;
  readonly decision: "engage" | "observe";
  readonly test: (one: LadderCase) => boolean;
  /** The same for a message that nothing is switched off for, as nearly all are: no switch is asked. */
  readonly testUnrestricted: (one: LadderCase) => boolean;
  /** What was found, in plain words; `matched` is what the test said. */
  readonly fact: (one: LadderCase, matched: boolean) => string;
  /** Where several facts are weighed: each with its share; undefined: not for this message. */
  readonly shares?: ((one: LadderCase) => readonly FloorFact[] | undefined) | undefined;
}

/** Why a rung is off for this message, in words; null: it is on. */
type Switch = (one: LadderCase) => string | null;

const notInMention: Switch = (one) =>
  one.input.rules.activation === "mention" ? "off: activation is “mention”" : null;
const notExplicit: Switch = (one) =>
  one.explicitOnly ? "off: only mentions and replies count here" : null;
const notInBroadcast: Switch = (one) =>
  one.calledOnly ? "off: posts in a broadcast channel are for its readers" : null;
const notWhenAlways: Switch = (one) =>
  one.input.rules.activation === "always" && !one.explicitOnly
    ? "off: activation is “always”"
    : null;

interface RungSpec extends Omit<LadderRung, "testUnrestricted"> {
  readonly switches: readonly Switch[];
}

/** All rungs have their fields in one order, so that reading one is as fast for each. */
function unswitched({
  tier,
  rule,
  decision,
  test,
  fact,
  shares,
}: Omit<LadderRung, "testUnrestricted">): LadderRung {
  return { tier, rule, decision, test, testUnrestricted: test, fact, shares };
}

/** Puts the switches in front of a rung's test and of its fact. */
function rung({ switches, test, fact, shares, ...row }: RungSpec): LadderRung {
  const off = (one: LadderCase) => {
    for (const say of switches) {
      const words = say(one);
      if (words !== null) return words;
    }
    return null;
  };
  const switched = unswitched({
    ...row,
    test: (one) => (one.unrestricted || off(one) === null) && test(one),
    fact: (one, matched) => (matched ? fact(one, true) : (off(one) ?? fact(one, false))),
    shares: shares && ((one) => (off(one) === null ? shares(one) : undefined)),
  });
  return { ...switched, testUnrestricted: test };
}

function trigger(
  rule: Trigger,
  holds: (one: LadderCase) => boolean,
  found: facts.Fact,
): LadderRung {
  return unswitched({
    tier: 1,
    rule,
    decision: "engage",
    test: (one) => holds(one) && one.triggers(rule) && !one.calledOthers,
    fact: (one, matched) => {
      if (one.calledOthers) return `off: ${facts.called(one)}`;
      return one.triggers(rule) ? found(one, matched) : facts.noTrigger(rule);
    },
  });
}

/** Aimed elsewhere. One that calls other agents by name is so for everybody, whatever is off. */
const elsewhere: LadderRung = rung({
  tier: 2,
  rule: "addressed-elsewhere",
  decision: "observe",
  switches: [notInMention, notExplicit, notInBroadcast],
  test: (one) =>
    one.credit !== "none" && one.multiHumanGroup && one.aim !== null && one.alias === -1,
  fact: facts.addressedElsewhere,
});
const addressedElsewhere: LadderRung = {
  ...elsewhere,
  test: (one) => one.calledOthers || elsewhere.test(one),
  testUnrestricted: (one) => one.calledOthers || elsewhere.testUnrestricted(one),
  fact: (one, matched) => (one.calledOthers ? facts.called(one) : elsewhere.fact(one, matched)),
};

const always: LadderRung = rung({
  tier: 5,
  rule: "always",
  decision: "engage",
  switches: [notExplicit],
  test: (one) => !one.input.message.authorIsBot,
  fact: (one) => (one.input.message.authorIsBot ? "author is a bot" : "activation is “always”"),
});

const upToPeers: readonly LadderRung[] = [
  trigger("dm", (one) => one.input.message.isDirect, facts.direct),
  trigger("mention", (one) => one.input.message.mentionsSelf, facts.mention),
  trigger("reply", (one) => one.input.message.repliesToSelf, facts.reply),
  addressedElsewhere,
  rung({
    tier: 2,
    rule: "sticky",
    decision: "engage",
    switches: [notInMention, notExplicit, notInBroadcast],
    test: (one) => one.credit !== "none" && one.probability >= one.threshold,
    fact: facts.sticky,
    shares: facts.stickyShares,
  }),
  rung({
    tier: 3,
    rule: "alias",
    decision: "engage",
    switches: [notExplicit],
    test: (one) => one.alias !== -1,
    fact: facts.alias,
  }),
  rung({
    tier: 4,
    rule: "mentions-others",
    decision: "observe",
    switches: [notInMention],
    test: (one) => one.input.message.mentionsOthers,
    fact: facts.mentionsOthers,
  }),
  rung({
    tier: 4,
    rule: "reply-to-other",
    decision: "observe",
    switches: [notInMention],
    test: (one) => one.repliesElsewhere,
    fact: facts.replyToOther,
  }),
  rung({
    tier: 4,
    rule: "names-peer-bot",
    decision: "observe",
    switches: [notInMention],
    test: (one) => one.peer !== null,
    fact: facts.namesPeerBot,
  }),
  rung({
    tier: 4,
    rule: "thread-unknown",
    decision: "observe",
    switches: [notInMention, notWhenAlways],
    test: ({ input: { message, room }, knownSolo }) =>
      message.inThread && !message.isDirect && !room.botInThread && !knownSolo,
    fact: facts.threadUnknown,
  }),
];

const solo: LadderRung = rung({
  tier: 5,
  rule: "solo-human",
  decision: "engage",
  switches: [notInMention, notInBroadcast],
  test: (one) => !one.input.message.authorIsBot && !one.severalHumans,
  fact: facts.soloHuman,
});

const last: LadderRung = unswitched({
  tier: 6,
  rule: "default",
  decision: "observe",
  test: () => true,
  fact: () => "nothing matched",
});

/** Observed until the judge says otherwise. Bots are never put to it, or two of them could pay for ever. */
const judge: LadderRung = rung({
  tier: 5,
  rule: "judge",
  decision: "observe",
  switches: [notInMention, notExplicit, notInBroadcast],
  test: (one) => !one.input.message.authorIsBot,
  fact: facts.judge,
});

/** The rungs in the order tried. */
export const ladder: readonly LadderRung[] = [...upToPeers, solo, last];

/** The same with `always` before the solo rung, where that activation is set. */
export const ladderWithAlways: readonly LadderRung[] = [...upToPeers, always, solo, last];

/** The same two where the room has a judge, which is asked before the last rung. */
export const ladderWithJudge: readonly LadderRung[] = [...upToPeers, solo, judge, last];
export const ladderWithBoth: readonly LadderRung[] = [...upToPeers, always, solo, judge, last];
