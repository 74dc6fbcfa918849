/**
 * The log of denied messages
 * ==========================
 * One line per author and reason in an hour, with the number of earlier denials, so that a flood
 * cannot fill the disk. The journal holds the decision on each message.
 */
import { LRUCache } from "lru-cache";
import type { Verdict } from "../../domain/decision.ts";
import { atMost } from "../../domain/limits.ts";
import type { Inbound } from "../../domain/message.ts";
import type { Clock, Log } from "../../domain/ports/index.ts";

const windowMs = 3_600_000;
const sendersMax = 1_000;

export function createDenials(
  clock: Pick<Clock, "monotonic">,
  log: Log,
): (message: Inbound, verdict: Verdict, reason: string) => void {
  const logged = new LRUCache<string, { at: number; since: number }>(atMost(sendersMax));
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
