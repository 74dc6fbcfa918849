/**
 * The quarantine
 * ==============
 * An event that no host survives, or that its conversation cannot be told, is marked and never
 * dispatched again. Nothing may wait for what it would have led to: where others answer after this
 * agent they are told, in the same commit, that it is through with the message.
 *
 * A row of several reports of one turn is not set aside whole: its reports are journalled again, one
 * a row.
 *
 * A list of what was set aside is kept for the operator, in the same commit as the mark. Trying one
 * again journals the event once more, as heard now: what came after it has long been applied and is
 * not undone. The old row stays where it is and is left out of every fold; the new one names it, so
 * however often it is asked for, each row is tried again once.
 */
import type { EventRow, Log, Store, StoreWrite } from "../../domain/ports/index.ts";
import type { RelayPassed } from "../../machines/events/effects.ts";
import type { JournalEvent, MessageReceived } from "../../machines/events/events.ts";
import { decodeEvent, newEvent, type TriedAgain, triesOf } from "../protocol/event-codec.ts";
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

/** An event that is to be set aside, and why. */
export interface Culprit {
  readonly conv: number;
  readonly seq: number;
  readonly error: string;
}

export interface Quarantine {
  /** What waits for the operator, the oldest first. */
  list(): readonly QuarantinedEvent[];
  /** Puts events on the list; what has to be committed with their marks. */
  note(culprits: readonly Culprit[]): Promise<readonly StoreWrite[]>;
  /** Sets an event aside for good, if that was not done yet. Rejects once the journal has stopped. */
  add(culprit: Culprit): Promise<void>;
  retry(seq: number): Promise<RetryOutcome>;
  /** Takes it off the list. False: it is not there. */
  drop(seq: number): Promise<boolean>;
}

const name = "quarantine";
/** The oldest beyond these are only found in the journal. */
const listedMax = 100;
const errorUnitsMax = 500;

/** The list as the last start left it, without what the journal does not have any more. */
export async function readQuarantine(
  store: Pick<Store, "events" | "meta">,
): Promise<QuarantinedEvent[]> {
  const listed = JSON.parse((await store.meta(name)) ?? "[]") as QuarantinedEvent[];
  const rows = await store.events(listed.map(({ seq }) => seq));
  const marked = new Set(rows.flatMap(({ seq, code }) => (code === quarantinedCode ? [seq] : [])));
  return listed.filter(({ seq }) => marked.has(seq));
}

/** Makes the quarantine from what `readQuarantine` has found. */
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
   * A row of several reports: each becomes a row of its own, so that only the one that fails is set
   * aside and the turn still ends.
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
    // Not awaited: what is journalled waits until the hosts have settled, and they wait for this.
    journal.append(rows).catch((error: unknown) => {
      log("debug", "event.unsaid", { error: String(error) });
    });
    return true;
  }

  async function note(culprits: readonly Culprit[]): Promise<readonly StoreWrite[]> {
    const writes: StoreWrite[] = [];
    for (const culprit of culprits) {
      const [row] = await store.events([culprit.seq]);
      // A marked one was noted before, and may have been dealt with since.
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
      const latest = amended(event, await store.tail(row.conv, seq));
      if (latest === null) return "deleted";
      const again: TriedAgain = { ...latest, at: now(), again: triesOf(event) + 1 };
      const messageId = isMessage(again) ? again.message.id : null;
      const named = { identity: `again|${seq}`, messageId };
      listed = without(seq);
      const [given] = await journal.append(
        [newEvent({ conv: row.conv, key }, configs.version(), again, named)],
        [written()],
      );
      return given === 0 ? "unknown" : "retried";
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

/** It may be here because it is not what it says it is. */
function isMessage(event: JournalEvent): event is MessageReceived {
  const { message } = event as Partial<MessageReceived>;
  return event.type === "message.received" && typeof message?.id === "string";
}

/** An event as it is said today: nobody waits for it, and its words are the latest. Null: deleted. */
function amended(event: JournalEvent, since: readonly EventRow[]): JournalEvent | null {
  if (!isMessage(event)) return event;
  const { relay: _, ...rest } = event;
  let { message } = rest;
  for (const row of since) {
    const later = readable(row);
    if (later?.type === "message.deleted" && later.deletion.id === message.id) return null;
    if (later?.type === "message.edited" && later.edit.id === message.id)
      message = { ...message, text: later.edit.text };
  }
  return { ...rest, message };
}

function passedBy(row: EventRow) {
  const event = readable(row);
  if (event?.type !== "message.received" || event.relay === undefined) return [];
  const { token, place, keys } = event.relay;
  const pass: RelayPassed = { type: "relay.pass", token, place, to: keys.slice(place + 1) };
  return relayDeadlines(pass, event.at);
}
