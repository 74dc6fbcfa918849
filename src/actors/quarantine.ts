/**
 * Setting an event aside
 * ======================
 * An event that no host survives, or that its conversation cannot be told, is marked and never
 * dispatched again. Nothing may wait for what it would have led to: where others answer after this
 * agent they are told, in the same commit, that it is through with the message.
 */
import type { EventRow, Store } from "../domain/ports.ts";
import type { RelayPassed } from "../machines/effects.ts";
import { deadlineWrite, passedOn } from "./effects.plan.ts";
import { decodeEvent } from "./journal.codec.ts";
import type { Journal } from "./journal.ts";
import { quarantinedCode } from "./protocol.ts";
import type { Timers } from "./timers.ts";

export interface QuarantinePorts {
  readonly store: Pick<Store, "events">;
  readonly journal: Pick<Journal, "keep">;
  readonly timers: Pick<Timers, "set">;
}

/** Marks the event of that number. Rejects once the journal has stopped. */
export async function setAside(
  { store, journal, timers }: QuarantinePorts,
  seq: number,
): Promise<void> {
  const [row] = await store.events([seq]);
  const passed = row === undefined ? [] : passedBy(row);
  await journal.keep([
    { kind: "applied", seq, code: quarantinedCode },
    ...passed.map(deadlineWrite),
  ]);
  for (const deadline of passed) timers.set(deadline);
}

function passedBy(row: EventRow) {
  const event = decodeEvent(row);
  if (event.type !== "message.received" || event.relay === undefined) return [];
  const { token, place, keys } = event.relay;
  const pass: RelayPassed = { type: "relay.pass", token, place, to: keys.slice(place + 1) };
  return passedOn(pass, event.at);
}
