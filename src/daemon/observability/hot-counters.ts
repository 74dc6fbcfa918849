/**
 * Counters for the hot path
 * =========================
 * prom-client looks up labels for every value, which takes longer than the counted decision. Events of
 * every message are counted here in plain numbers, and moved to Prometheus at each scrape.
 */
import type { Counter, Metric, Registry } from "prom-client";

/** Takes durations or sizes, in the unit of its name. */
export interface Timing {
  observe(value: number): void;
}

export interface TimingOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

/** A histogram without labels, in the form that a registry reads. */
export function createTiming(registry: Registry, options: TimingOptions): Timing {
  const { name, help, buckets } = options;
  /** Of each bucket alone; the last is what is beyond every bound. */
  const counts = new Array<number>(buckets.length + 1).fill(0);
  let sum = 0;
  const get = async () => {
    let below = 0;
    const values = [...buckets, "+Inf"].map((le, at) => {
      below += counts[at] ?? 0;
      return { labels: { le }, value: below, metricName: `${name}_bucket` };
    });
    const totals = [
      { labels: {}, value: sum, metricName: `${name}_sum` },
      { labels: {}, value: below, metricName: `${name}_count` },
    ];
    return { name, help, type: "histogram", aggregator: "sum", values: [...values, ...totals] };
  };
  registry.registerMetric({ name, help, get } as unknown as Metric);
  return {
    observe(value) {
      let at = 0;
      while (at < buckets.length && value > (buckets[at] as number)) at += 1;
      counts[at] = (counts[at] as number) + 1;
      sum += value;
    },
  };
}

/** Counts by a text that names the labels; the counts are moved at each scrape. */
export class LabelCounter<Label extends string> {
  readonly #pending = new Map<string, number>();
  readonly #labelsOf: (name: string) => Partial<Record<Label, string>>;

  constructor(labelsOf: (name: string) => Partial<Record<Label, string>>) {
    this.#labelsOf = labelsOf;
  }

  add(name: string): void {
    this.#pending.set(name, (this.#pending.get(name) ?? 0) + 1);
  }

  moveTo(counter: Counter<Label>): void {
    for (const [name, count] of this.#pending) counter.inc(this.#labelsOf(name), count);
    this.#pending.clear();
  }
}
