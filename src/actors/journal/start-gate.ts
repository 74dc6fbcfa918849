/**
 * Holds new events back while a start looks for old ones: an event must not overtake what was
 * journalled before it. A held event is durable and acknowledged; it only waits.
 */
import type { HostEntry } from "../protocol/host-protocol.ts";
import type { Supervisor } from "../protocol/supervisor.ts";

export interface StartGate {
  /** Accepts new events, in journal order. */
  pass(entries: readonly HostEntry[]): void;
  /** Dispatches the old ones, then those that waited, then passes everything on. */
  open(old: readonly HostEntry[]): void;
  /** Events that it holds back. */
  waiting(): number;
}

/** A closed start gate in front of the supervisor, which is created later. */
export function createStartGate(supervisor: () => Pick<Supervisor, "dispatch">): StartGate {
  let held: HostEntry[] | null = [];
  return {
    pass(entries) {
      if (held === null) supervisor().dispatch(entries);
      else held.push(...entries);
    },
    open(old) {
      const waiting = [...old, ...(held ?? [])];
      held = null;
      if (waiting.length > 0) supervisor().dispatch(waiting);
    },
    waiting: () => held?.length ?? 0,
  };
}
