/**
 * A host whose thread always has work
 * ===================================
 * The real host beside a timer: a few milliseconds of work, then messages, then the next few. Behind
 * other programs its thread waits long for each turn of the event loop, as it uses all it gets.
 */
export { host } from "../../../src/actors/host/worker.ts";

const workMs = 5;
setInterval(() => {
  const end = performance.now() + workMs;
  while (performance.now() < end);
}, 1);
