/**
 * Who is here
 * ===========
 * How many people a message is said among decides whether it can only be meant for us. Speakers are
 * remembered for a week; a fresh and complete member read of the platform is the truth (it sees
 * lurkers and knows who left); a stale or partial one may only make us quieter, never bolder.
 */
import type { EngagementInput, Membership, Participant } from "../../domain/decision.ts";
import { limits } from "../../domain/limits.ts";
import type { AuthorId, Millis } from "../../domain/message.ts";
import { cut } from "../../domain/sanitize.ts";

const freshMembershipMsDefault = 60_000;
const participantDaysDefault = 7;
const dayMs = 86_400_000;

type Room = Pick<EngagementInput["room"], "participants" | "membership">;
type Rules = Pick<EngagementInput["rules"], "freshMembershipMs" | "participantDays">;

/** For how many days a speaker counts as present. */
export const participantDaysOf = ({ participantDays }: Rules): number =>
  participantDays ?? participantDaysDefault;

/** Whether a member read is recent enough and whole, so that it may be believed as it is. */
export function isFreshAndComplete(membership: Membership, rules: Rules, now: Millis): boolean {
  const age = now - membership.fetchedAt;
  return !membership.truncated && age < (rules.freshMembershipMs ?? freshMembershipMsDefault);
}

/** Whether somebody has spoken recently enough to count as present. */
export const isPresent = ({ lastSeenAt }: Participant, rules: Rules, now: Millis): boolean =>
  lastSeenAt >= now - participantDaysOf(rules) * dayMs;

function countSpeakers(room: Room, rules: Rules, now: Millis): number {
  let count = 0;
  for (const participant of room.participants) {
    if (!participant.isBot && isPresent(participant, rules, now)) count += 1;
  }
  return count;
}

/** People that the member read may not include: those who spoke after it, and the author. */
function countNewcomers({ participants }: Room, since: Millis, author?: AuthorId): number {
  let count = 0;
  for (const { id, isBot, lastSeenAt } of participants) {
    if (!isBot && (lastSeenAt > since || id === author)) count += 1;
  }
  return count;
}

/**
 * The number of people that a decision assumes. `author`: who wrote the message that is decided on.
 */
export function countHumans(room: Room, rules: Rules, now: Millis, author?: AuthorId): number {
  const { membership } = room;
  if (membership === null) return countSpeakers(room, rules, now);
  const others = isFreshAndComplete(membership, rules, now)
    ? countNewcomers(room, membership.fetchedAt, author)
    : countSpeakers(room, rules, now);
  return Math.max(others, membership.humans);
}

/**
 * Whether `countHumans` is above one. It stops at the second person: most lines of a busy room are
 * asked no more, and reading thirty records takes longer than the rest of a decision.
 */
export function hasSeveralHumans(room: Room, rules: Rules, now: Millis, author: AuthorId): boolean {
  const { participants, membership } = room;
  if (membership !== null && membership.humans > 1) return true;
  const isFresh = membership !== null && isFreshAndComplete(membership, rules, now);
  const since = isFresh ? membership.fetchedAt : now - participantDaysOf(rules) * dayMs;
  let isFirst = true;
  for (const { id, isBot, lastSeenAt } of participants) {
    if (isBot) continue;
    const counts = isFresh ? lastSeenAt > since || id === author : lastSeenAt >= since;
    if (!counts) continue;
    if (!isFirst) return true;
    isFirst = false;
  }
  return false;
}

/** The same count with where it comes from, in words. */
export function effectiveHumans(
  room: Room,
  rules: Rules,
  now: Millis,
): { readonly count: number; readonly source: string } {
  const count = countHumans(room, rules, now);
  const { membership } = room;
  if (membership === null) return { count, source: "who has spoken" };
  const age = `${Math.max(0, Math.round((now - membership.fetchedAt) / 1000))} s old`;
  if (isFreshAndComplete(membership, rules, now)) {
    const more = count > membership.humans ? ", and who has spoken since" : "";
    return { count, source: `member list, ${age}${more}` };
  }
  const flaw = membership.truncated ? "an incomplete" : "a stale";
  return { count, source: `who has spoken, and ${flaw} member list, ${age}` };
}

/** The one definition of a busy room; the ladder asks `hasSeveralHumans` for its second half. */
export function isMultiHumanGroup(isDirect: boolean, count: number): boolean {
  return !isDirect && count > 1;
}

/**
 * The participants after `who` spoke, the latest speaker last. People and bots are capped apart at
 * the most recent, so a flood of bots cannot push the people out. Once seen as a bot, always a bot,
 * and bots are not forgotten with time: a message may name one that has been silent for months.
 * `isNew`: not known before, or not heard of for `days`.
 */
export function noteSpeaker(
  participants: readonly Participant[],
  who: { readonly id: AuthorId; readonly name: string; readonly isBot: boolean },
  at: Millis,
  days: number,
): { readonly participants: Participant[]; readonly isNew: boolean } {
  const since = at - days * dayMs;
  const kept: Participant[] = [];
  let known: Participant | undefined;
  let humans = 0;
  let bots = 0;
  for (const participant of participants) {
    if (participant.id === who.id) known = participant;
    else if (participant.isBot || participant.lastSeenAt >= since) {
      kept.push(participant);
      if (participant.isBot) bots += 1;
      else humans += 1;
    }
  }
  const isBot = who.isBot || known?.isBot === true;
  kept.push({
    id: who.id,
    name: cut(who.name, limits.labelShownUnitsMax),
    isBot,
    lastSeenAt: known === undefined ? at : Math.max(at, known.lastSeenAt),
  });
  const full = isBot ? bots >= limits.peerBotsCountMax : humans >= limits.participantsCountMax;
  if (full) {
    const oldest = kept.findIndex((participant) => participant.isBot === isBot);
    kept.splice(oldest, 1);
  }
  // A list that has grown has room for more, which every conversation in memory would keep.
  return { participants: kept.slice(), isNew: known === undefined || known.lastSeenAt < since };
}
