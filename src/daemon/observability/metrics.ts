/**
 * Counters and timings for Prometheus, at `/metrics`. Counters follow the event stream,
 * so they count what happened and not what was attempted; times follow each message; gauges are read
 * from the runtime at each scrape. metric-definitions.ts lists all of them.
 */
import { type Counter, collectDefaultMetrics, type Gauge, Registry } from "prom-client";
import type { RuntimeListener } from "../../actors/protocol/runtime-events.ts";
import type { Clock } from "../../domain/ports/index.ts";
import type { StreamLine } from "../../domain/stream.ts";
import { tagged } from "../events/event-kinds.ts";
import { type GaugePorts, readersOf } from "./gauges.ts";
import { LabelCounter } from "./hot-counters.ts";
import { type Instruments, type Readers, registerInstruments } from "./instruments.ts";
import { createMessageTimings } from "./message-timings.ts";
import { metricPrefix } from "./metric-definitions.ts";

export interface MetricsPorts extends GaugePorts {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly version: string;
}

export interface Metrics {
  readonly registry: Registry;
  /** Counts the lines of the stream and measures each message. */
  readonly listener: RuntimeListener & Required<Pick<RuntimeListener, "line">>;
  /** Counts a request by its kind and the status of its answer. */
  answered(route: "page" | "api" | "hook", status: number): void;
  readonly streamDropped: Counter<"reader">;
  readonly streamReaders: Gauge<"reader">;
}

let ofProcess: Registry | null = null;

/**
 * The metrics of the process, made once: the library's observer of garbage collection cannot be
 * ended, and would keep alive a daemon that has stopped.
 */
function processMetrics(): Registry {
  if (ofProcess !== null) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess, prefix: metricPrefix });
  // Prometheus keeps `_total` for counters; the sum of the gauge without it says the same.
  for (const kind of ["handles", "requests", "resources"])
    ofProcess.removeSingleMetric(`${metricPrefix}nodejs_active_${kind}_total`);
  return ofProcess;
}

/** The metrics of one daemon. */
export function createMetrics(ports: MetricsPorts): Metrics {
  // A registry of its own, with the same instruments.
  const registry = Registry.merge([processMetrics()]);
  const decided = new LabelCounter<"decision" | "rule">(verdictLabels);
  const received = new LabelCounter<"channel">((channel) => ({ channel }));
  const answered = new LabelCounter<"route" | "status">(answerLabels);
  const readers: Readers = new Map([
    ...readersOf(ports),
    ["http_requests_total", (counter) => answered.moveTo(counter as Counter)],
    ["decisions_total", (counter) => decided.moveTo(counter as Counter)],
    ["received_total", (counter) => received.moveTo(counter as Counter)],
  ]);
  const instruments = registerInstruments(registry, readers);
  instruments.gauge("build_info").set({ version: ports.version }, 1);
  const timings = createMessageTimings(instruments, ports.clock, (channel) =>
    received.add(channel),
  );
  const count = counting(instruments, decided);
  const labelled = instruments.counter("decisions_labelled_total");
  return {
    registry,
    answered: (route, status) => answered.add(`${route} ${status}`),
    streamDropped: instruments.counter("stream_dropped_total"),
    streamReaders: instruments.gauge("stream_readers"),
    listener: {
      ...timings.listener,
      labelled(_, isRight) {
        if (isRight !== null) labelled.inc({ right: String(isRight) });
      },
      line(line) {
        count(line);
        timings.line(line);
      },
    },
  };
}

/** A verdict as one text, and back. */
const verdictName = (decision: string, rule: string) => `${decision} ${rule}`;
function verdictLabels(name: string) {
  const [decision = "", rule = ""] = name.split(" ");
  return { decision, rule };
}

function answerLabels(name: string) {
  const [route = "", status = ""] = name.split(" ");
  return { route, status };
}

function counting(
  { counter }: Instruments,
  decided: LabelCounter<"decision" | "rule">,
): (line: StreamLine) => void {
  const copies = counter("dedupe_hits_total");
  const turns = counter("turns_total");
  const failures = counter("turn_failures_total");
  const heartbeats = counter("heartbeats_total");
  const hooks = counter("hook_calls_total");
  const questions = counter("judge_questions_total");
  const tokens = counter("judge_tokens_total");
  const dropped = counter("dropped_total");
  const sends = counter("sends_total");
  return (line) => {
    const { kind, line: event } = tagged(line);
    if (kind === "decision") {
      decided.add(verdictName(event.decision, event.rule));
      if (event.decision === "duplicate") copies.inc();
    } else if (kind === "agent_end") {
      turns.inc({ outcome: event.outcome });
      if (event.cause !== undefined) failures.inc({ kind: event.cause.kind });
    } else if (kind === "dropped") {
      dropped.inc({ why: event.why });
    } else if (kind === "send") {
      sends.inc({ status: event.status });
    } else if (kind === "system" && event.system === "heartbeat") {
      heartbeats.inc({ result: event.skipped === null ? "woken" : "skipped" });
    } else if (kind === "system" && event.system === "judge") {
      questions.inc({ result: String(event.result) });
      tokens.inc({ kind: "input" }, Number(event.inputTokens));
      tokens.inc({ kind: "output" }, Number(event.outputTokens));
    } else if (kind === "system" && event.system === "hook") {
      const { plugin, hook, outcome } = event;
      hooks.inc({ plugin: String(plugin), hook: String(hook), outcome: String(outcome) });
    }
  };
}
