/**
 * Metrics
 * =======
 * What is counted and measured, read by Prometheus at `/metrics`. Counters follow the event stream,
 * so they count what happened and not what was attempted; times follow the walk of messages; gauges
 * are read from the runtime when asked. What there is stands in metrics.table.ts.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { ConnectionStatus } from "../../actors/channels/account-connection.ts";
import type { RuntimeStatus } from "../../actors/protocol/runtime.ts";
import type { MessageTelemetry } from "../../actors/protocol/telemetry.ts";
import type { Clock } from "../../domain/ports/index.ts";
import type { StreamLine } from "../../domain/stream.ts";
import { tagged } from "../events/event-kinds.ts";
import { type Reader, readersOf } from "./gauges.ts";
import { createTiming, Tally, type Timing } from "./hot-counters.ts";
import { createStopwatch } from "./message-timings.ts";
import {
  type LabelOf,
  type MetricEntry,
  type MetricName,
  metricPrefix,
  metricTable,
  type TimingName,
} from "./metric-definitions.ts";

export interface MetricsPorts {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly status: () => RuntimeStatus;
  readonly version: string;
  /** How many conversations the store has. @default as many as are in memory */
  readonly conversations?: () => Promise<number>;
  /** @default none */
  readonly connections?: () => readonly ConnectionStatus[];
}

export interface Metrics {
  readonly registry: Registry;
  /** Counts one line of the stream. */
  line(line: StreamLine): void;
  /** Measures the walk of messages. */
  readonly walk: MessageTelemetry;
  readonly requests: Counter<"route" | "status">;
  readonly streamDropped: Counter<"reader">;
  readonly streamReaders: Gauge<"reader">;
}

/** The instruments by their names in the table. */
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

/** The metrics of one daemon. */
export function createMetrics(ports: MetricsPorts): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: metricPrefix });
  // Prometheus keeps `_total` for counters; the sum of the gauge without it says the same.
  for (const one of ["handles", "requests", "resources"])
    registry.removeSingleMetric(`${metricPrefix}nodejs_active_${one}_total`);
  const decided = new Tally<"decision" | "rule">(verdictLabels);
  const received = new Tally<"channel">((channel) => ({ channel }));
  const readers: Readers = new Map<string, Reader>([
    ...readersOf(ports),
    ["decisions_total", (counter) => decided.moveTo(counter as Counter)],
    ["received_total", (counter) => received.moveTo(counter as Counter)],
  ]);
  const instruments = register(registry, readers);
  instruments.gauge("build_info").set({ version: ports.version }, 1);
  const stopwatch = createStopwatch(instruments, ports.clock, (channel) => received.add(channel));
  const count = counting(instruments, decided);
  return {
    registry,
    requests: instruments.counter("http_requests_total"),
    streamDropped: instruments.counter("stream_dropped_total"),
    streamReaders: instruments.gauge("stream_readers"),
    walk: stopwatch.tap,
    line(line) {
      count(line);
      stopwatch.line(line);
    },
  };
}

type Readers = ReadonlyMap<string, Reader>;

/** Makes an instrument for each entry; what has one closed label begins with zeros. */
function register(registry: Registry, readers: Readers): Instruments {
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
    const one =
      type === "counter"
        ? new Counter({ ...common, ...collecting })
        : type === "gauge"
          ? new Gauge({ ...common, ...collecting })
          : new Histogram({ ...common, buckets: [...(buckets ?? [])] });
    made.set(entry.name, one);
    const [label, values] = Object.entries(labels)[0] ?? [];
    if (labelNames.length !== 1 || label === undefined || !Array.isArray(values)) continue;
    for (const value of values)
      if (one instanceof Histogram) one.zero({ [label]: value });
      else one.inc({ [label]: value }, 0);
  }
  const get = (name: string) => made.get(name) as never;
  const timing = (name: string) => timings.get(name) as Timing;
  return { counter: get, gauge: get, histogram: get, timing };
}

/** A verdict as one text, and back. */
const verdictName = (decision: string, rule: string) => `${decision} ${rule}`;
function verdictLabels(name: string) {
  const [decision = "", rule = ""] = name.split(" ");
  return { decision, rule };
}

function counting(
  { counter }: Instruments,
  decided: Tally<"decision" | "rule">,
): (line: StreamLine) => void {
  const copies = counter("dedupe_hits_total");
  const turns = counter("turns_total");
  const heartbeats = counter("heartbeats_total");
  const hooks = counter("hook_calls_total");
  const dropped = counter("dropped_total");
  const sends = counter("sends_total");
  return (line) => {
    const { kind, line: told } = tagged(line);
    if (kind === "decision") {
      decided.add(verdictName(told.decision, told.rule));
      if (told.decision === "duplicate") copies.inc();
    } else if (kind === "agent_end") {
      turns.inc({ outcome: told.outcome });
    } else if (kind === "dropped") {
      dropped.inc({ why: told.why });
    } else if (kind === "send") {
      sends.inc({ status: told.status });
    } else if (kind === "system" && told.system === "heartbeat") {
      heartbeats.inc({ result: told.skipped === null ? "woken" : "skipped" });
    } else if (kind === "system" && told.system === "hook") {
      const { plugin, hook, outcome } = told;
      hooks.inc({ plugin: String(plugin), hook: String(hook), outcome: String(outcome) });
    }
  };
}
