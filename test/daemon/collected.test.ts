/** A daemon that has stopped is no longer in memory: `/restart` begins the next one in the same process. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { startDaemon } from "../../src/daemon/daemon.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { inTurn } from "../support/rounds.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function startAndStop(workers: number): Promise<WeakRef<object>> {
  const how = { port: 0, workers, env: {}, logLevel: "fatal" } as const;
  const daemon = await startDaemon({ stateDir: newFolder(), ...how });
  const answer = await fetch(`${daemon.base}/metrics`, {
    headers: { authorization: `Bearer ${daemon.token}` },
  });
  expect(await answer.text()).toContain("earshot_nodejs_gc_duration_seconds");
  await daemon.stop({ drainMs: 0 });
  return new WeakRef(daemon.runtime);
}

test.each(inTurn([0, 1], 1))(
  "nothing of a stopped daemon with %d worker threads is kept",
  async (workers) => {
    const stopped = [await startAndStop(workers), await startAndStop(workers)];
    await expect
      .poll(() => {
        collectGarbage();
        return stopped.filter((daemon) => daemon.deref() !== undefined).length;
      })
      .toBe(0);
  },
);
