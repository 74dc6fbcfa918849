/**
 * How long to wait before a row is tried again, and between two messages of one answer. Randomness
 * comes from the port, so a simulation waits the same every time.
 */
import type { Millis } from "../../domain/message.ts";
import type { Clock, OutboxRow, Random } from "../../domain/ports/index.ts";
import { type Delivery, isText } from "./row-body.ts";

export interface Backoff {
  /** When the next text may be sent: pauses like a person between two blocks of one answer. */
  between(last: Delivery, next: Delivery | undefined): Millis;
  /** In ms: as long as the platform asks; if it names no time, longer after every attempt. */
  afterTry(row: OutboxRow, askedMs: number | null): number;
}

export const backoffMsMin = 1_000;
const backoffMsMax = 60_000;
/** So often a very short wait that the platform names is followed exactly. */
const quickTriesMax = 8;

export function createBackoff(clock: Clock, random: Random): Backoff {
  return {
    between(last, next) {
      if (next === undefined || !isText(last) || !isText(next)) return 0;
      const { pauseMs } = next.body;
      const isSameAnswer = last.row.turnId === next.row.turnId && last.body.aside === undefined;
      if (pauseMs === undefined || !isSameAnswer) return 0;
      const [min, max] = pauseMs;
      return clock.now() + min + Math.floor(random.next(next.row.id) * (max - min));
    },
    afterTry({ id, attempts }, askedMs) {
      if (askedMs !== null) return Math.max(askedMs, attempts > quickTriesMax ? backoffMsMin : 1);
      const whole = Math.min(backoffMsMin * 2 ** (attempts - 1), backoffMsMax);
      return Math.round(whole * (0.5 + random.next(id) / 2));
    },
  };
}
