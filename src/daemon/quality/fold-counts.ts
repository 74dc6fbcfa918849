/**
 * Counts of choices
 * =================
 * Plays labelled rooms under many settings, on as many threads as there are cores. A room is played
 * once for all settings that decide the same in it: a window longer than the room, or a name that
 * nobody wrote, changes nothing there.
 */
import type { Piscina } from "piscina";
import { fold } from "../../domain/fold-text.ts";
import {
  added,
  type Counts,
  type Folds,
  foldsCount,
  noCounts,
} from "../../domain/quality/folds.ts";
import type { LabelledRoom } from "../../domain/quality/labelled-room.ts";
import { type Choice, choiceText, stickinessEdits } from "../../domain/quality/tuning-space.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import { linesToDecide, openPool, threadsFromDecisions } from "./thread-pool.ts";
import { type CountTask, countTask } from "./worker.ts";

/** Settings of a task; more tasks keep all threads busy until the end. */
const settingsOfTask = 4;

interface Played {
  readonly room: LabelledRoom;
  readonly settings: ConversationSettings;
  readonly folds: readonly number[];
  readonly spanMs: number;
  /** What everybody else wrote, folded. */
  readonly texts: readonly string[];
  readonly known: Map<string, readonly Counts[]>;
}

export interface PlayOptions {
  /** On so many threads however little there is to do. @default one for each core, if it is much */
  readonly threads?: number;
  readonly signal?: AbortSignal;
  /** So many decisions more are known. */
  readonly onProgress?: (decisions: number) => void;
}

interface PlayTask {
  readonly task: CountTask;
  /** One name for each of the settings. */
  readonly names: readonly string[];
  readonly known: Map<string, readonly Counts[]>;
}

export class FoldCounts {
  readonly #rooms: readonly Played[];
  readonly #options: PlayOptions;
  #pool: Piscina | null = null;
  #decisions = 0;

  constructor(
    rooms: readonly LabelledRoom[],
    settingsIn: (room: LabelledRoom) => ConversationSettings,
    { foldOf }: Folds,
    options: PlayOptions,
  ) {
    this.#options = options;
    this.#rooms = rooms.map((room) => ({
      room,
      settings: settingsIn(room),
      folds: room.lines.map((_, index) => foldOf(room, index)),
      spanMs: (room.lines.at(-1)?.at ?? 0) - (room.lines[0]?.at ?? 0),
      texts: room.lines.flatMap(({ by, text }) =>
        room.agents.length === 1 && room.agents[0] === by ? [] : [fold(text)],
      ),
      known: new Map(),
    }));
  }

  /** Plays what is not known of these choices. */
  async play(choices: readonly Choice[]): Promise<void> {
    const tasks = this.#rooms.flatMap((played) => this.#tasksOf(played, choices));
    for (const { task } of tasks)
      this.#decisions += linesToDecide(task.room) * task.settings.length;
    const { threads } = this.#options;
    if (threads !== undefined || this.#decisions >= threadsFromDecisions)
      this.#pool ??= openPool(threads ?? Number.POSITIVE_INFINITY);
    await Promise.all(tasks.map((one) => this.#run(one)));
  }

  /** The counts of each fold under a choice that was played. */
  of(choice: Choice): readonly Counts[] {
    const sums = Array.from({ length: foldsCount }, () => noCounts);
    for (const played of this.#rooms) {
      const counts = played.known.get(choiceText(effectOf(played, choice)));
      if (counts === undefined) throw new Error("Cannot count a choice that was not played");
      for (const [fold, one] of counts.entries()) sums[fold] = added(sums[fold] ?? noCounts, one);
    }
    return sums;
  }

  /** The rooms in which the choices may decide differently. */
  roomsThatDiffer(a: Choice, b: Choice): readonly LabelledRoom[] {
    return this.#rooms
      .filter((room) => choiceText(effectOf(room, a)) !== choiceText(effectOf(room, b)))
      .map(({ room }) => room);
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  #tasksOf(played: Played, choices: readonly Choice[]): readonly PlayTask[] {
    const { room, folds, known } = played;
    const effects = choices.map((choice) => effectOf(played, choice));
    const missing = [...new Map(effects.map((effect) => [choiceText(effect), effect]))].filter(
      ([text]) => !known.has(text),
    );
    const repeated = choices.length - missing.length;
    this.#options.onProgress?.(repeated * linesToDecide(room));
    return chunks(missing, settingsOfTask).map((part) => {
      const settings = part.map(([, effect]) => settingsOf(played, effect));
      const task: CountTask = { room, folds, settings };
      return { task, names: part.map(([text]) => text), known };
    });
  }

  async #run({ task, names, known }: PlayTask): Promise<void> {
    const { signal, onProgress } = this.#options;
    signal?.throwIfAborted();
    const counted =
      this.#pool === null
        ? countTask(task)
        : ((await this.#pool.run(task, {
            name: "countTask",
            ...(signal === undefined ? {} : { signal }),
          })) as ReturnType<typeof countTask>);
    for (const [index, name] of names.entries()) known.set(name, counted[index] ?? []);
    onProgress?.(names.length * linesToDecide(task.room));
  }
}

/** A choice without what changes nothing in the room. */
function effectOf({ room, spanMs, texts }: Played, { values: all, aliases }: Choice): Choice {
  const { judge, ...others } = all;
  const isJudged =
    room.agents.length === 1 && room.lines.some(({ judged }) => judged !== undefined);
  const values = isJudged && judge !== undefined ? all : others;
  const { windowMs } = values;
  const isWritten = (name: string) => texts.some((text) => text.includes(fold(name)));
  return {
    values:
      typeof windowMs === "number"
        ? { ...values, windowMs: Math.min(windowMs, spanMs + 1) }
        : values,
    aliases: room.agents.length === 1 ? aliases.filter(isWritten) : [],
  };
}

function settingsOf({ settings }: Played, effect: Choice): ConversationSettings {
  const { engagement } = settings;
  const edits = stickinessEdits(effect, engagement.stickiness);
  const stickiness = {
    ...engagement.stickiness,
    ...Object.fromEntries(edits.map(([name, , after]) => [name, after])),
  };
  const { judge, ...others } = { ...engagement, stickiness, aliases: effect.aliases };
  const isOff = effect.values.judge === "off" || judge === undefined;
  return { ...settings, engagement: isOff ? others : { ...others, judge } };
}

function chunks<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
