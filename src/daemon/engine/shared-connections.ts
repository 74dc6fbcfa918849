/**
 * Connections that may exist once only, among several nodes
 * =========================================================
 * This node's leases, and the outlets through which it sends where another has the connection.
 */
import { randomUUID } from "node:crypto";
import { assert } from "../../domain/errors.ts";
import type { Clock, ConnectionLeases, Log, Outlets } from "../../domain/ports/index.ts";
import type { IngressCall } from "../../engines/restate/calls/ingress-call.ts";
import {
  createNodeLeases,
  type NodeLeases,
} from "../../engines/restate/leases/connection-leases.ts";
import type { SharedNews } from "../../engines/restate/leases/news.ts";
import type { NodeFacts } from "../../engines/restate/leases/wire.ts";
import { createOutlets } from "../../engines/restate/outlet/outlets.ts";

export interface SharedConnections extends Pick<NodeLeases, "failing" | "isAnswered" | "seen"> {
  /** Wanted only after `start`. */
  readonly leases: ConnectionLeases;
  readonly outlets: Outlets;
  /** Names of the nodes that are known to run; empty before `start`. */
  nodes(): readonly string[];
  /** Restate knows the nodes. */
  start(name: string): void;
  /** Called when all leases are given back; resolves when the other nodes know, or cannot be reached. */
  stop(): Promise<void>;
}

export interface SharedConnectionsPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
  readonly news: SharedNews;
  /** What the others show of this node. */
  readonly facts: () => NodeFacts;
}

export function createSharedConnections(ports: SharedConnectionsPorts): SharedConnections {
  const boot = randomUUID();
  let own: NodeLeases | null = null;
  return {
    leases: {
      want(...account) {
        assert(own !== null, "Cannot want a lease: the engine has not started");
        return own.want(...account);
      },
    },
    outlets: createOutlets({ ...ports, boot }),
    nodes: () => own?.nodes() ?? [],
    seen: () => own?.seen() ?? null,
    failing: () => own?.failing() ?? null,
    isAnswered: () => own?.isAnswered() ?? false,
    start(name) {
      own = createNodeLeases({ ...ports, boot, node: name });
    },
    async stop() {
      await own?.close();
    },
  };
}
