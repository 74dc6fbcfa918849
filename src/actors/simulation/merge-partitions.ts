/**
 * Laying strands together
 * =======================
 * Merges the activities of strands into the order that one run of the whole scenario has: by time;
 * at one moment what was due by then, the lines as they stand in the file, and what those made due;
 * timers of one moment by when they were due and then by when they were set. A timer was set by an
 * activity of its own strand, which has its place in the order already.
 *
 * The slots of turns are counted here for all strands together. As soon as anybody would have had to
 * wait, or an activity touched more than its rooms, the strands are worth nothing from there on: the
 * braid ends before it and says why.
 */
import type { Activity, Batch, SlotChange } from "./activity-log.ts";

/** Where the batches of a strand come from, in order; null: it has ended. */
export interface StrandSource {
  next(): Promise<Batch | null>;
}

interface Strand {
  readonly source: StrandSource;
  /** Places of activities whose timers wait, by their numbers in the strand. */
  readonly places: Map<number, number>;
  batch: Batch | null;
  index: number;
  head: Activity | null;
  /** Place of what set the head off. */
  by: number;
  ended: boolean;
}

/** Told of each activity in its turn; where it gives a promise, the braid waits. */
export type OnActivity = (activity: Activity, done: number) => void | Promise<void>;

/**
 * Merges until every strand has ended: null then, or else what makes the rest worthless. Nothing of
 * the activity that this is about was told.
 */
export async function braid(
  sources: readonly StrandSource[],
  onActivity: OnActivity,
): Promise<string | null> {
  const strands = sources.map((source): Strand => {
    return { source, places: new Map(), batch: null, index: 0, head: null, by: 0, ended: false };
  });
  const slots = new SlotCount();
  for (let place = 1; ; place += 1) {
    for (const strand of strands) if (strand.head === null && !strand.ended) await advance(strand);
    const first = firstOf(strands);
    if (first === null) return null;
    const activity = first.head as Activity;
    const touched = activity.touched ?? slots.add(activity.slots);
    if (touched !== null) return touched;
    if (activity.leaves) first.places.set(activity.number, place);
    const told = onActivity(activity, doneOf(strands));
    if (told !== undefined) await told;
    step(first);
  }
}

/** Lines that all strands are done with, as far as they have said so. */
const doneOf = (strands: readonly Strand[]): number =>
  strands.reduce((sum, { batch }) => sum + (batch?.done ?? 0), 0);

/** Goes on to the next activity; past the end of a batch the head is unknown. */
function step(strand: Strand): void {
  strand.index += 1;
  const next = strand.batch?.activities[strand.index] ?? null;
  if (next === null) for (const number of strand.batch?.over ?? []) strand.places.delete(number);
  point(strand, next);
}

async function advance(strand: Strand): Promise<void> {
  while (strand.head === null && !strand.ended) {
    const batch = await strand.source.next();
    strand.ended = batch === null;
    if (batch === null) return;
    strand.batch = batch;
    strand.index = -1;
    step(strand);
  }
}

function point(strand: Strand, activity: Activity | null): void {
  strand.head = activity;
  strand.by = activity === null ? 0 : (strand.places.get(activity.by) ?? 0);
}

function firstOf(strands: readonly Strand[]): Strand | null {
  let first: Strand | null = null;
  for (const strand of strands)
    if (strand.head !== null && (first === null || isBefore(strand, first))) first = strand;
  return first;
}

function isBefore(a: Strand, b: Strand): boolean {
  const [one, other] = [a.head as Activity, b.head as Activity];
  if (one.at !== other.at) return one.at < other.at;
  if (one.phase !== other.phase) return one.phase < other.phase;
  if (one.rank !== other.rank) return one.rank < other.rank;
  return one.phase !== 1 && (a.by !== b.by ? a.by < b.by : one.order < other.order);
}

/** Turns that run in all strands together. */
class SlotCount {
  readonly #ofAgent = new Map<string, number>();
  #all = 0;

  /** What would have been otherwise in one run; null: nothing. */
  add(changes: readonly SlotChange[]): string | null {
    for (const change of changes) {
      const { agentId } = change;
      const by = change.slots === null ? -1 : 1;
      const running = (this.#ofAgent.get(agentId) ?? 0) + by;
      this.#ofAgent.set(agentId, running);
      this.#all += by;
      if (change.slots === null) continue;
      if (this.#all > change.slots || running > change.agentSlots)
        return "turns that wait for others";
    }
    return null;
  }
}
