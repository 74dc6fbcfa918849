/**
 * The log of redelivered messages: the first copy at once, and what comes within the minute after it
 * as one line at its end, for each account. A platform that delivers everything again cannot fill
 * the disk.
 */
import { LRUCache } from "lru-cache";
import { atMost } from "../../domain/limits.ts";
import type { Inbound } from "../../domain/message.ts";
import type { Clock, Log, TimerHandle } from "../../domain/ports/index.ts";

const windowMs = 60_000;
const accountsMax = 1_000;

type Copy = Pick<Inbound, "id" | "channel" | "account">;
/** The minute after a line. */
interface Minute {
  /** Since the line. */
  copies: number;
  last: Copy;
  timer: TimerHandle;
}

export interface Redeliveries {
  /** Counts a copy of a message that was stored before, and logs it when its time has come. */
  count(copy: Copy): void;
  /** Copies since the start. */
  total(): number;
  /** Logs what has not been logged. */
  stop(): void;
}

export function createRedeliveries(
  clock: Pick<Clock, "now" | "setTimer" | "clearTimer">,
  log: Log,
): Redeliveries {
  const minutes = new LRUCache<string, Minute>({
    ...atMost(accountsMax),
    // Also of an account that is forgotten because there are too many.
    dispose: (minute) => {
      clock.clearTimer(minute.timer);
      say(minute);
    },
    noDisposeOnSet: true,
  });
  let total = 0;

  function say({ copies, last: { id, channel, account } }: Pick<Minute, "copies" | "last">): void {
    if (copies > 0) log("info", "message.redelivered", { channel, account, message: id, copies });
  }

  function begin(name: string, last: Copy): void {
    const timer = clock.setTimer(clock.now() + windowMs, () => end(name));
    minutes.set(name, { copies: 0, last, timer });
  }

  function end(name: string): void {
    const minute = minutes.get(name);
    if (minute === undefined) return;
    if (minute.copies === 0) {
      minutes.delete(name);
      return;
    }
    say(minute);
    begin(name, minute.last);
  }

  return {
    count(copy) {
      total += 1;
      const name = JSON.stringify([copy.channel, copy.account]);
      const minute = minutes.get(name);
      if (minute === undefined) {
        say({ copies: 1, last: copy });
        begin(name, copy);
        return;
      }
      minute.copies += 1;
      minute.last = copy;
    },
    total: () => total,
    stop: () => minutes.clear(),
  };
}
