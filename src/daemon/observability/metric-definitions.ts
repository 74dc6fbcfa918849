/**
 * The table of metrics
 * ====================
 * Every metric at `/metrics`: name, type, labels, unit and meaning. prom-client and
 * docs/reference/metrics.md are generated from it, so they cannot differ. Label values come from
 * closed sets or from the config, never from a room, where a stranger could make the table grow.
 */

import { judgeResults } from "../../actors/protocol/judges.ts";
import { decisions, rules } from "../../domain/decision.ts";
import type { OutboxState } from "../../domain/ports/index.ts";
import { failureKinds, outcomes } from "../../domain/stream.ts";
import type { DropReason } from "../../machines/events/effects.ts";
import type { AgentFailed } from "../../machines/events/events.ts";
import type { EngineNode } from "../api-types/engine.ts";

export interface MetricEntry {
  /** Without the prefix. */
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** Each label with its values, or with a description where the config defines them. */
  readonly labels: Readonly<Record<string, readonly string[] | string>>;
  readonly unit: string;
  readonly help: string;
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

/** Before every name. */
export const metricPrefix = "earshot_";

const quick = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
const patient = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];
const disk = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const rowCounts = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** How an attempt of an agent ended: complete, or the code of its failure. */
const agentEnds = [
  "ended",
  ...["error", "idle-timeout", "total-timeout", "aborted", "host-lost", "too-long"],
] as const satisfies readonly ("ended" | AgentFailed["code"])[];
export const outboxStates = [
  ...["pending", "sending", "waiting", "in-doubt", "sent", "expired", "dead"],
] as const satisfies readonly OutboxState[];
const drops = [
  ...["context-size", "context-age", "queue-cap-old", "queue-cap-new", "queue-cap-summarized"],
  ...["interrupted", "stopped", "deleted"],
] as const satisfies readonly DropReason[];
export const nodeStates = [
  ...["running", "stops", "silent", "unknown", "stopped", "gone"],
] as const satisfies readonly EngineNode["state"][];
const readers = ["events", "health", "inspect", "room", "rooms"] as const;
const channel = "channels of the config";

/** First the metrics of a message, in the order of its processing, then those of the runtime. */
export const metricTable = [
  {
    name: "received_total",
    type: "counter",
    unit: "messages",
    labels: { channel },
    help: "Messages that channels delivered, including copies and refused ones.",
  },
  {
    name: "ingress_pending",
    type: "gauge",
    unit: "messages",
    labels: {},
    help: "Messages accepted and not yet durable.",
  },
  {
    name: "ingress_refused_total",
    type: "counter",
    unit: "messages",
    labels: {},
    help: "Events refused because the intake was full or the store failed; the platform sends them again.",
  },
  {
    name: "dedupe_hits_total",
    type: "counter",
    unit: "messages",
    labels: {},
    help: "Copies of messages that were accepted before.",
  },
  {
    name: "intake_seconds",
    type: "histogram",
    unit: "seconds",
    labels: {},
    buckets: quick,
    help: "From delivery by the channel to durable: how long a platform waits for its acknowledgement.",
  },
  {
    name: "decisions_total",
    type: "counter",
    unit: "messages",
    labels: { decision: decisions, rule: rules },
    help: "Messages decided, one for each agent that heard them.",
  },
  {
    name: "decisions_labelled_total",
    type: "counter",
    unit: "labels",
    labels: { right: ["true", "false"] },
    help: "Decisions that somebody called right or wrong by hand.",
  },
  {
    name: "judge_questions_total",
    type: "counter",
    unit: "questions",
    labels: { result: judgeResults },
    help: "Messages put to a judge by what came of it. `unsure`, `late`, `error`, `ill-formed` and `budget` (not asked) leave them observed, like `observe`.",
  },
  {
    name: "judge_tokens_total",
    type: "counter",
    unit: "tokens",
    labels: { kind: ["input", "output"] },
    help: "What judges used, as far as they report it.",
  },
  {
    name: "receive_to_decision_seconds",
    type: "histogram",
    unit: "seconds",
    labels: {},
    buckets: quick,
    help: "From receipt to decision.",
  },
  {
    name: "dropped_total",
    type: "counter",
    unit: "messages",
    labels: { why: drops },
    help: "Messages that never reached the agent.",
  },
  {
    name: "turn_wait_seconds",
    type: "histogram",
    unit: "seconds",
    labels: {},
    buckets: patient,
    help: "From the first decision of a turn's messages to its start: debounce and queue.",
  },
  {
    name: "turns_running",
    type: "gauge",
    unit: "turns",
    labels: {},
    help: "Turns under way.",
  },
  {
    name: "turns_waiting",
    type: "gauge",
    unit: "turns",
    labels: {},
    help: "Turns that wait for a turn slot: the queue.",
  },
  {
    name: "turns_total",
    type: "counter",
    unit: "turns",
    labels: { outcome: outcomes },
    help: "Turns ended.",
  },
  {
    name: "turn_failures_total",
    type: "counter",
    unit: "turns",
    labels: { kind: failureKinds },
    help: "Failed turns, by what the agent's driver says went wrong.",
  },
  {
    name: "turn_seconds",
    type: "histogram",
    unit: "seconds",
    labels: {},
    buckets: patient,
    help: "From a turn's start to its outcome.",
  },
  {
    name: "agent_seconds",
    type: "histogram",
    unit: "seconds",
    labels: { end: agentEnds },
    buckets: patient,
    help: "One attempt of an agent, from its call to its end.",
  },
  {
    name: "agent_tokens_total",
    type: "counter",
    unit: "tokens",
    labels: { agent: "agents of the config", kind: ["input", "output"] },
    help: "Tokens that agents reported.",
  },
  {
    name: "receive_to_first_block_seconds",
    type: "histogram",
    unit: "seconds",
    labels: {},
    buckets: patient,
    help: "From the receipt of a turn's first message to the first block of its answer.",
  },
  {
    name: "turn_to_first_text_seconds",
    type: "histogram",
    unit: "seconds",
    labels: {},
    buckets: patient,
    help: "From a turn's start to the first text of its answer from the agent.",
  },
  {
    name: "turn_to_first_send_seconds",
    type: "histogram",
    unit: "seconds",
    labels: {},
    buckets: patient,
    help: "From a turn's start to its first sent part.",
  },
  {
    name: "sends_total",
    type: "counter",
    unit: "parts",
    labels: { status: ["sent", "in-doubt", "expired", "dead"] },
    help: "Reply parts by their outcome.",
  },
  {
    name: "delivery_seconds",
    type: "histogram",
    unit: "seconds",
    labels: {},
    buckets: patient,
    help: "From a part's entry into the outbox to the platform's confirmation.",
  },
  {
    name: "outbox",
    type: "gauge",
    unit: "rows",
    labels: { state: outboxStates },
    help: "Outbox rows by state; in-doubt and dead rows need attention.",
  },
  {
    name: "heartbeats_total",
    type: "counter",
    unit: "heartbeats",
    labels: { result: ["woken", "skipped"] },
    help: "Heartbeats that fell due.",
  },
  {
    name: "hook_calls_total",
    type: "counter",
    unit: "calls",
    labels: {
      plugin: "plugins of the config",
      hook: "hooks of plugins",
      outcome: "see docs/guide/plugins.md",
    },
    help: "Calls of plugins' hooks that may change something.",
  },
  {
    name: "conversations_live",
    type: "gauge",
    unit: "conversations",
    labels: {},
    help: "Conversations in memory.",
  },
  {
    name: "conversations_passive",
    type: "gauge",
    unit: "conversations",
    labels: {},
    help: "Conversations that are only in the store.",
  },
  {
    name: "conversations_dirty",
    type: "gauge",
    unit: "conversations",
    labels: {},
    help: "Conversations newer than their stored snapshot.",
  },
  {
    name: "needs",
    type: "gauge",
    unit: "problems",
    labels: {},
    help: "Problems that need a person, as `earshot needs` lists them.",
  },
  {
    name: "quarantined",
    type: "gauge",
    unit: "events",
    labels: {},
    help: "Events in quarantine because they broke their conversation.",
  },
  {
    name: "hosts_ready",
    type: "gauge",
    unit: "hosts",
    labels: {},
    help: "Worker hosts that are ready.",
  },
  {
    name: "host_restarts_total",
    type: "counter",
    unit: "restarts",
    labels: {},
    help: "Worker hosts started again.",
  },
  {
    name: "host_refused_total",
    type: "counter",
    unit: "messages",
    labels: {},
    help: "Invalid messages from worker hosts.",
  },
  {
    name: "mailbox_depth",
    type: "gauge",
    unit: "events",
    labels: {},
    help: "Events queued for hosts and in flight.",
  },
  {
    name: "journal_unapplied",
    type: "gauge",
    unit: "events",
    labels: {},
    help: "Events in the journal that are not applied yet; after a start, those that it has found.",
  },
  {
    name: "journal_last_seq",
    type: "gauge",
    unit: "rows",
    labels: {},
    help: "Number of the newest journal row.",
  },
  {
    name: "journal_failing",
    type: "gauge",
    unit: "0 or 1",
    labels: {},
    help: "1 while the store fails.",
  },
  {
    name: "journal_commit_seconds",
    type: "histogram",
    unit: "seconds",
    labels: {},
    buckets: disk,
    help: "One group commit, with its fsync where somebody waits for it.",
  },
  {
    name: "journal_commit_rows",
    type: "histogram",
    unit: "rows",
    labels: {},
    buckets: rowCounts,
    help: "Rows of one group commit.",
  },
  {
    name: "connections",
    type: "gauge",
    unit: "accounts",
    labels: {
      channel,
      state: ["connecting", "live", "resuming", "backing-off", "halted", "elsewhere", "stopped"],
    },
    help: "Accounts by connection state.",
  },
  {
    name: "connections_shared",
    type: "gauge",
    unit: "accounts",
    labels: { channel, holder: ["own", "other", "nobody"] },
    help: "Accounts whose connection may exist once, by who has it: this node, another one, nobody. None without `engine.nodes`.",
  },
  {
    name: "nodes",
    type: "gauge",
    unit: "nodes",
    labels: { state: nodeStates },
    help: "Nodes that share the conversations, as this one sees them; all 0 with the pool.",
  },
  {
    name: "engine_reachable",
    type: "gauge",
    unit: "0 or 1",
    labels: {},
    help: "1 while Restate answers; 0 with the pool.",
  },
  {
    name: "copy_behind",
    type: "gauge",
    unit: "conversations",
    labels: {},
    help: "Conversations of which this node's copy for the pages lacks something.",
  },
  {
    name: "ready",
    type: "gauge",
    unit: "0 or 1",
    labels: {},
    help: "1 while messages are accepted.",
  },
  {
    name: "http_requests_total",
    type: "counter",
    unit: "requests",
    labels: { route: ["api", "hook", "page"], status: "HTTP status codes" },
    help: "HTTP requests answered.",
  },
  {
    name: "stream_readers",
    type: "gauge",
    unit: "readers",
    labels: { reader: readers },
    help: "Readers of live streams.",
  },
  {
    name: "stream_dropped_total",
    type: "counter",
    unit: "readers",
    labels: { reader: readers },
    help: "Readers of live streams that were dropped as too slow.",
  },
  {
    name: "build_info",
    type: "gauge",
    unit: "1",
    labels: { version: "this version" },
    help: "Always 1; the version is its label.",
  },
] as const satisfies readonly MetricEntry[];

type Entry = (typeof metricTable)[number];
export type MetricName<Type extends MetricEntry["type"]> = Extract<Entry, { type: Type }>["name"];
/** Histograms that have no label. */
export type TimingName = Unlabelled<Extract<Entry, { type: "histogram" }>>;
type Unlabelled<One extends Entry> = One extends Entry
  ? [keyof One["labels"]] extends [never]
    ? One["name"]
    : never
  : never;
/** The labels of a metric. */
export type LabelOf<Name> = Extract<keyof Extract<Entry, { name: Name }>["labels"], string>;
