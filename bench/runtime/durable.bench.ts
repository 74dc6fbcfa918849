/**
 * Messages a second, end to end and durable: admitted, committed with an fsync, stepped in their
 * conversation's actor, the decision recorded. The generator runs on the same two cores. At 1,000
 * rooms everything is observed; at 100,000 rooms 7% engage and run a whole turn with a delivered
 * reply.
 */
import { flood, openBenchRuntime } from "../bench-runtime.ts";
import { busyMix, messages, quietMix, report, round, short } from "../support.ts";

const figures: Record<string, number> = {};
const counts = short ? [10_000, 10_000] : [200_000, 150_000];
for (const [index, rooms] of (short ? [1_000, 10_000] : [1_000, 100_000]).entries()) {
  const mix = index === 0 ? quietMix : busyMix;
  for (const workers of [0, 1, 2]) {
    const bench = await openBenchRuntime(workers);
    const next = messages(rooms, mix);
    await flood(bench, next, short ? 2_000 : 20_000);
    const rate = await flood(bench, next, counts[index] as number, 1_000_000);
    figures[`${rooms.toLocaleString("en")} rooms, workers ${workers}`] = Math.round(rate);
    await bench.close();
  }
}
const [quiet0, quiet1, quiet2, busy0, , busy2] = Object.values(figures) as number[];
report({
  bench: "durable",
  unit: "messages/s",
  figures,
  ratios: {
    "one worker over none, quiet": round((quiet1 as number) / (quiet0 as number)),
    "two workers over none, quiet": round((quiet2 as number) / (quiet0 as number)),
    "two workers over none, busy": round((busy2 as number) / (busy0 as number)),
  },
});
