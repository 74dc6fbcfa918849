/**
 * A few bytes shared between a host and the main thread: a counter that moves with every step, and
 * the current conversation and event. They can be read while the host is stuck in a loop and after
 * it died, so the supervisor knows that it hangs and on which event.
 */

export interface SharedHeartbeat {
  readonly buffer: SharedArrayBuffer;
  /** Moves the counter. */
  beat(): void;
  /** Moves the counter and names the event about to be stepped; zeros: none. */
  mark(conv: number, seq: number): void;
  /** The counter; wraps around. */
  beats(): number;
  /** Announces that the thread may be silent for a while: it is loading modules. */
  pauseWatchdog(on: boolean): void;
  isPaused(): boolean;
  /** The system's number of the host's thread; 0: unknown. */
  thread(): number;
  /** Set once, by the host. */
  ofThread(id: number): void;
  /** The event being stepped; null between steps. */
  currentEvent(): { readonly conv: number; readonly seq: number } | null;
}

const bytes = 32;

/** A new heartbeat or, in the host, one on the buffer that it received. */
export function createSharedHeartbeat(buffer = new SharedArrayBuffer(bytes)): SharedHeartbeat {
  const counter = new Int32Array(buffer, 0, 1);
  const loading = new Int32Array(buffer, 4, 1);
  // Journal numbers pass 2^31, so they are doubles (exact up to 2^53).
  const at = new Float64Array(buffer, 8, 2);
  const thread = new Int32Array(buffer, 24, 1);
  const beat = () => void Atomics.add(counter, 0, 1);
  return {
    buffer,
    beat,
    mark(conv, seq) {
      at[0] = conv;
      at[1] = seq;
      beat();
    },
    pauseWatchdog: (on) => void Atomics.store(loading, 0, on ? 1 : 0),
    isPaused: () => Atomics.load(loading, 0) === 1,
    beats: () => Atomics.load(counter, 0),
    thread: () => Atomics.load(thread, 0),
    ofThread: (id) => void Atomics.store(thread, 0, id),
    currentEvent() {
      const conv = at[0] ?? 0;
      const seq = at[1] ?? 0;
      return seq === 0 ? null : { conv, seq };
    },
  };
}
