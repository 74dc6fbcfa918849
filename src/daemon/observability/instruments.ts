/**
 * Counters, gauges and histograms, one for each entry of the table of metrics, found by name and
 * typed by the entry's labels.
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Reader } from "./gauges.ts";
import { createTiming, type Timing } from "./hot-counters.ts";
import {
  type LabelOf,
  type MetricEntry,
  type MetricName,
  metricPrefix,
  metricTable,
  type TimingName,
} from "./metric-definitions.ts";

export interface Instruments {
  counter<Name extends MetricName<"counter">>(name: Name): Counter<LabelOf<Name>>;
  gauge<Name extends MetricName<"gauge">>(name: Name): Gauge<LabelOf<Name>>;
  /** Those with labels. */
  histogram<Name extends Exclude<MetricName<"histogram">, TimingName>>(
    name: Name,
  ): Histogram<LabelOf<Name>>;
  /** Those without. */
  timing(name: TimingName): Timing;
}

/** What is read before each scrape, by the name in the table. */
export type Readers = ReadonlyMap<string, Reader>;

/**
 * Makes an instrument for each entry of the table. One with a single closed label starts with a
 * zero for each of its values.
 */
export function registerInstruments(registry: Registry, readers: Readers): Instruments {
  const made = new Map<string, Counter | Gauge | Histogram>();
  const timings = new Map<string, Timing>();
  for (const entry of metricTable as readonly MetricEntry[]) {
    const { type, help, buckets, labels } = entry;
    const labelNames = Object.keys(labels);
    const name = metricPrefix + entry.name;
    const common = { name, help, labelNames, registers: [registry] };
    if (type === "histogram" && labelNames.length === 0) {
      timings.set(entry.name, createTiming(registry, { name, help, buckets: buckets ?? [] }));
      continue;
    }
    const reader = readers.get(entry.name);
    const collect = () => reader?.(made.get(entry.name) as Counter | Gauge);
    const collecting = reader === undefined ? {} : { collect };
    const instrument =
      type === "counter"
        ? new Counter({ ...common, ...collecting })
        : type === "gauge"
          ? new Gauge({ ...common, ...collecting })
          : new Histogram({ ...common, buckets: [...(buckets ?? [])] });
    made.set(entry.name, instrument);
    const [label, values] = Object.entries(labels)[0] ?? [];
    if (labelNames.length !== 1 || label === undefined || !Array.isArray(values)) continue;
    for (const value of values)
      if (instrument instanceof Histogram) instrument.zero({ [label]: value });
      else instrument.inc({ [label]: value }, 0);
  }
  const get = (name: string) => made.get(name) as never;
  const timing = (name: string) => timings.get(name) as Timing;
  return { counter: get, gauge: get, histogram: get, timing };
}
