/**
 * Messages that left the memory of a room with the lines that pushed them out. In a room that talks and
 * is not answered every line does so: it is reported to readers of the event stream, and nothing is stored.
 */
import type { Millis } from "../../domain/message.ts";
import type { Effect } from "../../machines/events/effects.ts";
import type { Forgotten } from "../protocol/host-protocol.ts";
import type { RuntimeEvents } from "../protocol/runtime-events.ts";

type Dropped = Extract<Effect, { type: "dropped" }>;

/** By the event that pushed them out; null: there are none. */
export function byEvent(
  forgotten: readonly Forgotten[],
): ReadonlyMap<number, readonly Forgotten[]> | null {
  if (forgotten.length === 0) return null;
  const found = new Map<number, Forgotten[]>();
  for (const one of forgotten) {
    const others = found.get(one[0]);
    if (others === undefined) found.set(one[0], [one]);
    else others.push(one);
  }
  return found;
}

/** Reports that a message will not be shown to a turn. */
export function reportDropped(
  emit: RuntimeEvents["emit"],
  t: Millis,
  key: string,
  { message, why }: Pick<Dropped, "message" | "why">,
): void {
  emit.dropped?.(message.seq);
  emit.line?.({ t, key, event: "dropped", message: message.id, why });
}

/** The same for all that one event pushed out. */
export function reportForgotten(
  emit: RuntimeEvents["emit"],
  t: Millis,
  key: string,
  forgotten: readonly Forgotten[],
): void {
  for (const [, seq, id] of forgotten)
    reportDropped(emit, t, key, { message: { seq, id }, why: "context-size" });
}
