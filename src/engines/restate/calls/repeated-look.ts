/** Looks at something again and again, until it is stopped. */
import type { Millis } from "../../../domain/message.ts";
import type { Clock } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";

export interface RepeatedLook {
  /** Begins; once more changes nothing. */
  start(): void;
  /** Aborts a look under way and waits for its end. */
  stop(): Promise<void>;
}

/** @param look handles every error itself  @param everyMs between two looks, ms */
export function repeatedLook(
  clock: Clock,
  everyMs: Millis,
  look: (signal: AbortSignal) => Promise<void>,
): RepeatedLook {
  const stopping = new AbortController();
  const { signal } = stopping;
  let looking: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await look(signal);
      await pauseFor(clock, everyMs, signal);
    }
  }

  return {
    start() {
      looking ??= run();
    },
    async stop() {
      stopping.abort();
      await looking;
    },
  };
}
