/**
 * Sends that a platform recognises when they come again
 * =====================================================
 * With a key of the sender's (a nonce, a transaction id), a platform takes a message once, and remembers the
 * key for some time. So a send without an answer may be repeated; only when it stays unanswered for longer
 * than the platform remembers might a repeat be a second message.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Clock } from "../../../domain/ports/index.ts";
import { UnsentError } from "./unsent.ts";

export interface RepeatOptions {
  readonly clock: Clock;
  /** The platform, for the error. */
  readonly platform: string;
  /** How long a key is trusted, ms. */
  readonly msMax: number;
}

/**
 * A function that sends under a key.
 * @throws EarshotError EAR_SEND_IN_DOUBT when a repeat might be a second message
 */
export function createRepeats({ clock, platform, msMax }: RepeatOptions) {
  /** Key to the time of the first try that may have arrived. */
  const unanswered = new LRUCache<string, number>(atMost(limits.unfinishedSendsMax));
  return async <Answer>(key: string, send: () => Promise<Answer>): Promise<Answer> => {
    const began = clock.monotonic();
    const first = unanswered.get(key);
    if (first !== undefined && began - first > msMax)
      throw new EarshotError(
        "EAR_SEND_IN_DOUBT",
        `Cannot send a message at ${platform}: no answer came for so long that a repeat may be a second ` +
          "message",
      );
    try {
      const answer = await send();
      unanswered.delete(key);
      return answer;
    } catch (error) {
      const isUnknown =
        error instanceof EarshotError &&
        error.code === "EAR_CHANNEL_UNAVAILABLE" &&
        !(error instanceof UnsentError);
      if (isUnknown && first === undefined) unanswered.set(key, began);
      throw error;
    }
  };
}
