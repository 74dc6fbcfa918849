/**
 * Who was turned away, for the log
 * ================================
 * One line for each sender and reason in an hour, with how often it was before: somebody who writes
 * a thousand times fills nobody's disk. What each message was decided stands in the journal.
 */
import { LRUCache } from "lru-cache";
import type { Verdict } from "../../domain/decision.ts";
import type { Inbound } from "../../domain/message.ts";
import type { Clock, Log } from "../../domain/ports/index.ts";

const windowMs = 3_600_000;
const sendersMax = 1_000;

export function createDenials(
  clock: Pick<Clock, "monotonic">,
  log: Log,
): (message: Inbound, verdict: Verdict, reason: string) => void {
  const logged = new LRUCache<string, { at: number; since: number }>({ max: sendersMax });
  return ({ channel, account, author, chat }, { rule }, reason) => {
    const name = JSON.stringify([channel, account, author.id, chat.id, rule, reason]);
    const last = logged.get(name);
    const at = clock.monotonic();
    if (last !== undefined && at - last.at < windowMs) {
      last.since += 1;
      return;
    }
    logged.set(name, { at, since: 0 });
    const before = last === undefined || last.since === 0 ? {} : { alsoDenied: last.since };
    log("info", "message.denied", { rule, reason, channel, account, author: author.id, ...before });
  };
}
