/**
 * What a node shows of all nodes
 * ==============================
 * Pure: the table that it has read last, and what it has seen of the others, to what a person is shown.
 */
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { LeaseTable, NodeFacts } from "./wire.ts";

export interface SeenNode {
  readonly node: string;
  readonly isOwn: boolean;
  /** `silent`: it should have said something. `unknown`: this node hears of none, so it may run. */
  readonly state: "running" | "stops" | "silent" | "unknown";
  /** When this node last heard of one that is silent or unknown, by its own clock; else null. */
  readonly heardAt: Millis | null;
  /** Null: it is of an older version. */
  readonly facts: NodeFacts | null;
}

export interface SeenLease {
  readonly account: string;
  /** Null: nobody. */
  readonly holder: string | null;
  /** When it got the lease, or the last one gave it up, by a clock of theirs. */
  readonly since: Millis;
  readonly isLive: boolean;
  /** Other nodes that want it. */
  readonly waiting: readonly string[];
}

export interface SeenNodes {
  /** This one first, then by name. */
  readonly nodes: readonly SeenNode[];
  /** Nodes that are gone and have not come back, the last first. */
  readonly gone: LeaseTable["gone"];
  readonly leases: readonly SeenLease[];
}

export interface Seen {
  readonly now: Millis;
  readonly table: LeaseTable;
  /** This process. */
  readonly boot: string;
  /** When each process was last heard of, by this node's clock. */
  readonly heardAt: ReadonlyMap<string, Millis>;
  /** Restate answers. */
  readonly hears: boolean;
  /** A node that has been silent for so long is shown as such. */
  readonly silentMs: Millis;
}

type Row = readonly [boot: string, row: LeaseTable["nodes"][string]];

/** A process that died, and was started again before that was noticed, is not shown beside the new one. */
function lastOfEach(rows: readonly Row[], own: string): readonly Row[] {
  const startOf = ([boot, { facts }]: Row) =>
    boot === own ? Number.POSITIVE_INFINITY : (facts?.startedAt ?? 0);
  const last = new Map<string, Row>();
  for (const row of rows) {
    const other = last.get(row[1].node);
    if (other === undefined || startOf(other) <= startOf(row)) last.set(row[1].node, row);
  }
  return [...last.values()];
}

export function viewOf({ now, table, boot, heardAt, hears, silentMs }: Seen): SeenNodes {
  const rows = lastOfEach(
    Object.entries(table.nodes).filter(([, { left }]) => !left),
    boot,
  );
  const nodes = rows.map(([own, { node, facts }]): SeenNode => {
    const heard = heardAt.get(own) ?? now;
    const isSilent = now - heard > silentMs;
    const state = facts?.stops === true ? "stops" : "running";
    return {
      node,
      isOwn: own === boot,
      state: isSilent ? (hears ? "silent" : "unknown") : state,
      heardAt: isSilent ? Math.round(heard) : null,
      facts,
    };
  });
  return {
    nodes: nodes.sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || (a.node < b.node ? -1 : 1)),
    gone: table.gone.filter(({ at }) => now - at < engineLimits.leaseGoneMs).toReversed(),
    leases: Object.entries(table.leases).map(([account, { boot: of, node, since, live }]) => ({
      account,
      holder: of === null ? null : node,
      since,
      isLive: live !== null,
      waiting: rows
        .filter(([own, { wants }]) => own !== of && wants.includes(account))
        .map(([, row]) => row.node)
        .sort(),
    })),
  };
}
