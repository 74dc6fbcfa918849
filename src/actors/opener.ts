/**
 * Where hosts are opened
 * ======================
 * Threads of a pool, or without workers an object on this thread.
 */
import { createConversation } from "./conversation.ts";
import type { HostOpener } from "./host-link.ts";
import { createLocalHosts } from "./host-local.ts";
import { createPool } from "./pool.ts";
import type { Supervision, SupervisorPorts } from "./supervisor.types.ts";

export function openerFor(
  ports: SupervisorPorts,
  supervision: Supervision,
  workers: number,
): HostOpener {
  const { clock, log, liveConversations: live, hostModule, pace } = ports;
  const { checkpointEvery, memoryMb, startMsMax } = supervision;
  if (workers === 0)
    return createLocalHosts({ clock, create: createConversation, live, checkpointEvery, pace });
  const source = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
  return createPool({
    workers,
    clock,
    log,
    live,
    checkpointEvery,
    memoryMb,
    // A simulated clock would never let it run out.
    startMsMax: ports.deterministic ? null : startMsMax,
    hostModule: hostModule ?? new URL(`../adapters/host-ports${source}`, import.meta.url).href,
    ...(ports.hostEntry === undefined ? {} : { entry: ports.hostEntry }),
  });
}
