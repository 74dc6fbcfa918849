/**
 * The table of leases, without Restate
 * ====================================
 * Pure: a table and one beat of a process in, the next table out.
 *
 * No time stands in it, so clocks of nodes need not agree. A process is gone when another one has watched it
 * for `leaseLapseMs` of its own monotonic clock without a new beat, and says which beat it saw last: if there
 * is a newer one by then, nothing happens. The process itself counts `leaseValidMs`, which is shorter, from
 * before it sent the beat that was the last to come here. It sent that one before the other saw it, so it has
 * ended before the other can begin.
 */
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { Versions } from "./news.ts";
import type { Beat, LeaseTable } from "./wire.ts";

export const emptyTable: LeaseTable = { version: 0, nodes: {}, leases: {}, gone: [] };

/** The table after a beat; the same object for a beat that comes late. */
export function beaten(table: LeaseTable, beat: Beat): LeaseTable {
  const known = table.nodes[beat.boot];
  if (known !== undefined && beat.beat <= known.beat) return table;
  const gone = new Set(
    beat.lapsed
      .filter(({ boot, beat: seen }) => boot !== beat.boot && table.nodes[boot]?.beat === seen)
      .map(({ boot }) => boot),
  );
  const nodes = Object.fromEntries([
    ...Object.entries(table.nodes).filter(([boot]) => !gone.has(boot)),
    [beat.boot, rowOf(beat)],
  ]);
  const leases = leasesAfter(table.leases, nodes, beat);
  const isSame = gone.size === 0 && known?.left === beat.leaves && Object.keys(leases).length === 0;
  return {
    version: isSame && !saysNewer(table, beat) ? table.version : table.version + 1,
    nodes,
    leases: isSame ? table.leases : { ...table.leases, ...leases },
    gone: isSame ? table.gone : goneAfter(table, nodes, gone, beat),
  };
}

/** The newest version of each object that nodes share; null: a node that runs says nothing of it. */
export function newestShared({ nodes }: Pick<LeaseTable, "nodes">): Versions | null {
  const rows = Object.values(nodes);
  return rows.some(({ left, shared }) => !left && shared === null) ? null : newestOf(rows);
}

function newestOf(rows: readonly LeaseTable["nodes"][string][]): Versions {
  const newest: Record<string, number> = {};
  for (const [object, version] of rows.flatMap(({ shared }) => Object.entries(shared ?? {})))
    newest[object] = Math.max(newest[object] ?? 0, version);
  return newest;
}

function saysNewer({ nodes }: LeaseTable, { shared }: Beat): boolean {
  const newest = newestOf(Object.values(nodes));
  return Object.entries(shared ?? {}).some(([object, version]) => version > (newest[object] ?? 0));
}

const rowOf = ({
  node,
  beat,
  leaves,
  facts,
  wants,
  shared,
}: Beat): LeaseTable["nodes"][string] => ({
  node,
  beat,
  left: leaves,
  facts,
  wants: wants.slice(0, engineLimits.leaseWantsShown),
  shared,
});

/** A node that has come back, in another process, is not gone. */
function goneAfter(
  { nodes, gone }: LeaseTable,
  stay: LeaseTable["nodes"],
  lapsed: ReadonlySet<string>,
  { node, at, leaves }: Beat,
): LeaseTable["gone"] {
  const running = new Set(Object.values(stay).flatMap((row) => (row.left ? [] : [row.node])));
  const died = [...lapsed].flatMap((boot) => {
    const row = nodes[boot];
    // One that has left is listed since it did.
    return row === undefined || row.left ? [] : [{ node: row.node, at, how: "lapsed" as const }];
  });
  const stopped = leaves ? [{ node, at, how: "stopped" as const }] : [];
  // Of each name the last.
  const last = new Map([...gone, ...died, ...stopped].map((one) => [one.node, one]));
  return [...last.values()]
    .filter((one) => !running.has(one.node))
    .slice(-engineLimits.leaseGoneKept);
}

/** The leases that change. */
function leasesAfter(
  leases: LeaseTable["leases"],
  nodes: LeaseTable["nodes"],
  { boot, node, at, wants, live, leaves }: Beat,
): LeaseTable["leases"] {
  const wanted = new Set(leaves ? [] : wants);
  const next: LeaseTable["leases"] = {};
  for (const [account, lease] of Object.entries(leases)) {
    if (lease.boot === null) continue;
    const isKept =
      nodes[lease.boot]?.left === false && (lease.boot !== boot || wanted.has(account));
    if (!isKept) next[account] = { ...lease, boot: null, since: at, live: null };
    else if (lease.boot === boot && lease.live !== (live[account] ?? null))
      next[account] = { ...lease, live: live[account] ?? null };
  }
  for (const account of wanted) {
    const lease = next[account] ?? leases[account];
    if (lease === undefined || lease.boot === null)
      next[account] = { epoch: (lease?.epoch ?? 0) + 1, boot, node, since: at, live: null };
  }
  return next;
}
