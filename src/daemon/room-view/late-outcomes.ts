/**
 * An agent ends before its last parts are delivered. What becomes of them may change the outcome of its
 * turn: then the end is said once more, with the outcome that counts.
 */
import type { EndedEntry, ReplyEntry, RoomEntry } from "../api-types/room.ts";
import { deliveredOf, type EntryPorts } from "./transcript-entries.ts";

/** The outcomes that deliveries decide. */
const delivered: ReadonlySet<EndedEntry["outcome"]> = new Set([
  ...(["replied", "partly", "undelivered"] as const),
]);

export interface LatePorts {
  readonly store: EntryPorts["store"];
  /** Entries sent before, oldest first. */
  readonly sent: readonly RoomEntry[];
  /** Entries before this number that are no longer, or not yet, among those. */
  readonly before: (seq: number) => Promise<readonly RoomEntry[]>;
}

/** The new entries, with an end after each part that changed the outcome of its turn. */
export async function withLateOutcomes(
  fresh: readonly RoomEntry[],
  { store, sent, before }: LatePorts,
): Promise<RoomEntry[]> {
  const entries: RoomEntry[] = [];
  for (const entry of fresh) {
    entries.push(entry);
    if (entry.kind !== "said" || entry.aside !== undefined) continue;
    const known = endOf(entry, entries) ?? endOf(entry, sent);
    const end = known ?? endOf(entry, await before(entry.seq));
    if (end === undefined || !delivered.has(end.outcome)) continue;
    const outcome = await deliveredOf(entry.turnId, { store });
    const isSaid = known === undefined ? outcome === "replied" : outcome === known.outcome;
    if (!isSaid) entries.push({ ...end, seq: entry.seq, at: entry.at, outcome });
  }
  return entries;
}

const endOf = ({ turnId }: ReplyEntry, entries: readonly RoomEntry[]): EndedEntry | undefined =>
  entries.findLast(
    (entry): entry is EndedEntry => entry.kind === "ended" && entry.turnId === turnId,
  );
