/** Tries the engine that keeps conversations outside of the daemon: its server, its nodes, and who has what. */
import type { EarshotConfig } from "../../../domain/config/index.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { TryResult } from "../../../domain/ports/index.ts";
import { ingressCaller } from "../../../engines/restate/calls/ingress-call.ts";
import { lookAtServer } from "../../../engines/restate/calls/server-watch.ts";
import { leaseKey, leaseService, tableSchema } from "../../../engines/restate/leases/wire.ts";
import { leaseName } from "../../../engines/restate/shared/schedules.ts";

/** @throws Error that says what does not answer, and what to do. */
export async function tryEngine(
  { ingress, admin, nodes }: EarshotConfig["engine"],
  signal: AbortSignal,
): Promise<readonly TryResult[]> {
  const [at, adminAt] = [ingress, admin].map((url) => url.replace(/\/$/u, "")) as [string, string];
  const version = await lookAtServer({ ingress: at, admin: adminAt }, signal);
  const server: TryResult = { state: "ok", says: `Restate ${version} answers at ${at}` };
  return nodes === null ? [server] : [server, ...(await tryNodes(at, nodes, signal))];
}

/** Any node answers for all of them. */
async function tryNodes(
  ingress: string,
  nodes: string,
  signal: AbortSignal,
): Promise<readonly TryResult[]> {
  const own = AbortSignal.timeout(engineLimits.serverLookMsMax);
  const call = ingressCaller(ingress);
  let answer: unknown;
  try {
    answer = await call(`${leaseService}/${leaseKey}/state`, undefined, {
      signal: AbortSignal.any([signal, own]),
    });
  } catch (error) {
    const why = own.aborted ? "no answer in time" : (error as Error).message;
    const says =
      `no node answers Restate at ${nodes} (${why}) Start one: the first start registers that address. ` +
      "The server must reach it";
    return [{ state: "warning", says }];
  }
  const table = tableSchema.parse(answer);
  const running = Object.values(table.nodes).filter(({ left }) => !left);
  const names = running.map(({ node, facts }) =>
    facts === null ? node : `${node} (${facts.version})`,
  );
  const wanted = new Set(running.flatMap(({ wants }) => wants));
  const counted = running.length === 1 ? "1 node runs" : `${running.length} nodes run`;
  const leases = Object.entries(table.leases).flatMap(([account, lease]): TryResult[] => {
    // What is said at set times needs no connection.
    if (account === leaseName.join(":")) return [];
    if (lease.boot !== null) {
      const how = lease.live === null ? "and is not connected" : "and is connected";
      return [
        {
          state: lease.live === null ? "warning" : "ok",
          says: `${account}: ${lease.node} has it, ${how}`,
        },
      ];
    }
    return wanted.has(account)
      ? [{ state: "warning", says: `${account}: no node has it; one takes it within seconds` }]
      : [];
  });
  return [{ state: "ok", says: `${counted}: ${names.sort().join(", ")}` }, ...leases];
}
