/**
 * From receipt to recorded decision, at about half of what the same runtime just sustained: messages
 * arrive one by one at a steady pace, every decision is timed from the call that took it in, and from
 * when its message was due: the generator shares the main thread, and is late when that is busy.
 */
import { flood, openBenchRuntime } from "../bench-runtime.ts";
import { messages, quantile, quietMix, report, round, short } from "../support.ts";

const rooms = 1_000;
const workers = 2;
const bench = await openBenchRuntime(workers);
const next = messages(rooms, quietMix);
await flood(bench, next, short ? 2_000 : 20_000);
const full = await flood(bench, next, short ? 5_000 : 60_000, 1_000_000);

const perTick = Math.max(1, Math.round(full / 2 / 1_000));
const total = short ? 2_000 : 60_000;
const taken = new Map<string, { readonly at: number; readonly due: number }>();
const samples: number[] = [];
const sinceDue: number[] = [];
bench.onDecision = (id) => {
  const from = taken.get(id);
  if (from === undefined) return;
  taken.delete(id);
  const now = performance.now();
  samples.push(now - from.at);
  sinceDue.push(now - from.due);
};
const started = performance.now();
const refusals: unknown[] = [];
let offered = 0;
await new Promise<void>((resolve) => {
  const tick = setInterval(() => {
    const due = Math.min(total, Math.ceil((performance.now() - started) * perTick));
    for (; offered < due; offered += 1) {
      const message = next(5_000_000 + offered, Date.now());
      taken.set(message.id, { at: performance.now(), due: started + offered / perTick });
      bench.runtime
        .ingest("telegram", "default", [{ type: "message", message }])
        .catch((error: unknown) => refusals.push(error));
    }
    if (offered < total) return;
    clearInterval(tick);
    resolve();
  }, 1);
});
while (taken.size > 0 && refusals.length === 0)
  await new Promise((resolve) => setTimeout(resolve, 5));
if (refusals.length > 0) throw refusals[0];
await bench.close();

report({
  bench: "latency",
  unit: "ms from receipt to recorded decision",
  figures: {
    "offered messages/s": perTick * 1_000,
    p50: round(quantile(samples, 0.5)),
    p99: round(quantile(samples, 0.99)),
    max: round(Math.max(...samples)),
    "p99 since it was due": round(quantile(sinceDue, 0.99)),
  },
  ratios: { "offered over sustained": round((perTick * 1_000) / full) },
});
