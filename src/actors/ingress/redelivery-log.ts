/**
 * The log of redelivered messages: one line per account in a minute, with the number of copies since
 * the line before. A platform that delivers everything again cannot fill the disk.
 */
import { LRUCache } from "lru-cache";
import type { Inbound } from "../../domain/message.ts";
import type { Clock, Log } from "../../domain/ports/index.ts";

const windowMs = 60_000;
const accountsMax = 1_000;

/** Counts a copy of a message that was stored before, and logs it when its time has come. */
export function createRedeliveries(
  clock: Pick<Clock, "monotonic">,
  log: Log,
): (message: Pick<Inbound, "id" | "channel" | "account">) => void {
  const accounts = new LRUCache<string, { at: number; copies: number }>({ max: accountsMax });
  return ({ id, channel, account }) => {
    const name = JSON.stringify([channel, account]);
    const last = accounts.get(name);
    const at = clock.monotonic();
    if (last !== undefined && at - last.at < windowMs) {
      last.copies += 1;
      return;
    }
    accounts.set(name, { at, copies: 0 });
    log("info", "message.redelivered", {
      channel,
      account,
      message: id,
      copies: (last?.copies ?? 0) + 1,
    });
  };
}
