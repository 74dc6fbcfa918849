/**
 * Every inbound message gets exactly one decision and the rule that explains it. The two unions are
 * defined only here; the journal, the event stream, the pages, the metrics and the docs derive from
 * this file.
 */
import { z } from "zod";
import type { FloorFact, FloorLedger } from "./floor.ts";
import type { AuthorId, Millis } from "./message.ts";

/** `engage` and `observe` come from the ladder, the other four from admission. */
export const decisions = ["engage", "observe", "denied", "claim", "duplicate", "command"] as const;
export const decisionSchema = z.enum(decisions);
export type Decision = z.infer<typeof decisionSchema>;

/** What somebody says would have been right: to answer a message, or to stay quiet. */
export const expectedSchema = decisionSchema.extract(["engage", "observe"]);
export type Expected = z.infer<typeof expectedSchema>;

/**
 * Rules of the ladder in the order they are tried, then the rules of admission. Append only: their
 * positions are stored as codes.
 */
export const rules = [
  "dm",
  "mention",
  "reply",
  "addressed-elsewhere",
  "sticky",
  "alias",
  "mentions-others",
  "reply-to-other",
  "names-peer-bot",
  "thread-unknown",
  "solo-human",
  "default",
  "loop-guard",
  "always",
  "dm-policy",
  "group-policy",
  "no-author",
  "rate-limit",
  "claim",
  "duplicate",
  "command",
  "judge",
] as const;
export const ruleSchema = z.enum(rules);
export type Rule = z.infer<typeof ruleSchema>;

/**
 * Why a judge gave no answer that counts: it was too slow, could not be asked, what it said is no
 * answer, or its budget was spent and it was not asked.
 */
export const judgeFailures = ["late", "error", "ill-formed", "budget"] as const;
export type JudgeFailure = (typeof judgeFailures)[number];

/** What a decision did to the author's sticky credit. */
export const creditUses = ["none", "kept", "consumed", "slid", "held"] as const;
export const creditUseSchema = z.enum(creditUses);
export type CreditUse = z.infer<typeof creditUseSchema>;

/** A decision, its rule and its effect on the author's credit, as published everywhere. */
export interface Verdict {
  readonly decision: Decision;
  readonly rule: Rule;
  readonly credit: CreditUse;
  /** ms since the epoch; only when the credit slid. */
  readonly creditExpiresAt?: Millis;
}

/** Packs a verdict into the integer that the journal stores. */
export function encodeVerdict(verdict: Pick<Verdict, "decision" | "rule" | "credit">): number {
  return (
    1 +
    (decisions.indexOf(verdict.decision) |
      (rules.indexOf(verdict.rule) << 4) |
      (creditUses.indexOf(verdict.credit) << 12))
  );
}

/** Decodes a stored code; `null` for 0, the code of an event without a decision. */
export function decodeVerdict(code: number): Verdict | null {
  if (code === 0) return null;
  const packed = code - 1;
  const decision = decisions[packed & 0xf];
  const rule = rules[(packed >> 4) & 0xff];
  const credit = creditUses[packed >> 12];
  if (decision === undefined || rule === undefined || credit === undefined) return null;
  return { decision, rule, credit };
}

export const triggers = ["dm", "mention", "reply"] as const;
export type Trigger = (typeof triggers)[number];
export const activations = ["ladder", "mention", "always"] as const;
export type Activation = (typeof activations)[number];

/** `called`: `sticky` and `solo-human` are off in broadcast channels; `ladder`: as in groups. */
export const broadcasts = ["called", "ladder"] as const;
export type Broadcasts = (typeof broadcasts)[number];

/**
 * What becomes of a credit: `one-shot`: spent when it engages; `sliding`: renewed by each follow-up;
 * `floor`: engages while facts say that the author still talks with us.
 */
export const stickinessModes = ["one-shot", "sliding", "floor"] as const;
export type StickinessMode = (typeof stickinessModes)[number];

/** Someone who has spoken in the room. */
export interface Participant {
  readonly id: AuthorId;
  readonly name: string;
  readonly isBot: boolean;
  readonly lastSeenAt: Millis;
}

/** The room's member counts as the channel last read them. */
export interface Membership {
  readonly humans: number;
  readonly bots: number;
  readonly truncated: boolean;
  readonly fetchedAt: Millis;
}

/**
 * Everything the ladder may look at. Part of the public interface: users write tables of cases with
 * it.
 */
export interface EngagementInput {
  readonly message: {
    readonly text: string;
    readonly authorId: AuthorId;
    readonly authorIsBot: boolean;
    readonly isDirect: boolean;
    readonly inThread: boolean;
    readonly mentionsSelf: boolean;
    readonly mentionsOthers: boolean;
    readonly repliesToSelf: boolean;
    readonly repliesToOther: boolean;
    /** A channel in which only few may post; the rest read. @default false */
    readonly inBroadcast?: boolean;
    /** Rooms where only rule 1 may engage beyond solo (code reviews). */
    readonly explicitOnly?: boolean;
    /**
     * Names of the agents the message calls, when several agents hear it and it calls some of them
     * but not this one.
     */
    readonly namesOnly?: readonly string[];
  };
  readonly rules: {
    readonly trigger: readonly Trigger[];
    readonly activation: Activation;
    readonly aliases: readonly string[];
    readonly stickiness: {
      readonly enabled: boolean;
      readonly windowMs: number;
      readonly mode: StickinessMode;
      readonly holdDuringTurn: boolean;
      /** Of mode "floor": how sure to be that a line goes on with our talk, 0 to 1. @default fitted */
      readonly threshold?: number;
    };
    /**
     * Lines of people that nothing else decides are put to a judge; an answer that is less sure
     * (0 to 1) leaves its line observed. @default no judge
     */
    readonly judge?: { readonly minConfidence: number };
    /** What a post in a broadcast channel takes to engage. @default "called" */
    readonly broadcasts?: Broadcasts;
    /** @default 60000 */
    readonly freshMembershipMs?: number;
    /** @default 7 */
    readonly participantDays?: number;
  };
  readonly room: {
    /** Includes the author of the message. */
    readonly participants: readonly Participant[];
    readonly membership: Membership | null;
    readonly botInThread: boolean;
  };
  /** Author id to the moment the credit ends (exclusive). */
  readonly credits: Readonly<Record<AuthorId, Millis>>;
  /** Authors of a pending or running turn. */
  readonly held: readonly AuthorId[];
  /** What mode "floor" judges by. @default nothing is known but the credits */
  readonly floors?: FloorLedger;
  readonly now: Millis;
}

/** The ladder's answer. */
export interface EngagementVerdict extends Verdict {
  readonly decision: "engage" | "observe";
}

/** One rung of the ladder and the fact that decided it. */
export interface Rung {
  readonly tier: number;
  readonly rule: Rule;
  readonly outcome: "matched" | "passed" | "not-reached";
  readonly fact: string;
  /** Where several facts are weighed: each with its share. */
  readonly shares?: readonly FloorFact[];
}

/** The whole ladder for one message. */
export interface Explanation {
  readonly verdict: EngagementVerdict;
  readonly rungs: readonly Rung[];
}
