/**
 * Opening hosts
 * =============
 * Threads of a pool, or without workers an object on this thread.
 */
import { hostPorts } from "../entries.ts";
import { createConversation } from "../host/conversation-actor.ts";
import type { HostFactory } from "../protocol/host-link.ts";
import type { Supervision, SupervisorPorts } from "../protocol/supervisor.ts";
import { createLocalHosts } from "./in-process-host.ts";
import { createPool } from "./worker-pool.ts";

export function hostFactoryFor(
  ports: SupervisorPorts,
  supervision: Supervision,
  workers: number,
): HostFactory {
  const { clock, log, liveConversations: live, hostModule, scheduler } = ports;
  const { checkpointEvery, memoryMb, startMsMax } = supervision;
  if (workers === 0)
    return createLocalHosts({
      clock,
      create: createConversation,
      live,
      checkpointEvery,
      scheduler,
    });
  return createPool({
    workers,
    clock,
    log,
    live,
    checkpointEvery,
    memoryMb,
    startMsMax,
    hostModule: hostModule ?? hostPorts.href,
    ...(ports.hostEntry === undefined ? {} : { entry: ports.hostEntry }),
  });
}
