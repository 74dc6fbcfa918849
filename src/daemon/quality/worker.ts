/** What a thread does for one labelled room. */
import { scoreRoom } from "../../actors/quality/score-room.ts";
import type { Decision, Rule } from "../../domain/decision.ts";
import { added, type Counts, foldsCount, noCounts } from "../../domain/quality/folds.ts";
import type { LabelledRoom } from "../../domain/quality/labelled-room.ts";
import type { Score } from "../../domain/quality/score.ts";
import type { ConversationSettings } from "../../domain/settings.ts";

export interface ScoreTask {
  readonly room: LabelledRoom;
  readonly settings: ConversationSettings;
  /** Settings to compare with. */
  readonly against?: ConversationSettings;
}

/** A decision that differs under the settings compared with. */
export interface ScoreDifference {
  readonly room: string;
  readonly agent: string;
  readonly id: string;
  readonly before: { readonly decision: Decision; readonly rule: Rule };
  readonly after: { readonly decision: Decision; readonly rule: Rule };
  readonly meant: boolean;
}

/** The scores of one room. */
export interface RoomScore {
  readonly room: string;
  readonly score: Score;
  readonly against?: Score;
  readonly differences: readonly ScoreDifference[];
}

/** What a thread does for one room. */
export function scoreTask({ room, settings, against }: ScoreTask): RoomScore {
  if (against === undefined)
    return { room: room.room, score: scoreRoom(room, settings).score(), differences: [] };
  const before = new Map<string, ScoreDifference["before"]>();
  const differences: ScoreDifference[] = [];
  const score = scoreRoom(room, settings, ({ agent, line, decision, rule }) => {
    before.set(JSON.stringify([agent, line.id]), { decision, rule });
  }).score();
  const other = scoreRoom(room, against, ({ agent, line: { id }, decision, rule, isMeant }) => {
    const was = before.get(JSON.stringify([agent, id]));
    if (was === undefined || (was.decision === decision && was.rule === rule)) return;
    const after = { decision, rule };
    differences.push({ room: room.room, agent, id, before: was, after, meant: isMeant });
  }).score();
  return { room: room.room, score, against: other, differences };
}

export interface CountTask {
  readonly room: LabelledRoom;
  /** The fold of each line. */
  readonly folds: readonly number[];
  readonly settings: readonly ConversationSettings[];
}

/** The counts of each fold under each of the settings. */
export function countTask({ room, folds, settings }: CountTask): readonly (readonly Counts[])[] {
  return settings.map((tried) => {
    const counts = Array.from({ length: foldsCount }, () => noCounts);
    scoreRoom(room, tried, ({ index, decision, isMeant }) => {
      const isEngaged = decision === "engage";
      if (!isEngaged && !isMeant) return;
      const fold = folds[index] ?? 0;
      counts[fold] = added(counts[fold] ?? noCounts, {
        right: isEngaged && isMeant ? 1 : 0,
        engaged: isEngaged ? 1 : 0,
        meant: isMeant ? 1 : 0,
      });
    });
    return counts;
  });
}
