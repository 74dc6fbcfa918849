/**
 * Scores labelled rooms
 * =====================
 * Rooms are independent of each other, so they are played on as many threads as there are cores. The
 * sums do not depend on the order in which threads are done.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { LabelledRoom } from "../../domain/quality/labelled-room.ts";
import { type Score, Tally } from "../../domain/quality/score.ts";
import { settingsIn } from "./room-settings.ts";
import { linesToDecide, openPool, threadsFromDecisions } from "./thread-pool.ts";
import { type RoomScore, type ScoreTask, scoreTask } from "./worker.ts";

export interface Scores {
  readonly score: Score;
  /** Only where settings to compare with were given. */
  readonly against: Score | null;
  /** In the order of the rooms. */
  readonly rooms: readonly RoomScore[];
}

interface ScoreOptions {
  readonly against?: EarshotConfig;
  /** On so many threads however little there is to do. @default one for each core, if it is much */
  readonly threads?: number;
  /** `lines` more are done: those of one room, for all its agents. */
  readonly onProgress?: (lines: number) => void;
}

/** Scores rooms under a config. */
export async function scoreLabelled(
  rooms: readonly LabelledRoom[],
  config: EarshotConfig,
  { against, threads, onProgress = () => undefined }: ScoreOptions = {},
): Promise<Scores> {
  const all = rooms.reduce((sum, room) => sum + linesToDecide(room), 0);
  const isMuch = threads !== undefined || all >= threadsFromDecisions;
  const pool = isMuch ? openPool(threads ?? rooms.length) : null;
  const taskOf = (room: LabelledRoom): ScoreTask => ({
    room,
    settings: settingsIn(room, config),
    ...(against === undefined ? {} : { against: settingsIn(room, against) }),
  });
  const scoreOne = async (room: LabelledRoom): Promise<RoomScore> => {
    const task = taskOf(room);
    const scored =
      pool === null
        ? scoreTask(task)
        : ((await pool.run(task, { name: "scoreTask" })) as RoomScore);
    onProgress(linesToDecide(room));
    return scored;
  };
  try {
    const scored = await Promise.all(rooms.map(scoreOne));
    const other = scored.flatMap((room) => room.against ?? []);
    return {
      score: sumOf(scored.map(({ score }) => score)),
      against: against === undefined ? null : sumOf(other),
      rooms: scored,
    };
  } finally {
    await pool?.destroy();
  }
}

function sumOf(scores: readonly Score[]): Score {
  const tally = new Tally();
  for (const score of scores) tally.add(score);
  return tally.score();
}
