/**
 * Labels by hand
 * ==============
 * What people say about decisions: that a message should have been answered, or not. A label is a
 * journal row beside its message, stored as applied: no conversation steps on it, so it changes no
 * state and no decision. The last one about a message counts.
 */
import { decodeVerdict, type Expected } from "../../domain/decision.ts";
import type { Clock, EventRow, Ids, Store } from "../../domain/ports/index.ts";
import type { MessageLabelled } from "../../machines/events/events.ts";
import { conversationOf, decodeEvent, newEvent } from "../protocol/event-codec.ts";
import { quarantinedCode } from "../protocol/host-protocol.ts";
import type { LabelOrder } from "../protocol/runtime.ts";
import type { RuntimeEvents } from "../protocol/runtime-events.ts";
import type { Label } from "../protocol/why.ts";
import type { Configs } from "./config-versions.ts";
import type { Journal } from "./journal.ts";

export interface LabelPorts {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  readonly store: Pick<Store, "eventsByMessage">;
  readonly journal: Pick<Journal, "offer">;
  readonly configs: Pick<Configs, "version">;
  readonly events: Pick<RuntimeEvents, "emit">;
}

/** Stored as applied, without a verdict. */
const appliedCode = 0;

/**
 * Stores a label, unless the same is said already. Returns what is said now; "unknown": the
 * conversation has not decided such a message.
 */
export async function setLabel(
  { clock, ids, store, journal, configs, events: { emit } }: LabelPorts,
  { key, id, seq, expected, by }: LabelOrder,
): Promise<Label | null | "unknown"> {
  const conversation = conversationOf(key);
  const { conv } = conversation;
  const rows = await store.eventsByMessage(id, seq === undefined ? 0 : seq - 1);
  const own = rows.filter((row) => row.conv === conv);
  const decided = own.findLast(({ code }) => decisionIn(code) !== null);
  // A judge may have decided later, in a row of its own.
  const heard = own.findLast((row) => decisionIn(row.code) !== null && isMessage(row));
  if (decided === undefined || heard === undefined) return "unknown";
  if (seq !== undefined && heard.seq !== seq) return "unknown";
  const before = labelIn(own, id);
  if ((before?.expected ?? null) === expected) return before;
  const at = clock.now();
  const event: MessageLabelled = { type: "message.labelled", at, id, expected, by };
  const named = { identity: `label|${ids.next()}`, messageId: id, code: appliedCode };
  await journal.offer([newEvent(conversation, configs.version(), event, named)]);
  const isRight = expected === null ? null : expected === decisionIn(decided.code);
  emit.labelled?.(conv, isRight);
  return expected === null ? null : { expected, by, at };
}

const isMessage = (row: EventRow): boolean => decodeEvent(row).type === "message.received";

/** What the ladder decided, by the code of a row; null: it did not, or not yet. */
export function decisionIn(code: number | null): Expected | null {
  if (code === null || code === appliedCode || code === quarantinedCode) return null;
  const decision = decodeVerdict(code)?.decision;
  return decision === "engage" || decision === "observe" ? decision : null;
}

/** The label of a message after these rows; null: it has none. */
export function labelIn(rows: readonly EventRow[], id: string): Label | null {
  // Newest first: others are not decoded where they cannot be labels.
  for (const row of [...rows].reverse()) {
    const event = row.code === appliedCode ? decodeEvent(row) : null;
    if (event?.type !== "message.labelled" || event.id !== id) continue;
    const { expected, by, at } = event;
    return expected === null ? null : { expected, by, at };
  }
  return null;
}
