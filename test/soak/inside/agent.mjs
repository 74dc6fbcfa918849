// The agent of the soak, in the worker host: answers of different lengths, a silence or a failure now and
// then. It also reports the host's memory to probe.mjs, which is on the main thread.
import { BroadcastChannel } from "node:worker_threads";

const channel = new BroadcastChannel("earshot-soak");
channel.onmessage = () => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  channel.postMessage({ heap: heapUsed, external });
};
channel.unref();

const words = "the build is green again and lunch is at one if nobody minds soup".split(" ");
let turns = 0;

export default async function* (turn, { signal }) {
  turns += 1;
  if (turns % 50 === 0) throw new Error("the fiftieth turn fails");
  if (turns % 31 === 0) return;
  for (let n = 0; n < turns % 7; n += 1) {
    // Turns overlap, and some of them run when the daemon is stopped.
    await new Promise((next) => setTimeout(next, 20));
    signal.throwIfAborted();
    yield { type: "text", text: `${words.slice(n).join(" ")}. ` };
  }
  yield { type: "text", text: `That is what I know about ${turn.said.slice(0, 100)}.` };
}
