/**
 * The ladder as a reference model
 * ===============================
 * A second implementation of the same rules, in the order in which a reader would explain them: no
 * table, no laziness, no caching; every fact is computed first, and the rules are checked in order.
 * Tests compare the runtime's ladder with it; your own tests may too. Slow by design.
 */
import type { EngagementInput, EngagementVerdict, Rule } from "../domain/decision.ts";
import { floorThreshold } from "../domain/floor.ts";
import { limits } from "../domain/limits.ts";
import { type JudgedLine, ReferenceTalks } from "./reference-floor.ts";

/** The facts that the rules use, computed from an input. */
export interface LadderFacts {
  readonly dm: boolean;
  readonly mention: boolean;
  readonly reply: boolean;
  /** The author has a credit. */
  readonly credited: boolean;
  /** The credit engages: in mode "floor" where the facts say so, else always. */
  readonly live: boolean;
  readonly held: boolean;
  readonly alias: boolean;
  readonly mentionsOthers: boolean;
  readonly repliesElsewhere: boolean;
  readonly namesPeer: boolean;
  readonly unknownThread: boolean;
  readonly isDirect: boolean;
  readonly humans: number;
  readonly bot: boolean;
  readonly activation: EngagementInput["rules"]["activation"];
  readonly explicitOnly: boolean;
  /** A post in a broadcast channel, where nobody but the called answer. */
  readonly calledOnly: boolean;
  /** Calls other agents of the chat, and not us. */
  readonly calledOthers: boolean;
  /** Lines that nothing else decides are put to a judge. */
  readonly judge: boolean;
}

const plain = (text: string) =>
  text.normalize("NFKC").toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ");

/** Text as names are compared in it. */
export const ownFold = (text: string): string =>
  plain(text.slice(0, limits.matchUnitsMax)).normalize("NFKC");

const unspaced = /^[\p{scx=Hangul}\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}]+$/u;

function namesPeer({ message, room }: EngagementInput, text: string): boolean {
  return room.participants.some(({ id, name, isBot }) => {
    const folded = plain(name).normalize("NFKC").trim();
    if (!isBot || id === message.authorId || folded === "") return false;
    if (unspaced.test(folded) || [...folded].length > 2) return text.includes(folded);
    return text.split(/[^\p{L}\p{N}\p{M}_]+/u).includes(folded) || isolated(text, folded);
  });
}

/** Short names that are no words ("b!") match only without a letter beside them. */
function isolated(text: string, name: string): boolean {
  return text
    .split(name)
    .some(
      (before, index, parts) =>
        index < parts.length - 1 &&
        !/[\p{L}\p{N}\p{M}_]$/u.test(before) &&
        !/^[\p{L}\p{N}\p{M}_]/u.test(parts.slice(index + 1).join(name)),
    );
}

function headCount({ message, room, rules, now }: EngagementInput) {
  const week = (rules.participantDays ?? 7) * 86_400_000;
  const spoken = room.participants.filter(
    ({ isBot, lastSeenAt }) => !isBot && now - lastSeenAt <= week,
  ).length;
  const { membership } = room;
  if (membership === null) return { humans: spoken, knownSolo: false };
  const { humans, truncated, fetchedAt } = membership;
  const fresh = now - fetchedAt < (rules.freshMembershipMs ?? 60_000);
  if (truncated || !fresh) return { humans: Math.max(spoken, humans), knownSolo: false };
  const since = room.participants.filter(
    ({ id, isBot, lastSeenAt }) => !isBot && (lastSeenAt > fetchedAt || id === message.authorId),
  ).length;
  return { humans: Math.max(since, humans), knownSolo: humans <= 1 };
}

/** A line as mode "floor" judges it. */
export function judgedLine(input: EngagementInput): JudgedLine {
  const { message, rules, room, now } = input;
  const folded = plain(message.text.slice(0, limits.matchUnitsMax)).normalize("NFKC");
  const hasWord = (name: string) => name !== "" && isolated(folded, name);
  const others = room.participants.filter(({ id }) => id !== message.authorId);
  const names = others.map(({ name }) => plain(name).normalize("NFKC").trim());
  return {
    author: message.authorId,
    at: now,
    folded,
    length: message.text.length,
    hasName: called(folded, message.mentionsOthers, rules.aliases),
    namesOther: names.some((name) => name.length >= 3 && hasWord(name)),
  };
}

/** In mode "floor" a name calls as a word; beside the names of others only among the first four. */
function called(folded: string, isToOthers: boolean, aliases: readonly string[]): boolean {
  const words = folded.trimStart().split(/(?<=\s)(?=\S)/u);
  const looked = isToOthers ? words.slice(0, 4).join("").trimEnd() : folded;
  return aliases.some((alias) => {
    const name = plain(alias).normalize("NFKC");
    if (alias.trim() === "") return false;
    return unspaced.test(name) ? looked.includes(name) : isolated(looked, name);
  });
}

/** Where nothing but the credit is known. */
function unknownTalk(input: EngagementInput): ReferenceTalks {
  const { message, credits, rules, now } = input;
  const at = (credits[message.authorId] ?? now) - rules.stickiness.windowMs;
  const talks = new ReferenceTalks();
  talks.begin(message.authorId, at);
  talks.answer({ at, authors: [message.authorId], named: [], text: "" });
  return talks;
}

/**
 * Computes every fact, whether a rule uses it or not. `talks`: what mode "floor" judges by.
 */
export function ladderFacts(input: EngagementInput, talks = unknownTalk(input)): LadderFacts {
  const { message, rules, room, credits, held, now } = input;
  const text = plain(message.text.slice(0, limits.matchUnitsMax)).normalize("NFKC");
  const { humans, knownSolo } = headCount(input);
  const sticky = rules.stickiness;
  const judges = sticky.enabled && sticky.mode === "floor";
  const endsAt = Object.hasOwn(credits, message.authorId) ? credits[message.authorId] : undefined;
  return {
    dm: rules.trigger.includes("dm") && message.isDirect,
    mention: rules.trigger.includes("mention") && message.mentionsSelf,
    reply: rules.trigger.includes("reply") && message.repliesToSelf,
    credited: sticky.enabled && endsAt !== undefined && now < endsAt,
    live:
      sticky.enabled &&
      endsAt !== undefined &&
      now < endsAt &&
      (!judges || talks.probability(judgedLine(input)) >= (sticky.threshold ?? floorThreshold)),
    held: sticky.enabled && sticky.holdDuringTurn && held.includes(message.authorId),
    alias: judges
      ? called(text, message.mentionsOthers, rules.aliases)
      : rules.aliases.some(
          (alias) => alias.trim() !== "" && text.includes(plain(alias).normalize("NFKC")),
        ),
    mentionsOthers: message.mentionsOthers,
    repliesElsewhere: message.repliesToOther && !room.botInThread,
    namesPeer: namesPeer(input, text),
    unknownThread: message.inThread && !message.isDirect && !room.botInThread && !knownSolo,
    isDirect: message.isDirect,
    humans,
    bot: message.authorIsBot,
    activation: rules.activation,
    explicitOnly: message.explicitOnly === true,
    calledOnly: message.inBroadcast === true && rules.broadcasts !== "ladder",
    calledOthers: message.namesOnly !== undefined,
    judge: rules.judge !== undefined,
  };
}

/** The rule that decides. */
export function referenceRule(facts: LadderFacts): Rule {
  if (facts.calledOthers) return "addressed-elsewhere";
  if (facts.dm) return "dm";
  if (facts.mention) return "mention";
  if (facts.reply) return "reply";
  const named = facts.alias && !facts.explicitOnly;
  if (facts.activation === "mention") return named ? "alias" : "default";
  const isOn = !facts.explicitOnly && !facts.calledOnly;
  const credited = (facts.credited || facts.held) && isOn;
  const elsewhere = facts.mentionsOthers || facts.repliesElsewhere || facts.namesPeer;
  if (credited && !facts.isDirect && facts.humans > 1 && elsewhere && !named)
    return "addressed-elsewhere";
  if ((facts.live || facts.held) && isOn) return "sticky";
  if (named) return "alias";
  if (facts.mentionsOthers) return "mentions-others";
  if (facts.repliesElsewhere) return "reply-to-other";
  if (facts.namesPeer) return "names-peer-bot";
  const always = facts.activation === "always" && !facts.explicitOnly;
  if (facts.unknownThread && !always) return "thread-unknown";
  if (always && !facts.bot) return "always";
  if (facts.humans <= 1 && !facts.bot && !facts.calledOnly) return "solo-human";
  if (facts.judge && !facts.bot && !facts.explicitOnly && !facts.calledOnly) return "judge";
  return "default";
}

const engaging: readonly Rule[] = [
  "dm",
  "mention",
  "reply",
  "sticky",
  "alias",
  "always",
  "solo-human",
];

/** The expected result of `decideEngagement`. */
export function referenceVerdict(
  input: EngagementInput,
  talks?: ReferenceTalks,
): EngagementVerdict {
  const facts = ladderFacts(input, talks);
  const rule = referenceRule(facts);
  const decision = engaging.includes(rule) ? "engage" : "observe";
  if (rule === "addressed-elsewhere") return { decision, rule, credit: "kept" };
  const { mode } = input.rules.stickiness;
  if (rule !== "sticky") return { decision, rule, credit: "none" };
  if (facts.held && (!facts.live || mode === "floor")) return { decision, rule, credit: "held" };
  if (mode === "one-shot") return { decision, rule, credit: "consumed" };
  const creditExpiresAt = input.now + input.rules.stickiness.windowMs;
  return { decision, rule, credit: "slid", creditExpiresAt };
}
