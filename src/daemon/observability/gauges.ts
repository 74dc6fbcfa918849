/**
 * Gauges, and counters that the runtime keeps, are read from its status at each scrape. One status
 * serves them all.
 */
import type { Counter, Gauge } from "prom-client";
import type { ConnectionStatus } from "../../actors/channels/account-connection.ts";
import type { RuntimeStatus } from "../../actors/protocol/runtime.ts";
import type { Clock } from "../../domain/ports/index.ts";
import type { EngineStatus } from "../api-types/engine.ts";
import { type MetricName, nodeStates, outboxStates } from "./metric-definitions.ts";

/** A status is reused for this long, ms, so that a scrape reads it once. */
const freshMs = 50;

/** Sources of the gauges. */
export interface GaugePorts {
  readonly clock: Pick<Clock, "monotonic">;
  readonly status: () => RuntimeStatus;
  /** Number of conversations in the store. @default those in memory */
  readonly conversations?: () => Promise<number>;
  /** @default none */
  readonly connections?: () => readonly ConnectionStatus[];
  /** @default there is none */
  readonly engine?: () => EngineStatus | null;
  /** Number of problems that need a person. @default 0 */
  readonly needs?: () => Promise<number>;
}

/** Sets an instrument to its current value. */
export type Reader = (instrument: Counter | Gauge) => void | Promise<void>;
type Readable = MetricName<"gauge"> | MetricName<"counter">;

/** What is read before each scrape, by its name in the table. */
export function readersOf(ports: GaugePorts): ReadonlyMap<string, Reader> {
  const readers = new Map<string, Reader>();
  const status = freshStatus(ports);
  const show = (name: Readable, read: (now: RuntimeStatus) => number | Promise<number>): void => {
    readers.set(name, async (instrument) => {
      const value = await read(status());
      instrument.reset();
      instrument.inc(value);
    });
  };
  show("ready", ({ ready }) => (ready ? 1 : 0));
  show("conversations_live", ({ conversations }) => conversations.live);
  show("conversations_dirty", ({ conversations }) => conversations.dirty);
  show("conversations_passive", async ({ conversations: { live } }) =>
    Math.max(0, ((await ports.conversations?.()) ?? live) - live),
  );
  show("turns_running", ({ turns }) => turns.running);
  show("turns_waiting", ({ turns }) => turns.waiting);
  show("ingress_pending", ({ ingress }) => ingress.pending);
  show("ingress_refused_total", ({ ingress }) => ingress.refused);
  show("journal_unapplied", ({ unapplied }) => unapplied.events);
  show("journal_last_seq", ({ store }) => store.lastSeq);
  show("journal_failing", ({ store }) => (store.failing ? 1 : 0));
  show("quarantined", ({ quarantined }) => quarantined.length);
  show("needs", async () => (await ports.needs?.()) ?? 0);
  show("hosts_ready", ({ hosts }) => hosts.filter(({ state }) => state === "ready").length);
  show("host_restarts_total", ({ hosts }) => sum(hosts, ({ restarts }) => restarts));
  show("host_refused_total", ({ hosts }) => sum(hosts, ({ refused = 0 }) => refused));
  show("mailbox_depth", ({ hosts }) => sum(hosts, ({ mailbox }) => mailbox));
  readers.set("outbox" satisfies Readable, (outbox) => {
    outbox.reset();
    for (const [state, count] of Object.entries({ ...noRows, ...status().outbox }))
      outbox.inc({ state }, count);
  });
  readers.set("connections" satisfies Readable, (connections) => {
    connections.reset();
    for (const { channel, state } of ports.connections?.() ?? [])
      connections.inc({ channel, state });
  });
  show("engine_reachable", () => (ports.engine?.()?.server.failing === false ? 1 : 0));
  show("copy_behind", () => ports.engine?.()?.nodes[0]?.copy?.behind ?? 0);
  readers.set("nodes" satisfies Readable, (nodes) => {
    nodes.reset();
    const all = ports.engine?.()?.nodes ?? [];
    for (const state of nodeStates)
      nodes.inc({ state }, all.filter((node) => node.state === state).length);
  });
  readers.set("connections_shared" satisfies Readable, (shared) => {
    shared.reset();
    const engine = ports.engine?.() ?? null;
    const own = engine?.nodes[0]?.node;
    for (const { channel, holder } of engine?.connections ?? [])
      shared.inc({
        channel,
        holder: holder === null ? "nobody" : holder === own ? "own" : "other",
      });
  });
  return readers;
}

const noRows = Object.fromEntries(outboxStates.map((state) => [state, 0]));

function freshStatus({ clock, status }: GaugePorts): () => RuntimeStatus {
  let last: { readonly at: number; readonly status: RuntimeStatus } | null = null;
  return () => {
    const at = clock.monotonic();
    if (last === null || at - last.at > freshMs) last = { at, status: status() };
    return last.status;
  };
}

function sum<Item>(items: readonly Item[], read: (item: Item) => number): number {
  return items.reduce((total, item) => total + read(item), 0);
}
