/**
 * The outbox's pace
 * =================
 * How long to wait before the next try of a row, and between two messages of one answer. Chance
 * comes from the port, so that a simulation waits the same every time.
 */
import type { Millis } from "../../domain/message.ts";
import type { Clock, OutboxRow, Random } from "../../domain/ports/index.ts";
import { type Delivery, isText } from "./row-body.ts";

export interface Backoff {
  /** When the next text may leave: a person would pause between two blocks of one answer. */
  between(last: Delivery, next: Delivery | undefined): Millis;
  /** ms; as long as the platform said, and without a word from it longer each time. */
  afterTry(row: OutboxRow, toldMs: number | null): number;
}

export const backoffMsMin = 1_000;
const backoffMsMax = 60_000;
/** A platform that names very short waits is taken at its word this often. */
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
    afterTry({ id, attempts }, toldMs) {
      if (toldMs !== null) return Math.max(toldMs, attempts > quickTriesMax ? backoffMsMin : 1);
      const whole = Math.min(backoffMsMin * 2 ** (attempts - 1), backoffMsMax);
      return Math.round(whole * (0.5 + random.next(id) / 2));
    },
  };
}
