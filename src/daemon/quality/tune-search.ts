/**
 * One search for rules that decide better on what the owner labelled: the labelled rooms of the journal,
 * tuned, as text for the What-if page. Loaded with the first search.
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
import { limits } from "../../domain/limits.ts";
import type { Target } from "../../domain/quality/folds.ts";
import type { LabelledLine, LabelledRoom } from "../../domain/quality/labelled-room.ts";
import type { TuneFound, TuneFrame } from "../api-types/tune.ts";
import { rulesText } from "../what-if/rules-text.ts";
import { textWith } from "./apply-edits.ts";
import { decisionsToTune, tune } from "./tune.ts";

const { whatIfMessagesMax } = limits;
/** Deals the rooms; the same labels give the same result. */
const seed = 1;

export interface TuneLabelsPorts {
  readonly store: LabelledStore;
  readonly config: () => EarshotConfig;
}

interface Reader {
  readonly send: (frame: TuneFrame) => void;
  readonly signal: AbortSignal;
}

/** @throws EarshotError EAR_USAGE when nothing is labelled, or it is too much. */
export async function searchRules(
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
