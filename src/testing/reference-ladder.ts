/**
 * The ladder as a reference model
 * ===============================
 * A second implementation of the same rules, in the order in which a reader would explain them: no
 * table, no laziness, no caching; every fact is computed first, and the rules are checked in order.
 * Tests compare the runtime's ladder with it; your own tests may too. Slow by design.
 */
import type { EngagementInput, EngagementVerdict, Rule } from "../domain/decision.ts";
import { limits } from "../domain/limits.ts";

/** The facts that the rules use, computed from an input. */
export interface LadderFacts {
  readonly dm: boolean;
  readonly mention: boolean;
  readonly reply: boolean;
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

function namesPeer({ message, room }: EngagementInput, text: string): boolean {
  return room.participants.some(({ id, name, isBot }) => {
    const folded = plain(name).normalize("NFKC").trim();
    if (!isBot || id === message.authorId || folded === "") return false;
    const unspaced =
      /^[\p{scx=Hangul}\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}]+$/u.test(folded);
    if (unspaced || [...folded].length > 2) return text.includes(folded);
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

/** Computes every fact, whether a rule uses it or not. */
export function ladderFacts(input: EngagementInput): LadderFacts {
  const { message, rules, room, credits, held, now } = input;
  const text = plain(message.text.slice(0, limits.matchUnitsMax)).normalize("NFKC");
  const { humans, knownSolo } = headCount(input);
  const sticky = rules.stickiness;
  const endsAt = Object.hasOwn(credits, message.authorId) ? credits[message.authorId] : undefined;
  return {
    dm: rules.trigger.includes("dm") && message.isDirect,
    mention: rules.trigger.includes("mention") && message.mentionsSelf,
    reply: rules.trigger.includes("reply") && message.repliesToSelf,
    live: sticky.enabled && endsAt !== undefined && now < endsAt,
    held: sticky.enabled && sticky.holdDuringTurn && held.includes(message.authorId),
    alias: rules.aliases.some(
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
  const credited = (facts.live || facts.held) && !facts.explicitOnly && !facts.calledOnly;
  const elsewhere = facts.mentionsOthers || facts.repliesElsewhere || facts.namesPeer;
  if (credited && !facts.isDirect && facts.humans > 1 && elsewhere && !named)
    return "addressed-elsewhere";
  if (credited) return "sticky";
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
export function referenceVerdict(input: EngagementInput): EngagementVerdict {
  const facts = ladderFacts(input);
  const rule = referenceRule(facts);
  const decision = engaging.includes(rule) ? "engage" : "observe";
  if (rule === "addressed-elsewhere") return { decision, rule, credit: "kept" };
  if (rule !== "sticky") return { decision, rule, credit: "none" };
  if (!facts.live) return { decision, rule, credit: "held" };
  if (input.rules.stickiness.mode === "one-shot") return { decision, rule, credit: "consumed" };
  const creditExpiresAt = input.now + input.rules.stickiness.windowMs;
  return { decision, rule, credit: "slid", creditExpiresAt };
}
