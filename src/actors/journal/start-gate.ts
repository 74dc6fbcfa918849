/**
 * The gate
 * ========
 * Holds new events back while a start still looks for old ones: an event must not overtake what was
 * journalled before it. What comes in meanwhile is durable and acknowledged already; it only waits.
 */
import type { HostEntry } from "../protocol/host-protocol.ts";

export interface StartGate {
  /** Events in journal order, new ones. */
  readonly pass: (entries: readonly HostEntry[]) => void;
  /** Lets the old ones through, then those that waited, then everything. */
  open(old: readonly HostEntry[]): void;
}

export function createStartGate(dispatch: (entries: readonly HostEntry[]) => void): StartGate {
  let held: HostEntry[] | null = [];
  return {
    pass(entries) {
      if (held === null) dispatch(entries);
      else held.push(...entries);
    },
    open(old) {
      const waiting = [...old, ...(held ?? [])];
      held = null;
      if (waiting.length > 0) dispatch(waiting);
    },
  };
}
