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
import type { Beat, LeaseTable } from "./wire.ts";

export const emptyTable: LeaseTable = { version: 0, nodes: {}, leases: {} };

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
    [beat.boot, { node: beat.node, beat: beat.beat, left: beat.leaves }],
  ]);
  const leases = leasesAfter(table.leases, nodes, beat);
  const isSame = gone.size === 0 && known?.left === beat.leaves && Object.keys(leases).length === 0;
  return {
    version: isSame ? table.version : table.version + 1,
    nodes,
    leases: isSame ? table.leases : { ...table.leases, ...leases },
  };
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
    if (!isKept) next[account] = { ...lease, boot: null, live: null };
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
