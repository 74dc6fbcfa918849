/**
 * Replay and rate guard of a hook
 * ===============================
 * A repeated, verified request gets the answer of the first one, or waits for it, and is not
 * processed twice; after a failure it may be repeated. And a hook accepts a limited number of requests
 * a second, so that one busy platform does not fill the intake for all others. Only verified requests are remembered: a stranger can use up neither an id
 * nor the rate.
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { HookAnswer } from "../../domain/ports/index.ts";

export interface HookGuard {
  /** ms until another request may come; 0: this one may, and is counted. */
  waitMs(now: Millis): number;
  /** The answer of `work`, which runs once for each id while the id is remembered. */
  once(replayId: string | null, work: () => Promise<HookAnswer>): Promise<HookAnswer>;
}

/** A burst may use the rate of so many seconds. */
const burstSeconds = 5;

export function createHookGuard(): HookGuard {
  const answers = new LRUCache<string, Promise<HookAnswer>>(atMost(limits.hookReplaysMax));
  const full = limits.hookPerSecondMax * burstSeconds;
  let left = full;
  let at: Millis | null = null;
  return {
    waitMs(now) {
      const passed = Math.max(0, now - (at ?? now));
      left = Math.min(full, left + (passed / 1_000) * limits.hookPerSecondMax);
      at = now;
      if (left < 1) return Math.ceil(((1 - left) / limits.hookPerSecondMax) * 1_000);
      left -= 1;
      return 0;
    },
    once(replayId, work) {
      if (replayId === null) return work();
      const known = answers.get(replayId);
      if (known !== undefined) return known;
      const answer = work();
      answers.set(replayId, answer);
      answer.catch(() => {
        if (answers.peek(replayId) === answer) answers.delete(replayId);
      });
      return answer;
    },
  };
}
