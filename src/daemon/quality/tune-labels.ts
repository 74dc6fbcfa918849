/**
 * Tunes on what the owner labelled
 * ================================
 * The labelled rooms of this daemon's journal, and the rules in force with what decides better on
 * them, as text for the What-if page. Nothing is applied here. One search runs at a time, on one
 * other thread, and ends when its reader goes.
 */
import {
  type LabelledStore,
  type LabelledText,
  recordLabelled,
} from "../../actors/recording/labelled-rooms.ts";
import type { RecordingRange } from "../../actors/recording/types.ts";
import {
  type EarshotConfig,
  pathText,
  scenarioConfig,
  withoutSecrets,
} from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Target } from "../../domain/quality/folds.ts";
import type { LabelledLine, LabelledRoom } from "../../domain/quality/labelled-room.ts";
import type { TuneFound, TuneFrame } from "../api-types/tune.ts";
import { whatIfMessagesMax } from "../what-if/recording.ts";
import { rulesText } from "../what-if/rules-text.ts";
import { textWith } from "./apply-edits.ts";
import { decisionsToTune, tune } from "./tune.ts";

export interface TuneLabels {
  /**
   * Sends progress, then what was found, until it ends or is cancelled.
   * @throws EarshotError EAR_USAGE when another search runs, nothing is labelled, or it is too much.
   */
  run(
    query: RecordingRange,
    target: Target,
    send: (frame: TuneFrame) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Ends the search that runs. */
  close(): void;
}

interface TuneLabelsPorts {
  readonly store: LabelledStore;
  readonly config: () => EarshotConfig;
}

/** Deals the rooms; the same labels give the same result. */
const seed = 1;

export function createTuneLabels(ports: TuneLabelsPorts): TuneLabels {
  let running: AbortController | null = null;
  return {
    async run(query, target, send, signal) {
      if (running !== null)
        throw new EarshotError(
          "EAR_USAGE",
          "Cannot look for rules now: another search runs. Stop it, or try again in a moment",
        );
      const own = new AbortController();
      running = own;
      try {
        const found = await search(ports, query, target, {
          send,
          signal: AbortSignal.any([signal, own.signal]),
        });
        send({ type: "found", found });
      } finally {
        running = null;
      }
    },
    close: () => running?.abort(new Error("the daemon stops")),
  };
}

interface Reader {
  readonly send: (frame: TuneFrame) => void;
  readonly signal: AbortSignal;
}

async function search(
  { store, config }: TuneLabelsPorts,
  query: RecordingRange,
  target: Target,
  { send, signal }: Reader,
): Promise<TuneFound> {
  const rooms = await roomsOf(recordLabelled(store, query), signal);
  const labels = rooms.flatMap(({ lines }) => lines).filter(({ meant }) => meant !== undefined);
  if (labels.length === 0)
    throw new EarshotError(
      "EAR_USAGE",
      "Cannot look for rules: nobody has labelled a message of that time. Label some on the Room " +
        "page, or take a longer time",
    );
  const base = withoutSecrets(config()) as unknown as Readonly<Record<string, unknown>>;
  const current = scenarioConfig({}, base);
  const total = decisionsToTune(rooms, current);
  let done = 0;
  const tuned = await tune(rooms, current, {
    target,
    seed,
    threads: 1,
    signal,
    onProgress(decisions) {
      done = Math.min(total, done + decisions);
      send({ type: "progress", share: done / total });
    },
  });
  const [best] = tuned.best;
  return {
    rooms: rooms.length,
    labels: labels.length,
    reached: tuned.isReached,
    given: tuned.given.measured,
    best: best.measured,
    heldOut: tuned.heldOut,
    edits: best.edits.map(({ path, before, after }) => ({ path: pathText(path), before, after })),
    rules: textWith(rulesText(base), best.edits),
  };
}

async function roomsOf(
  texts: AsyncIterable<LabelledText>,
  signal: AbortSignal,
): Promise<readonly LabelledRoom[]> {
  const rooms: (Omit<LabelledRoom, "lines"> & { readonly lines: LabelledLine[] })[] = [];
  let lines = 0;
  for await (const text of texts) {
    signal.throwIfAborted();
    if ("room" in text) rooms.push({ ...text, lines: [] });
    else rooms.at(-1)?.lines.push(text);
    lines += 1;
    if (lines > whatIfMessagesMax)
      throw new EarshotError(
        "EAR_USAGE",
        `Cannot look for rules: there are more than ${whatIfMessagesMax.toLocaleString("en")} ` +
          "messages. Choose a shorter time, or use `earshot record --labels` and `earshot tune`",
      );
  }
  return rooms;
}
