/**
 * An event that no host survives, or that its conversation cannot accept, is marked and never
 * dispatched again. Nothing waits for its consequences: if other agents answer after this one, they
 * are notified in the same commit that it is done with the message.
 *
 * A row with several reports of one turn is not quarantined as a whole: its reports are journalled
 * again, one per row.
 *
 * A list of quarantined events is stored for the operator, in the same commit as the mark. A retry
 * journals the event once more, as if it arrived now: later events have been applied and are not
 * undone. The old row stays where it is and is skipped by every replay; the new one names it, so
 * each row is retried once, however often a retry is requested.
 */
import { type Inbound, inOneChat } from "../../domain/message.ts";
import type { EventRow, Log, Store, StoreWrite } from "../../domain/ports/index.ts";
import type { RelayPassed } from "../../machines/events/effects.ts";
import type {
  JournalEvent,
  MessageDeleted,
  MessageEdited,
  MessageReceived,
} from "../../machines/events/events.ts";
import { decodeEvent, newEvent, type RetriedEvent, triesOf } from "../protocol/event-codec.ts";
import { quarantinedCode } from "../protocol/host-protocol.ts";
import type { QuarantinedEvent, RetryOutcome } from "../protocol/runtime.ts";
import type { Configs } from "./config-versions.ts";
import type { Deadlines } from "./deadlines.ts";
import { deadlineWrite, relayDeadlines } from "./deadlines.ts";
import type { Journal } from "./journal.ts";

export interface QuarantinePorts {
  readonly log: Log;
  readonly store: Pick<Store, "events" | "conversation" | "tail">;
  readonly journal: Pick<Journal, "append" | "keep">;
  readonly timers: Pick<Deadlines, "set">;
  readonly configs: Pick<Configs, "version">;
  readonly now: () => number;
}

/** An event to quarantine, and why. */
export interface Culprit {
  readonly conv: number;
  readonly seq: number;
  readonly error: string;
}

export interface Quarantine {
  /** What waits for the operator, the oldest first. */
  list(): readonly QuarantinedEvent[];
  /** Adds events to the list; returns what must be committed with their marks. */
  note(culprits: readonly Culprit[]): Promise<readonly StoreWrite[]>;
  /** Quarantines an event, if that is not done yet. Rejects once the journal has stopped. */
  add(culprit: Culprit): Promise<void>;
  retry(seq: number): Promise<RetryOutcome>;
  /** Removes an event from the list. False: it is not there. */
  drop(seq: number): Promise<boolean>;
}

const name = "quarantine";
/** Older entries than these are only in the journal. */
const listedMax = 100;
const errorUnitsMax = 500;

/** The list of the last start, without entries whose rows are gone from the journal. */
export async function readQuarantine(
  store: Pick<Store, "events" | "meta">,
): Promise<QuarantinedEvent[]> {
  const listed = JSON.parse((await store.meta(name)) ?? "[]") as QuarantinedEvent[];
  const rows = await store.events(listed.map(({ seq }) => seq));
  const marked = new Set(rows.flatMap(({ seq, code }) => (code === quarantinedCode ? [seq] : [])));
  return listed.filter(({ seq }) => marked.has(seq));
}

/** Creates the quarantine from the result of `readQuarantine`. */
export function createQuarantine(
  { log, store, journal, timers, configs, now }: QuarantinePorts,
  found: readonly QuarantinedEvent[],
): Quarantine {
  let listed = found;

  const written = (): StoreWrite => ({ kind: "meta", name, value: JSON.stringify(listed) });
  const without = (seq: number) => listed.filter((entry) => entry.seq !== seq);

  async function putOn(row: EventRow, { conv, seq, error }: Culprit): Promise<void> {
    const key = (await store.conversation(conv))?.key ?? "";
    const tries = triesOf(readable(row));
    const entry = { key, conv, seq, at: now(), error: error.slice(0, errorUnitsMax), tries };
    listed = [...without(seq), entry].slice(-listedMax);
  }

  /**
   * A row of several reports: each becomes a row of its own, so that only the failing one is
   * quarantined and the turn can end.
   */
  async function takenApart(row: EventRow): Promise<boolean> {
    const event = readable(row);
    if (event?.type !== "agent.reported" || !Array.isArray(event.events)) return false;
    const key = (await store.conversation(row.conv))?.key;
    if (key === undefined) return false;
    const rows = event.events.map((report, place) =>
      newEvent({ conv: row.conv, key }, configs.version(), report, {
        identity: `apart|${row.seq}|${place}`,
      }),
    );
    // Not awaited: the new rows wait until the hosts have settled, and the hosts wait for this.
    journal.append(rows).catch((error: unknown) => {
      log("debug", "event.unsaid", { error: String(error) });
    });
    return true;
  }

  async function note(culprits: readonly Culprit[]): Promise<readonly StoreWrite[]> {
    const writes: StoreWrite[] = [];
    for (const culprit of culprits) {
      const [row] = await store.events([culprit.seq]);
      // A marked event was listed before, and may have been handled since.
      if (row === undefined || row.code === quarantinedCode) continue;
      if (await takenApart(row)) {
        writes.push({ kind: "applied", seq: culprit.seq, code: quarantinedCode });
        continue;
      }
      await putOn(row, culprit);
      writes.push({ kind: "applied", seq: culprit.seq, code: quarantinedCode });
      writes.push(...passedBy(row).map(deadlineWrite));
    }
    return writes.length === 0 ? [] : [...writes, written()];
  }

  return {
    list: () => listed,
    note,
    async add(culprit) {
      await journal.keep(await note([culprit]));
      const [row] = await store.events([culprit.seq]);
      for (const deadline of row === undefined ? [] : passedBy(row)) timers.set(deadline);
    },
    async retry(seq) {
      const [row] = await store.events([seq]);
      const key = row === undefined ? undefined : (await store.conversation(row.conv))?.key;
      if (row?.code !== quarantinedCode || key === undefined) return "unknown";
      const event = readable(row);
      if (event === null) return "unreadable";
      const latest = latestForm(event, await store.tail(row.conv, seq));
      if (latest === null) return "deleted";
      const again: RetriedEvent = { ...latest, at: now(), again: triesOf(event) + 1 };
      const messageId = isMessage(again) ? again.message.id : null;
      const named = { identity: `again|${seq}`, messageId };
      listed = without(seq);
      const [added] = await journal.append(
        [newEvent({ conv: row.conv, key }, configs.version(), again, named)],
        [written()],
      );
      return added === 0 ? "unknown" : "retried";
    },
    async drop(seq) {
      const rest = without(seq);
      if (rest.length === listed.length) return false;
      listed = rest;
      await journal.keep([written()]);
      return true;
    },
  };
}

/** Null: the row holds no event. */
function readable(row: EventRow): JournalEvent | null {
  try {
    return decodeEvent(row);
  } catch {
    return null;
  }
}

/** The row may be in quarantine because its content is wrong. */
function isMessage(event: JournalEvent): event is MessageReceived {
  const { message } = event as Partial<MessageReceived>;
  return event.type === "message.received" && typeof message?.id === "string";
}

/**
 * An event as it would arrive today: no caller waits, and the text is the latest. Null: deleted.
 */
function latestForm(event: JournalEvent, since: readonly EventRow[]): JournalEvent | null {
  if (!isMessage(event)) return event;
  const { relay: _, ...rest } = event;
  let { message } = rest;
  for (const row of since) {
    const later = readable(row);
    if (later?.type === "message.deleted" && isOf(later.deletion, message)) return null;
    if (later?.type === "message.edited" && isOf(later.edit, message))
      message = { ...message, text: later.edit.text };
  }
  return { ...rest, message };
}

const isOf = (change: MessageDeleted["deletion"] | MessageEdited["edit"], message: Inbound) =>
  change.id === message.id && inOneChat(change, message);

function passedBy(row: EventRow) {
  const event = readable(row);
  if (event?.type !== "message.received" || event.relay === undefined) return [];
  const { token, place, keys } = event.relay;
  const pass: RelayPassed = { type: "relay.pass", token, place, to: keys.slice(place + 1) };
  return relayDeadlines(pass, event.at);
}
