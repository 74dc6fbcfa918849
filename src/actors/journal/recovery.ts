/**
 * Recovery
 * ========
 * What a start finds in the store: events that were journalled and not applied, turns that waited
 * or ran, deadlines, open sends. Events are fed again in journal order, before anything new; turns
 * that ran are told that their process is gone. Nothing is guessed: each row says by itself how far
 * it came.
 */
import type { Clock, EventRow, Log, RunRow, Scheduler, Store } from "../../domain/ports/index.ts";
import type { JournalEvent } from "../../machines/events/events.ts";
import { decodeEvent, newEvent } from "../protocol/event-codec.ts";
import type { HostEntry } from "../protocol/host-protocol.ts";
import type { TurnSlots } from "../protocol/turn-slots.ts";
import { nextTurn } from "../util/scheduling.ts";
import type { Configs } from "./config-versions.ts";
import type { Journal } from "./journal.ts";
import type { Quarantine } from "./quarantine.ts";

/** Journal rows looked through between two turns of the event loop. */
const sliceRows = 10_000;

export interface RecoveryPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly journal: Journal;
  readonly configs: Configs;
  readonly slots: TurnSlots;
  /** Number of this start, for the identity of what it journals. */
  readonly boot: number;
}

type FindPorts = Pick<RecoveryPorts, "store" | "configs" | "log"> & {
  readonly scheduler: Scheduler;
  readonly quarantine: Pick<Quarantine, "add">;
};

/**
 * Events up to `lastSeq` whose consequences were never committed, in order. Looked for from the
 * low-water mark on, in slices. A row that cannot be read is set aside and told, so that it stops
 * nobody else.
 */
export async function findUnapplied(
  { store, configs, quarantine, log, scheduler }: FindPorts,
  lastSeq: number,
): Promise<HostEntry[]> {
  const entries: HostEntry[] = [];
  const keys = new Map<number, string>();
  const swept = Number((await store.meta("sweptSeq")) ?? 0);
  for (let from = swept; from < lastSeq; from += sliceRows) {
    const rows = await store.unapplied(from, Math.min(from + sliceRows, lastSeq));
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
 * Takes up the turns: who waited waits again, who was granted a slot has it, who ran is told by an
 * event that follows everything found above. A conversation that is already to be told is not told
 * twice.
 */
export async function recoverRuns(
  { clock, configs, journal, slots: lanes, boot }: Omit<RecoveryPorts, "store" | "log">,
  runs: readonly RunRow[],
  unapplied: readonly HostEntry[],
): Promise<void> {
  const pending = new Set(
    unapplied.flatMap(({ conv, event }) => (event.type === "host.recovered" ? [conv] : [])),
  );
  for (const run of runs) if (run.turnId !== null) lanes.occupy(run);
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
  for (const run of runs) if (run.turnId === null) lanes.request(run);
}
