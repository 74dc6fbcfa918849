/**
 * Whole conversations for the copy of this node
 * =============================================
 * Asks Restate for the rows of conversations of which news are missing, some at a time.
 */
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { Clock, KeptRow, Log } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { answerOf, type IngressCall } from "../calls/ingress-call.ts";
import { wholeSchema } from "./wire.ts";

export interface FetchPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
  /** Object whose handler `whole` answers the rows. */
  readonly object: string;
  /** It was asked for, and is not active here. */
  readonly onWhole: (key: string, rows: readonly KeptRow[], revision: number) => void;
  readonly isActive: (key: string) => boolean;
}

export interface Fetches {
  /** Asks for a conversation until it has at least this revision. */
  fetch(key: string, revision: number): void;
  /** Whether a conversation is being asked for: what comes of it meanwhile is in the answer, if it is `fetch`ed. */
  isAsked(key: string): boolean;
  /** Conversations that are asked for, and since when there are any. */
  waiting(): { readonly count: number; readonly since: Millis | null };
  /** Resolves when none is asked for. */
  settled(): Promise<void>;
  stop(): void;
}

/** Between two questions for a conversation whose answer was older than the news of it. */
const againMs = 100;
const triesMax = 100;

export function createFetches(ports: FetchPorts): Fetches {
  const { clock, log, call, object, onWhole, isActive } = ports;
  /** Revisions that are wanted. */
  const wanted = new Map<string, number>();
  const queue: string[] = [];
  const stopping = new AbortController();
  let running = 0;
  let since: Millis | null = null;
  const waiting: (() => void)[] = [];

  async function ask(key: string): Promise<void> {
    for (let tries = 0; tries < triesMax && !stopping.signal.aborted; tries += 1) {
      try {
        const path = `${object}/${encodeURIComponent(key)}/whole`;
        const { revision, rows } = answerOf(wholeSchema, await call(path), path);
        if (isActive(key) || stopping.signal.aborted) return;
        if (revision >= (wanted.get(key) ?? 0)) return onWhole(key, rows, revision);
      } catch (error) {
        log("warn", "mirror.unfetched", { key, error: String(error) });
      }
      await pauseFor(clock, againMs * Math.min(10, tries + 1), stopping.signal);
    }
  }

  async function work(): Promise<void> {
    running += 1;
    for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
      await ask(key);
      wanted.delete(key);
      if (wanted.size === 0) since = null;
    }
    running -= 1;
    if (running > 0) return;
    for (const done of waiting.splice(0)) done();
  }

  return {
    fetch(key, revision) {
      const before = wanted.get(key);
      wanted.set(key, Math.max(before ?? 0, revision));
      since ??= clock.now();
      if (before !== undefined) return;
      queue.push(key);
      if (running < engineLimits.fetchesAtOnce) void work();
    },
    isAsked: (key) => wanted.has(key),
    waiting: () => ({ count: wanted.size, since }),
    settled: async () => {
      while (running > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    stop() {
      stopping.abort();
      queue.length = 0;
    },
  };
}
