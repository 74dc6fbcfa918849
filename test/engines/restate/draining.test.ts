/**
 * A node that stops lets its conversations finish. One that Restate gives to another node meanwhile does not keep the
 * node from ending: while it is there, the calls that it refuses come to it again and again.
 */
import { expect, test } from "vitest";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import type { Clock } from "../../../src/domain/ports/index.ts";
import { type ActiveRuntime, activate } from "../../../src/engines/restate/activation.ts";
import { untold } from "../../../src/engines/restate/feed/node-mirror.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

/** A turn that never ends: it is waited for until the time is over, by the clock that it was given. */
function busyRuntime(clock: Clock, stopped: number[]): ActiveRuntime {
  let stopping: Promise<void> | null = null;
  const stop = ({ drainMs = 0 } = {}) => {
    stopping ??= new Promise<void>((done) => {
      const over = () => {
        stopped.push(drainMs);
        done();
      };
      if (drainMs === 0) over();
      else clock.setTimer(clock.now() + drainMs, over);
    });
    return stopping;
  };
  return { start: async () => undefined, stop } as Partial<ActiveRuntime> as ActiveRuntime;
}

test("one that is cut off while it finishes has ended when its time is over", async () => {
  const stopped: number[] = [];
  let last = 1_000_000;
  const activation = activate(groupKey("drains"), [], false, {
    clock: createSystemClock(),
    log: () => undefined,
    retentionMs: () => 86_400_000,
    open: openKeptStore,
    rows: untold,
    numbers: {
      above: async () => undefined,
      next() {
        last += 1;
        return last;
      },
    },
    create: (_key, own) => busyRuntime(own.clock, stopped),
  });
  const drained = activation.drain(50);
  await new Promise(setImmediate);
  await Promise.all([activation.end(), drained]);
  expect(stopped).toEqual([50]);
});
