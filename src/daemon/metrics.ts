/**
 * Metrics
 * =======
 * The one table of what is counted, read by Prometheus at `/metrics`. Counters follow the event
 * stream, so they count what happened and not what was attempted; gauges are read from the runtime
 * when asked. Labels come from closed sets of ours, never from a room, or a stranger could make the
 * table grow.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { RuntimeStatus } from "../actors/runtime.types.ts";
import type { Millis } from "../domain/message.ts";
import type { StreamLine } from "../domain/stream.ts";
import { tagged } from "./lines.ts";

/** Messages whose way from receipt to decision is measured at the same time. */
const measuredCountMax = 10_000;
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300];

export interface Metrics {
  readonly registry: Registry;
  /** Counts one line of the stream. */
  line(line: StreamLine): void;
  /** A message was handed in; the time until its decision line is measured from here. */
  received(id: string): void;
  readonly requests: Counter<"route" | "status">;
  readonly streamDropped: Counter<"reader">;
  readonly streamReaders: Gauge<"reader">;
}

/** The metrics of one daemon. `monotonic` is in ms. */
export function createMetrics(monotonic: () => Millis, status: () => RuntimeStatus): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "earshot_" });
  const table = counters(registry);
  gauges(registry, status);
  const waiting = new Map<string, Millis>();
  const turns = new Map<string, { start: Millis; spoke: boolean }>();

  const bounded = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
    if (map.size >= measuredCountMax) map.delete(map.keys().next().value as string);
    map.set(key, value);
  };

  return {
    registry,
    requests: table.requests,
    streamDropped: table.streamDropped,
    streamReaders: table.streamReaders,
    received: (id) => bounded(waiting, id, monotonic()),
    line(line) {
      const { kind, line: told } = tagged(line);
      if (kind === "decision") {
        table.decisions.inc({ decision: told.decision, rule: told.rule });
        const since = waiting.get(told.id);
        if (since !== undefined) table.decisionTime.observe((monotonic() - since) / 1_000);
        waiting.delete(told.id);
      } else if (kind === "agent_start") {
        bounded(turns, told.key, { start: monotonic(), spoke: false });
      } else if (kind === "agent_end") {
        table.turns.inc({ outcome: told.outcome });
        const turn = turns.get(told.key);
        if (turn !== undefined) table.turnTime.observe((monotonic() - turn.start) / 1_000);
      } else if (kind === "system" && told.system === "heartbeat") {
        table.heartbeats.inc({ result: told.skipped === null ? "woken" : "skipped" });
      } else if (kind === "system" && told.system === "hook") {
        const { plugin, hook, outcome } = told;
        table.hooks.inc({
          plugin: String(plugin),
          hook: String(hook),
          outcome: String(outcome),
        });
      } else if (kind === "dropped") {
        table.dropped.inc({ why: told.why });
      } else if (kind === "send") {
        table.sends.inc({ status: told.status });
        const turn = turns.get(told.key);
        if (turn !== undefined && !turn.spoke) {
          turn.spoke = true;
          table.firstSendTime.observe((monotonic() - turn.start) / 1_000);
        }
      }
    },
  };
}

function counters(registry: Registry) {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `earshot_${name}`, help, labelNames, registers });
  const histogram = (name: string, help: string) =>
    new Histogram({ name: `earshot_${name}`, help, buckets: seconds, registers });
  return {
    decisions: counter("decisions_total", "Messages decided.", "decision", "rule"),
    turns: counter("turns_total", "Turns ended.", "outcome"),
    sends: counter("sends_total", "Reply parts by what became of them.", "status"),
    dropped: counter("dropped_total", "Messages that never reached the agent.", "why"),
    heartbeats: counter("heartbeats_total", "Heartbeats that fell due.", "result"),
    hooks: counter(
      "hook_calls_total",
      "Calls of plugins' hooks that did more than look.",
      ...(["plugin", "hook", "outcome"] as const),
    ),
    requests: counter("http_requests_total", "HTTP requests answered.", "route", "status"),
    streamDropped: counter("stream_dropped_total", "Readers dropped as too slow.", "reader"),
    streamReaders: new Gauge({
      name: "earshot_stream_readers",
      help: "Readers connected.",
      labelNames: ["reader"] as const,
      registers,
    }),
    decisionTime: histogram("receive_to_decision_seconds", "From receipt to decision."),
    turnTime: histogram("turn_seconds", "From agent call to outcome."),
    firstSendTime: histogram("turn_to_first_send_seconds", "From agent call to first reply part."),
  };
}

function gauges(registry: Registry, status: () => RuntimeStatus): void {
  const gauge = (name: string, help: string, read: (now: RuntimeStatus) => number) =>
    new Gauge({
      name: `earshot_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read(status()));
      },
    });
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  gauge("ready", "1 while messages can be taken.", (now) => (now.ready ? 1 : 0));
  gauge("conversations_live", "Conversations in memory.", (now) => now.conversations.live);
  gauge(
    "conversations_dirty",
    "Conversations ahead of their record.",
    (n) => n.conversations.dirty,
  );
  gauge("turns_running", "Turns under way.", (now) => now.turns.running);
  gauge("turns_waiting", "Turns waiting for a lane.", (now) => now.turns.waiting);
  gauge("ingress_pending", "Messages taken and not yet durable.", (now) => now.ingress.pending);
  gauge("ingress_refused", "Messages refused as the intake was full.", (n) => n.ingress.refused);
  gauge("journal_last_seq", "Number of the newest journal row.", (now) => now.store.lastSeq);
  gauge("journal_commit_seconds", "The last commit.", (now) => now.store.lastCommitMs / 1_000);
  gauge("journal_failing", "1 while the store fails.", (now) => (now.store.failing ? 1 : 0));
  gauge("quarantined", "Messages set aside.", (now) => now.quarantined.length);
  gauge(
    "hosts_ready",
    "Worker hosts that answer.",
    ({ hosts }) => hosts.filter(({ state }) => state === "ready").length,
  );
  gauge("host_restarts", "Worker hosts started again.", ({ hosts }) =>
    sum(hosts.map(({ restarts }) => restarts)),
  );
  gauge("host_refused", "Messages of worker hosts that had no form we know.", ({ hosts }) =>
    sum(hosts.map(({ refused = 0 }) => refused)),
  );
  gauge("mailbox_depth", "Events queued for hosts.", ({ hosts }) =>
    sum(hosts.map(({ mailbox }) => mailbox)),
  );
  new Gauge({
    name: "earshot_outbox",
    help: "Outbox rows by state.",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(status().outbox)) this.set({ state }, count);
    },
  });
}
