/**
 * What never returns
 * ==================
 * A parser that loops for ever takes its thread with it, so another thread looks at it: it ends the
 * process, naming the input, once the process has used 20 s of processor time since a reading began.
 * Processor time, so that a busy machine ends nothing.
 */
import { Worker } from "node:worker_threads";

const watching = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { writeSync } = require("node:fs");
  const reading = new Int32Array(workerData);
  const used = () => { const { user, system } = process.cpuUsage(); return user + system; };
  let [last, since, what] = [0, used(), ""];
  parentPort.on("message", (text) => { what = text; });
  setInterval(() => {
    const now = Atomics.load(reading, 0);
    if (now !== last || now % 2 === 0) [last, since] = [now, used()];
    else if (used() - since > 20_000_000) {
      writeSync(2, "fuzz: a reading does not end: " + what + "\\n");
      process.kill(process.pid, "SIGKILL");
    }
  }, 500);
`;

/** Odd while something is read. */
const reading = new Int32Array(new SharedArrayBuffer(4));
let worker: Worker | null = null;

/** Calls `read` under the watchdog; `what` says what is read, should it never end. */
export async function watched<Read>(what: string, read: () => Read | Promise<Read>): Promise<Read> {
  if (worker === null) {
    worker = new Worker(watching, { eval: true, workerData: reading.buffer });
    worker.unref();
  }
  worker.postMessage(what);
  Atomics.add(reading, 0, 1);
  try {
    return await read();
  } finally {
    Atomics.add(reading, 0, 1);
  }
}
