/**
 * Conversations are made active for a moment
 * ==========================================
 * A conversation says when it must be active again, by the config with which it was active last. A node that has
 * another config lets those look again that may be concerned. Where there is no such conversation, none is made.
 */
import { z } from "zod";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Clock, Log } from "../../domain/ports/index.ts";
import { pauseFor } from "../../domain/ports/pause.ts";
import { answerOf, type IngressCall } from "./calls/ingress-call.ts";
import { conversationService } from "./wire.ts";

export interface Waker {
  /** Makes these active, as far as there are any, one after the other, until Restate has heard of all. */
  wake(keys: readonly string[]): Promise<void>;
  stop(): void;
}

export interface WakerPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
}

export function createWaker({ clock, log, call }: WakerPorts): Waker {
  const stop = new AbortController();

  async function wakeOne(key: string): Promise<void> {
    const path = `${conversationService}/${encodeURIComponent(key)}`;
    const isKnown = answerOf(z.boolean(), await call(`${path}/known`), path);
    if (isKnown) await call(`${path}/run/send`);
  }

  return {
    async wake(keys) {
      let isReachable = true;
      for (const key of keys)
        for (let isDone = false; !isDone && !stop.signal.aborted; )
          try {
            await wakeOne(key);
            isDone = true;
          } catch (error) {
            if (isReachable) log("warn", "engine.unwoken", { key, error: String(error) });
            isReachable = false;
            await pauseFor(clock, engineLimits.wakeAgainMs, stop.signal);
          }
    },
    stop: () => stop.abort(),
  };
}
