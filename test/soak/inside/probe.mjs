// A plugin of the daemon under load: measures the main thread, and asks the host about its own memory
// (agent.mjs), whenever the soak asks. Both after a garbage collection, so that what is left is kept.
import { BroadcastChannel } from "node:worker_threads";

const channel = new BroadcastChannel("earshot-soak");
let main = null;

const isTimer = (name) => name === "Timeout" || name === "Immediate";

process.on("message", () => {
  globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const timers = resources.filter(isTimer).length;
  main = { heap: heapUsed, external, rss, timers, handles: resources.length - timers };
  channel.postMessage("measure");
});
channel.onmessage = ({ data: host }) => {
  process.send({ main, host });
};
// Neither keeps a daemon alive that stops.
channel.unref();
process.channel.unref();

export default { name: "probe", hooks: {} };
