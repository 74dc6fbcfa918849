/**
 * From a host's crash to an answer from the conversations it held: the host is ended as a crash
 * would end it, a message for one of its rooms is taken at once, and its decision is awaited.
 */
import { flood, openBenchRuntime } from "../bench-runtime.ts";
import { messages, quantile, quietMix, report, round, short } from "../support.ts";

const bench = await openBenchRuntime(2);
const next = messages(1_000, quietMix);
await flood(bench, next, short ? 2_000 : 20_000);
const samples: number[] = [];
for (let n = 0; n < (short ? 3 : 9); n += 1) {
  const from = performance.now();
  await bench.runtime.crashHost();
  const message = next(9_000_000 + n, Date.now());
  await bench.runtime.ingest("telegram", "default", [{ type: "message", message }], {
    wait: "decision",
  });
  samples.push(performance.now() - from);
  // More restarts than the intensity allows would rightly mark the pool broken.
  await new Promise((resolve) => setTimeout(resolve, short ? 1_000 : 6_000));
}
await bench.close();
report({
  bench: "recovery",
  unit: "ms from the crash of all hosts to a recorded decision",
  figures: { best: round(Math.min(...samples)), median: round(quantile(samples, 0.5)) },
});
