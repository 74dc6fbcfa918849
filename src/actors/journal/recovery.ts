/**
 * What a start finds in the store: events that were journalled and not applied, turns that waited
 * or ran, deadlines, open sends. Events are dispatched again in journal order, before anything new;
 * turns that ran are notified that their process is gone. Nothing is guessed: each row says how far
 * it came.
 */
import type { Clock, EventRow, Log, RunRow, Scheduler, Store } from "../../domain/ports/index.ts";
import type { JournalEvent } from "../../machines/events/events.ts";
import type { TurnSlots } from "../protocol/conversation-summary.ts";
import { decodeEvent, newEvent } from "../protocol/event-codec.ts";
import type { HostEntry } from "../protocol/host-protocol.ts";
import { nextTurn } from "../util/scheduling.ts";
import type { Configs } from "./config-versions.ts";
import type { Journal } from "./journal.ts";
import type { Quarantine } from "./quarantine.ts";

/** Journal rows scanned between two turns of the event loop: a start goes on in between. */
const sliceRows = 2_500;

export interface RecoveryPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly journal: Journal;
  readonly configs: Configs;
  readonly slots: TurnSlots;
  /** Number of this start, part of the identity of the events that it journals. */
  readonly boot: number;
}

type FindPorts = Pick<RecoveryPorts, "store" | "configs" | "log"> & {
  readonly journal: Pick<Journal, "foundUnapplied">;
  readonly scheduler: Scheduler;
  readonly quarantine: Pick<Quarantine, "add">;
};

/**
 * Finds events up to `lastSeq` whose consequences were never committed, in order. The scan starts
 * at the low-water mark and goes in slices. An unreadable row is quarantined and logged, so that it
 * blocks nothing else.
 */
export async function findUnapplied(
  { store, journal, configs, quarantine, log, scheduler }: FindPorts,
  lastSeq: number,
): Promise<HostEntry[]> {
  const entries: HostEntry[] = [];
  const keys = new Map<number, string>();
  const checked = Number((await store.meta("sweptSeq")) ?? 0);
  for (let from = checked; from < lastSeq; from += sliceRows) {
    // Numbers may be far apart.
    const [first] = await store.scan(from, 1);
    from = (first?.seq ?? lastSeq + 1) - 1;
    const rows = await store.unapplied(from, Math.min(from + sliceRows, lastSeq));
    journal.foundUnapplied(rows.length);
    await configs.load(rows.map(({ cfg }) => cfg));
    for (const row of rows) {
      const { conv, seq, cfg } = row;
      const key = keys.get(conv) ?? (await store.conversation(conv))?.key ?? "";
      keys.set(conv, key);
      const event = readable(row, log);
      if (event !== null) entries.push({ conv, key, seq, cfg, event });
      else await quarantine.add({ conv, seq, error: "its journal row cannot be read" });
    }
    await nextTurn(scheduler);
  }
  return entries;
}

function readable(row: EventRow, log: Log): JournalEvent | null {
  try {
    return decodeEvent(row);
  } catch (error) {
    log("error", "event.unreadable", { seq: row.seq, conv: row.conv, error: String(error) });
    return null;
  }
}

/**
 * Gives every granted turn its slot. Before anything else may ask for one: a deadline that is due at
 * the start would begin another turn in its conversation, with a row in the place of this one's.
 */
export function occupySlots(slots: Pick<TurnSlots, "occupy">, runs: readonly RunRow[]): void {
  for (const run of runs) if (run.turnId !== null) slots.occupy(run);
}

/**
 * Restores the turns, whose slots are occupied: a waiting turn waits again, and a running turn gets an
 * event after everything found above. A conversation that already has such an event gets no second
 * one.
 */
export async function recoverRuns(
  { clock, configs, journal, slots, boot }: Omit<RecoveryPorts, "store" | "log">,
  runs: readonly RunRow[],
  unapplied: readonly HostEntry[],
): Promise<void> {
  const pending = new Set(
    unapplied.flatMap(({ conv, event }) => (event.type === "host.recovered" ? [conv] : [])),
  );
  const lost = runs.filter(({ state, conv }) => state === "running" && !pending.has(conv));
  const events = lost.map(({ conv, key, turnId }) =>
    newEvent(
      { conv, key },
      configs.version(),
      { type: "host.recovered", at: clock.now(), restarted: true },
      {
        identity: `recovered|${turnId}|start ${boot}`,
      },
    ),
  );
  if (events.length > 0) await journal.append(events);
  for (const run of runs) if (run.turnId === null) slots.request(run);
}
