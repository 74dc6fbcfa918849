/**
 * Labels by hand
 * ==============
 * What people say about decisions: that a message should have been answered, or not. A label is a
 * journal row beside its message, stored as applied: no conversation steps on it, so it changes no
 * state and no decision. The last one about a message counts.
 */
import { decodeVerdict, type Expected } from "../../domain/decision.ts";
import { holdsSeveralChats } from "../../domain/key.ts";
import type { Clock, EventRow, Ids, Store } from "../../domain/ports/index.ts";
import { isSame, type Placed, placed, placedIn } from "../../machines/batching/chats.ts";
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
  const severalChats = holdsSeveralChats(key);
  const decisions = own.flatMap((row) => {
    const message = decisionIn(row.code) === null ? null : messageIn(row, severalChats);
    return message === null ? [] : [{ ...row, ...message }];
  });
  const asked = decisions.findLast((one) => one.heard && (seq ?? one.seq) === one.seq);
  if (asked === undefined) return "unknown";
  // A judge may have decided later, in a row of its own; the id may be that of a later message.
  const about = decisions.filter(({ named }) => isSame(named, asked.named));
  if (about.findLast(({ heard }) => heard) !== asked) return "unknown";
  const decided = about.at(-1) ?? asked;
  const before = labelIn(own, asked.named);
  if ((before?.expected ?? null) === expected) return before;
  const at = clock.now();
  const event: MessageLabelled = { type: "message.labelled", at, ...asked.named, expected, by };
  const named = { identity: `label|${ids.next()}`, messageId: id, code: appliedCode };
  await journal.offer([newEvent(conversation, configs.version(), event, named)]);
  const isRight = expected === null ? null : expected === decisionIn(decided.code);
  emit.labelled?.(conv, isRight);
  return expected === null ? null : { expected, by, at };
}

/** The message that a decision is about, and whether it is in the row of the message itself; null: it is none. */
export function messageIn(row: EventRow, severalChats: boolean) {
  const event = decodeEvent(row);
  if (event.type === "message.received")
    return { named: placedIn({ severalChats }, event.message), heard: true };
  if (event.type !== "judge.answered") return null;
  return { named: placed({ id: event.id }, event.chat), heard: false };
}

/** What the ladder decided, by the code of a row; null: it did not, or not yet. */
export function decisionIn(code: number | null): Expected | null {
  if (code === null || code === appliedCode || code === quarantinedCode) return null;
  const decision = decodeVerdict(code)?.decision;
  return decision === "engage" || decision === "observe" ? decision : null;
}

/** The label of a message after these rows; null: it has none. */
export function labelIn(rows: readonly EventRow[], message: Placed): Label | null {
  // Newest first: others are not decoded where they cannot be labels.
  for (const row of [...rows].reverse()) {
    const event = row.code === appliedCode ? decodeEvent(row) : null;
    if (event?.type !== "message.labelled" || !isSame(event, message)) continue;
    const { expected, by, at } = event;
    return expected === null ? null : { expected, by, at };
  }
  return null;
}
