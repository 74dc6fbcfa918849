/**
 * How long to wait before a row is tried again, and between two messages of one answer. Randomness
 * comes from the port, so a simulation waits the same every time.
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock, OutboxRow, Random } from "../../domain/ports/index.ts";
import { type Delivery, isText } from "./row-body.ts";

export interface Backoff {
  /** A text of an answer has ended. */
  ended(delivery: Delivery): void;
  /** When the first of a queue may be sent: pauses like a person between two blocks of one answer. */
  notBefore(next: Delivery | undefined): Millis;
  /** In ms: as long as the platform asks; if it names no time, longer after every attempt. */
  afterTry(row: OutboxRow, askedMs: number | null): number;
}

export const backoffMsMin = 1_000;
const backoffMsMax = 60_000;
/** So often a very short wait that the platform names is followed exactly. */
const quickTriesMax = 8;

export function createBackoff(clock: Clock, random: Random): Backoff {
  /** The last text of each conversation whose answers have pauses. */
  const last = new LRUCache<number, { readonly turnId: string; readonly at: Millis }>(
    atMost(limits.pacedConversationsMax),
  );
  return {
    ended({ row, body }) {
      if (!("pauseMs" in body)) return;
      last.set(row.conv, { turnId: row.turnId, at: clock.now() });
    },
    notBefore(next) {
      if (next === undefined || !isText(next)) return 0;
      const { pauseMs } = next.body;
      const before = last.get(next.row.conv);
      if (pauseMs === undefined || before?.turnId !== next.row.turnId) return 0;
      const [min, max] = pauseMs;
      return before.at + min + Math.floor(random.next(next.row.id) * (max - min));
    },
    afterTry({ id, attempts }, askedMs) {
      if (askedMs !== null) return Math.max(askedMs, attempts > quickTriesMax ? backoffMsMin : 1);
      const whole = Math.min(backoffMsMin * 2 ** (attempts - 1), backoffMsMax);
      return Math.round(whole * (0.5 + random.next(id) / 2));
    },
  };
}
