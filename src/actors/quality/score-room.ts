/** Plays the agents of a labelled room and counts how many decisions were right. */
import type { Decision, Rule } from "../../domain/decision.ts";
import {
  isMeant,
  type LabelledLine,
  type LabelledRoom,
} from "../../domain/quality/labelled-room.ts";
import { Tally } from "../../domain/quality/score.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import { authorsOf, playAgent } from "./play-room.ts";

/** A decision on a line that counts. */
export interface ScoredDecision {
  readonly agent: string;
  readonly line: LabelledLine;
  /** Place of the line in the room. */
  readonly index: number;
  readonly decision: Decision;
  readonly rule: Rule;
  readonly isMeant: boolean;
}

/** Scores all agents of a room under these settings; `onDecision` gets each decision that counts. */
export function scoreRoom(
  room: LabelledRoom,
  settings: ConversationSettings,
  onDecision?: (decision: ScoredDecision) => void,
): Tally {
  const tally = new Tally();
  tally.rooms = 1;
  tally.agents = room.agents.length;
  const authors = authorsOf(room);
  const authorOf = (id: string) => authors.get(id);
  const from = room.lines.findIndex(({ id }) => id === room.from);
  for (const agent of room.agents)
    playAgent(room, agent, settings, (index, decision, rule) => {
      const line = room.lines[index];
      if (line === undefined || index < from) return;
      const meant = isMeant(line, agent, authorOf);
      tally.count(rule, decision === "engage", meant);
      onDecision?.({ agent, line, index, decision, rule, isMeant: meant });
    });
  return tally;
}
