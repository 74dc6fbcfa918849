/**
 * Does this line go on with our talk?
 * ===================================
 * A logistic regression on facts that the conversation has anyway: who spoke since our answer, for
 * which author, how long ago, and how the line begins. Each fact is a row of a table: what it measures, and
 * how it is said. The weights are fitted by `scripts/fit-floor.mjs` on rooms that people wrote
 * (docs/quality.md) and stand in floor-weights.ts.
 *
 * Facts that grow with lines of others have no positive weight, so that more of them never raise the
 * result.
 */
import type { Floor, FloorFact } from "../../domain/floor.ts";
import type { Millis } from "../../domain/message.ts";
import { type FloorWeights, floorWeights } from "./floor-weights.ts";
import type { LineWords } from "./floor-words.ts";

/** One line before the floor. */
export interface FloorCase {
  readonly row: Floor;
  /** The author, as rooms show them. */
  readonly who: string;
  readonly now: Millis;
  /** Lines of others since `row.since`. */
  readonly others: number;
  /** Others who got an answer or called us within five minutes. */
  readonly talks: number;
  /** When we last spoke to anybody. */
  readonly spokeAt: Millis;
  /** UTF-16 units of the line. */
  readonly length: number;
  /** It contains the name of somebody else here as a word. */
  readonly namesOther: boolean;
  /** It contains a name of ours as a word. */
  readonly hasName: boolean;
  readonly words: LineWords;
}

interface Measure {
  /** In words, for people; only asked where the value is not 0. */
  readonly say: (one: FloorCase) => string;
  readonly value: (one: FloorCase) => number;
}

export type FloorFactName = Exclude<keyof FloorWeights, "start">;

const bit = (is: boolean) => (is ? 1 : 0);
const most = Math.min;
const secondsSince = ({ now }: FloorCase, at: Millis) => Math.max(0, now - at) / 1000;
const isFirst = ({ row }: FloorCase) => row.answered && row.own === 0;
const othersOf = (one: FloorCase) => Math.log1p(one.others);
const isSoon = (one: FloorCase) => one.row.lastAt > 0 && secondsSince(one, one.row.lastAt) < 25;
const isAddressedFor = (one: FloorCase, seconds: number) =>
  one.row.addressedAt > 0 && secondsSince(one, one.row.addressedAt) < seconds;
const quietMax = 900;
/** Shorter times almost never occur in the rooms that were fitted: nothing is known about what is faster. */
const writingSecondsMin = 3;
const writingSeconds = (one: FloorCase) =>
  Math.max(writingSecondsMin, secondsSince(one, one.row.since));
const lines = (count: number) => (count === 1 ? "1 line" : `${count} lines`);
const ago = (seconds: number) =>
  seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
const since = ({ row }: FloorCase) => (row.answered ? "the agent's answer" : "their call");

/** In the order in which they are shown. */
export const floorFacts: Readonly<Record<FloorFactName, Measure>> = {
  first: {
    value: (one) => bit(isFirst(one)),
    say: ({ who }) => `first line from ${who} since the agent's answer`,
  },
  waiting: {
    value: ({ row }) => bit(!row.answered),
    say: ({ who }) => `${who} called the agent and has no answer yet`,
  },
  othersFirst: {
    value: (one) => (isFirst(one) ? othersOf(one) : 0),
    say: (one) => `${lines(one.others)} by others since the agent's answer`,
  },
  othersLater: {
    value: (one) => (isFirst(one) ? 0 : othersOf(one)),
    say: (one) => `${lines(one.others)} by others since ${since(one)}`,
  },
  addressedMinute: {
    value: (one) => bit(isAddressedFor(one, 60)),
    say: ({ who }) => `someone addressed ${who} within a minute`,
  },
  addressedFive: {
    value: (one) => bit(isAddressedFor(one, 300)),
    say: ({ who }) => `someone addressed ${who} within five minutes`,
  },
  addressed: {
    value: ({ row }) => most(row.addressed, 3),
    say: (one) => `${one.who} was addressed by others since ${since(one)}: ${one.row.addressed}`,
  },
  quiet: {
    value: (one) => Math.log1p(most(secondsSince(one, one.spokeAt), quietMax)),
    say: (one) => `the agent last spoke ${ago(secondsSince(one, one.spokeAt))} ago`,
  },
  pace: {
    value: (one) => most(one.length / (writingSeconds(one) + 0.5), 30) / 10,
    say: (one) => `${one.length} characters ${ago(secondsSince(one, one.row.since))} later`,
  },
  own: {
    value: ({ row }) => most(row.own, 4),
    say: (one) => `${lines(one.row.own)} from ${one.who} since ${since(one)}`,
  },
  elsewhere: {
    value: ({ row }) => most(row.elsewhere, 3),
    say: ({ row }) => `of these to someone else: ${row.elsewhere}`,
  },
  lastEngaged: {
    value: ({ row }) => bit(row.lastAt > 0 && row.last === "engaged"),
    say: () => "the line before engaged the agent",
  },
  lastElsewhere: {
    value: ({ row }) => bit(row.lastAt > 0 && row.last === "elsewhere"),
    say: () => "the line before was to someone else",
  },
  soon: {
    value: (one) => bit(isSoon(one)),
    say: (one) => `${ago(secondsSince(one, one.row.lastAt))} after their line before`,
  },
  flow: {
    value: (one) => bit(isSoon(one) && one.row.last === "engaged"),
    say: () => "follows at once a line that engaged the agent",
  },
  talks: {
    value: (one) => most(one.talks, 4),
    say: (one) => `others the agent talked with in five minutes: ${one.talks}`,
  },
  exchanges: {
    value: ({ row }) => most(row.exchanges, 4),
    say: ({ row }) => `exchanges so far: ${row.exchanges}`,
  },
  habit: {
    value: ({ row: { calls, plain } }) => (calls + 1) / (calls + plain + 2),
    say: ({ who, row: { calls, plain } }) =>
      `${who} named the agent in ${calls} of ${calls + plain} lines before`,
  },
  asked: {
    value: (one) => bit(isFirst(one) && one.row.asked),
    say: () => "the agent's answer was a question",
  },
  named: {
    value: ({ row }) => bit(row.named),
    say: ({ who }) => `the agent's answer named ${who}`,
  },
  shared: {
    value: (one) => most(sharedWords(one), 3),
    say: (one) => `words shared with the agent's answer: ${sharedWords(one)}`,
  },
  name: { value: ({ hasName }) => bit(hasName), say: () => "contains a name of the agent" },
  namesOther: {
    value: ({ namesOther }) => bit(namesOther),
    say: () => "contains the name of someone else here",
  },
  acknowledges: {
    value: ({ words }) => bit(words.acknowledges),
    say: () => "begins like a reply",
  },
  thanks: { value: ({ words }) => bit(words.thanks), say: () => "says thanks" },
  saysYou: { value: ({ words }) => bit(words.saysYou), say: () => "says “you”" },
  callsAll: {
    value: ({ words }) => bit(words.callsAll),
    say: () => "begins like a call to everybody",
  },
  question: { value: ({ words }) => bit(words.asks), say: () => "asks a question" },
};
const { start } = floorWeights.weights;
const terms = (Object.entries(floorFacts) as [FloorFactName, Measure][]).map(
  ([name, { value, say }]) => ({ value, say, weight: floorWeights.weights[name] }),
);

/** Probability that the line is meant for us, 0 to 1. */
export function floorProbability(one: FloorCase): number {
  let sum: number = start;
  for (const { value, weight } of terms) sum += weight * value(one);
  return 1 / (1 + Math.exp(-sum));
}

/** The facts that count, each with its share in log-odds; the first is where every line starts. */
export function floorShares(one: FloorCase): readonly FloorFact[] {
  const found: FloorFact[] = [{ fact: "any line from someone the agent talks with", share: start }];
  for (const { value, say, weight } of terms) {
    const share = weight * value(one);
    if (share !== 0) found.push({ fact: say(one), share: Math.round(share * 100) / 100 });
  }
  return found;
}

function sharedWords({ row, words }: FloorCase): number {
  let count = 0;
  for (const hash of words.hashes) if (row.words.includes(hash)) count += 1;
  return count;
}
