/**
 * The simulated room as a scenario
 * ================================
 * The page holds the whole room and the server nothing: the room becomes scenario lines
 * (docs/guide/scenarios.md), sent again with every request. Time between lines is the real time
 * that passed, so credits run out as in a real room.
 *
 * The member list is refreshed before it is old, as a channel that can read it would, so people who
 * have not spoken count, too.
 */
import type { InboundInput } from "../../../src/domain/message.ts";
import { count, type Member, mentioned, selfId } from "./participants.ts";

export interface ReplyTo {
  readonly id: string;
  readonly authorId: string;
  readonly authorName: string;
  readonly text: string;
}
/** One line as it was said. */
export interface Line {
  readonly id: string;
  /** Ms since the room began. */
  readonly t: number;
  readonly author: Member;
  readonly text: string;
  readonly replyTo: ReplyTo | null;
  /** Who was there. */
  readonly cast: readonly Member[];
}
export interface Room {
  /** Ms since the epoch of `t` 0. */
  readonly startedAt: number;
  readonly lines: readonly Line[];
}
export interface AgentName {
  readonly id: string;
  readonly name: string;
}

export const linesCountMax = 200;
/** A read of the member list is believed for a minute; it is read again a little before. */
const membersAgeMsMax = 50_000;
const place = { channel: "simulator", chat: { id: "room", kind: "group" as const } };
/** How long the scripted agent takes, and what it says: plain lines that pretend no thought. */
const thinkingMs = 900;
const replies = [
  "On it.",
  "Done.",
  "Yes, that works.",
  "Noted. Anything else?",
  "I will look after it.",
  "Here, and listening.",
];

/** The agent as someone who can be mentioned. */
export const agentMember = (agent: AgentName): Member => ({
  id: selfId,
  name: agent.name,
  isBot: true,
});

/**
 * The lines to send: the script of the agent, then everything said, then the draft if there is one.
 */
export function scenarioLines(room: Room, agent: AgentName, draft: Line | null = null): unknown[] {
  const said = draft === null ? room.lines : [...room.lines, draft];
  const runs = said.map((_, turn) => ({
    steps: [{ waitMs: thinkingMs }, { text: replies[turn % replies.length] }],
  }));
  return [
    { earshot: 1, config: {}, start: room.startedAt },
    ...(runs.length === 0 ? [] : [{ t: 0, agent: { agentId: agent.id, runs } }]),
    ...messageLines(said, agent),
  ];
}

function messageLines(said: readonly Line[], agent: AgentName): unknown[] {
  let readAt = Number.NEGATIVE_INFINITY;
  let read: Line["cast"] = [];
  return said.flatMap((line) => {
    const { t, cast } = line;
    const heard = { t, in: inboundOf(line, agent) };
    if (cast === read && t - readAt < membersAgeMsMax) return [heard];
    readAt = t;
    read = cast;
    return [{ t, membership: { ...place, ...count(cast), truncated: false } }, heard];
  });
}

function inboundOf(line: Line, agent: AgentName): InboundInput {
  const { id, author, text, replyTo } = line;
  return {
    ...place,
    id,
    author: { id: author.id, name: author.name, isBot: author.isBot },
    text,
    mentions: mentioned(text, [...line.cast, agentMember(agent)]).map((who) => ({
      id: who.id,
      name: who.name,
      isSelf: who.id === selfId,
    })),
    ...(replyTo === null
      ? {}
      : { replyTo: { ...replyTo, authorIsSelf: replyTo.authorId === selfId } }),
  };
}

/** A room to look at before writing anything oneself. */
export function exampleRoom(cast: readonly Member[], agent: AgentName, now: number): Room {
  const spoken: readonly (readonly [number, string, string])[] = [
    [0, "ann", "lunch at one?"],
    [9_000, "bo", `@${agent.name} book a table for three`],
    [24_000, "bo", "can you make it four? Dee joins"],
    [50_000, "cy", "@Bo nice, thanks"],
    [90_000, "relay", "Menu for today: soup, pasta, salad."],
  ];
  const lines = spoken.flatMap(([t, who, text], index): Line[] => {
    const author = cast.find((member) => member.id === who);
    if (author === undefined) return [];
    return [{ id: `example-${index + 1}`, t, author, text, replyTo: null, cast }];
  });
  return { startedAt: now - 92_000, lines };
}
