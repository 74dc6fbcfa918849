/**
 * The decision on a message, whichever node makes it
 * ==================================================
 * One that is made here is known at once; for others Restate is asked until it has it.
 */
import { LRUCache } from "lru-cache";
import type { RuntimeListener } from "../../actors/protocol/runtime-events.ts";
import { decodeVerdict, type Verdict } from "../../domain/decision.ts";
import { atMost } from "../../domain/limits.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Clock } from "../../domain/ports/index.ts";
import { pauseFor } from "../../domain/ports/pause.ts";
import { answerOf, type IngressCall } from "./calls/ingress-call.ts";
import { conversationService, verdictAnswerSchema } from "./wire.ts";

export interface Verdicts {
  readonly listener: RuntimeListener;
  /**
   * Resolves to the verdict; null: none was made in time.
   * @throws EarshotError EAR_STORE_FAILED: Restate cannot be reached.
   */
  of(key: string, messageId: string): Promise<Verdict | null>;
}

const knownMax = 10_000;

export function createVerdicts(clock: Clock, call: IngressCall): Verdicts {
  const known = new LRUCache<string, Verdict>(atMost(knownMax));
  /** Ends the pauses of those who wait for a verdict. */
  const waiting = new Map<string, Set<() => void>>();
  const nameOf = (key: string, messageId: string) => JSON.stringify([key, messageId]);

  async function pause(name: string, ms: number): Promise<void> {
    const stop = new AbortController();
    const wake = () => stop.abort();
    const others = waiting.get(name) ?? new Set();
    waiting.set(name, others.add(wake));
    await pauseFor(clock, ms, stop.signal);
    others.delete(wake);
    if (others.size === 0) waiting.delete(name);
  }

  return {
    listener: {
      decided(_conv, key, { message }, verdict) {
        const name = nameOf(key, message.id);
        known.set(name, verdict);
        for (const wake of waiting.get(name) ?? []) wake();
      },
    },
    async of(key, messageId) {
      const name = nameOf(key, messageId);
      const until = clock.monotonic() + engineLimits.decisionMsMax;
      for (let ms = engineLimits.decisionLookMs; ; ms *= 1.5) {
        const found = known.get(name);
        if (found !== undefined) return found;
        if (clock.monotonic() >= until) return null;
        await pause(name, ms);
        if (known.has(name)) continue;
        const path = `${conversationService}/${encodeURIComponent(key)}/verdict`;
        const code = answerOf(verdictAnswerSchema, await call(path, { id: messageId }), path);
        const verdict = code === null ? null : decodeVerdict(code);
        if (verdict !== null) return verdict;
      }
    },
  };
}
