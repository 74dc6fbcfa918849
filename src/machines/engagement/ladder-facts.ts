/**
 * The sentence beside each rung: what was found, not what was sought ("mentions someone else only",
 * not "mention: false"). Facts are made only when a person asks why, and names in them are labels:
 * one line, no tricks.
 */
import type { FloorFact } from "../../domain/floor.ts";
import { oneLine } from "../../domain/sanitize.ts";
import { floorShares } from "./floor-facts.ts";
import type { LadderCase } from "./ladder-input.ts";

export type Fact = (one: LadderCase, matched: boolean) => string;

/** The author as the room shows him. */
function authorName(one: LadderCase): string {
  const { message, room } = one.input;
  const known = room.participants.find(({ id }) => id === message.authorId);
  return oneLine(known?.name ?? message.authorId) || "the author";
}

const people = (count: number) => (count === 1 ? "1 person here" : `${count} people here`);

function clockTime(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function mentions(one: LadderCase): string {
  const { mentionsSelf, mentionsOthers } = one.input.message;
  if (mentionsSelf) return "mentions the agent";
  return mentionsOthers ? "mentions someone else only" : "mentions nobody";
}

function parent(one: LadderCase): string {
  const { repliesToSelf, repliesToOther } = one.input.message;
  if (repliesToSelf) return "replies to the agent";
  if (!repliesToOther) return "not a reply to anyone known";
  return one.input.room.botInThread
    ? "replies to someone else, where we take part"
    : "replies to someone else";
}

function named(one: LadderCase): string {
  return one.peer === null ? "names no other bot" : `contains “${oneLine(one.peer)}”, another bot`;
}

function aim(one: LadderCase): string {
  if (one.aim === "mention") return mentions(one);
  if (one.aim === "reply") return parent(one);
  return one.aim === "name" ? named(one) : "aimed at nobody else";
}

function noCredit(one: LadderCase): string {
  return one.input.rules.stickiness.enabled
    ? `no live credit for ${authorName(one)}`
    : "off: stickiness is disabled";
}

/** Calls other agents of the place by name. */
export function called(one: LadderCase): string {
  const names = (one.input.message.namesOnly ?? []).map((name) => oneLine(name));
  return `names ${names.join(", ")} only`;
}

/** A rung of the first tier that the config leaves out. */
export const noTrigger = (rule: string): string => `off: “${rule}” is not a trigger`;
export const direct: Fact = (one) => (one.input.message.isDirect ? "a direct chat" : "a group");
export const mention: Fact = mentions;
export const reply: Fact = parent;

export const addressedElsewhere: Fact = (one, matched) => {
  if (matched) return `${aim(one)}; credit of ${authorName(one)} kept`;
  if (one.credit === "none") return noCredit(one);
  if (one.input.message.isDirect) return "a direct chat";
  if (!one.multiHumanGroup) return people(one.humans);
  return one.aim === null ? "aimed at nobody else" : alias(one, true);
};

export const sticky: Fact = (one) => {
  if (one.credit === "none") return noCredit(one);
  if (one.credit === "held") return `${authorName(one)} is held by a turn under way`;
  if (one.judgesFloor) return floor(one);
  const { credits, message, now } = one.input;
  const left = (credits[message.authorId] ?? now) - now;
  return `credit of ${authorName(one)}, ${clockTime(left)} left`;
};

/** "2 lines by others since the agent's answer, Ann was addressed by others: 0.71, needs 0.40" */
function floor(one: LadderCase): string {
  const { row, others, who } = floorCaseOf(one);
  const counted = others === 1 ? "1 line by others" : `${others} lines by others`;
  const since = row.answered ? "the agent's answer" : "their call";
  const addressed = row.addressed === 0 ? `nobody addressed ${who}` : `others addressed ${who}`;
  const share = `${one.probability.toFixed(2)}, needs ${one.threshold.toFixed(2)}`;
  return `${counted} since ${since}, ${addressed}: ${share}`;
}

const floorCaseOf = (one: LadderCase) => one.floorCase(authorName(one));

/** Each fact that was weighed, where the floor was. */
export const stickyShares = (one: LadderCase): readonly FloorFact[] | undefined =>
  one.judgesFloor && one.credit === "live" ? floorShares(floorCaseOf(one)) : undefined;

export const alias: Fact = (one) => {
  const { aliases } = one.input.rules;
  if (one.alias !== -1) return `contains “${oneLine(aliases[one.alias] ?? "")}”`;
  return aliases.length === 0 ? "no name is configured" : "no name of the agent in the text";
};

export const mentionsOthers: Fact = mentions;
export const replyToOther: Fact = parent;
export const namesPeerBot: Fact = named;

export const threadUnknown: Fact = (one, matched) => {
  const { message, room } = one.input;
  if (matched) return "a thread the agent has not spoken in, and who reads it is not known";
  if (!message.inThread) return "not in a thread";
  if (message.isDirect) return "a direct chat";
  return room.botInThread ? "the agent has spoken in this thread" : "member list: 1 person at most";
};

export const soloHuman: Fact = (one) =>
  one.input.message.authorIsBot ? "author is a bot" : people(one.humans);

export const judge: Fact = (one, matched) =>
  matched || !one.input.message.authorIsBot
    ? "nothing else decided, so the judge is asked"
    : "author is a bot";
