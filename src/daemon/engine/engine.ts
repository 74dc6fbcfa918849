/**
 * The engine of this daemon, where conversations are not stepped by its own hosts
 * ===============================================================================
 * The daemon's runtime admits and routes what comes in, and forwards it. A conversation that is active on this node
 * has a runtime of its own, with the same ports; what it reports is reported by the daemon.
 */

import type { NewEvent } from "../../actors/protocol/event-codec.ts";
import type { Runtime, RuntimePorts } from "../../actors/protocol/runtime.ts";
import {
  createRuntimeEvents,
  type RuntimeEvents,
  relayTo,
} from "../../actors/protocol/runtime-events.ts";
import { createRuntime } from "../../actors/runtime/runtime.ts";
import { openKeptStore } from "../../adapters/stores/sqlite-store.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Clock, Log } from "../../domain/ports/index.ts";
import { createInbox } from "../../engines/restate/inbox.ts";
import { openNode, type RestateNode, registerNodes } from "../../engines/restate/node.ts";

export interface EnginePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => EarshotConfig;
  /** Reports of conversations that are active here. */
  readonly events: RuntimeEvents;
  /** The ports of the daemon's runtime. */
  readonly runtime: () => RuntimePorts;
}

export interface Engine {
  /** Carries events to their conversations. See `RuntimePorts.forward`. */
  readonly forward: NonNullable<RuntimePorts["forward"]>;
  /**
   * Opens this node and makes the server know it.
   * @throws EarshotError EAR_PORT_TAKEN, EAR_HTTP_FAILED, EAR_HTTP_REFUSED
   */
  start(): Promise<void>;
  /** A connection of this node came up or went down. */
  connectionChanged(channel: string, account: string): void;
  /** Replaces the config of what is active. */
  reload(config: EarshotConfig): Promise<void>;
  /** Conversations that are active here. */
  active(): number;
  /** Takes no more calls; what is active goes to other nodes. */
  stop(): Promise<void>;
}

/** Null: the daemon's own hosts step its conversations. */
export function createEngine(ports: EnginePorts): Engine | null {
  return ports.config().engine.kind === "pool" ? null : restateEngine(ports);
}

function restateEngine(ports: EnginePorts): Engine {
  const { clock, log, config } = ports;
  const { ingress, admin, host, port, nodes, identityKeys } = config().engine;
  const inbox = createInbox(trimmed(ingress));
  /** The runtimes of active conversations. */
  const active = new Set<Runtime>();
  let node: RestateNode | null = null;

  return {
    forward: (events) =>
      Promise.all(
        events.map(async ({ write, event }: NewEvent) => {
          const { at: sentAt, identity, key, messageId } = write;
          const isNew = await inbox.offer(key, { identity, sentAt, messageId, event });
          return isNew ? 1 : 0;
        }),
      ),
    async start() {
      node = await openNode({
        clock,
        log,
        host,
        port,
        identityKeys,
        open: openKeptStore,
        create(_key, own) {
          const runtime = createRuntime({
            ...ports.runtime(),
            config: config(),
            ...own,
            events: createRuntimeEvents(log, relayTo(ports.events)),
            workers: 0,
            housekeeping: false,
            wakes: false,
          });
          active.add(runtime);
          const stop: Runtime["stop"] = (options) => {
            active.delete(runtime);
            return runtime.stop(options);
          };
          return { ...runtime, stop };
        },
        onSaid: ({ level, target, message }) =>
          log(level === "error" || level === "warn" ? "warn" : "debug", "engine.said", {
            target,
            message,
          }),
      });
      await registerNodes(trimmed(admin), nodes ?? `http://${host}:${node.port}`);
    },
    connectionChanged(channel, account) {
      for (const runtime of active) runtime.connectionChanged(channel, account);
    },
    async reload(next) {
      await Promise.all([...active].map((runtime) => runtime.reload(next)));
    },
    active: () => active.size,
    async stop() {
      await node?.close();
    },
  };
}

const trimmed = (url: string) => url.replace(/\/$/u, "");

/** The daemon's runtime in front of an engine. */
export function withEngine(ports: RuntimePorts, engine: Engine): Runtime {
  const front = createRuntime({ ...ports, workers: 0, forward: engine.forward });
  return {
    ...front,
    async start() {
      await front.start();
      await engine.start();
    },
    connectionChanged(channel, account) {
      front.connectionChanged(channel, account);
      engine.connectionChanged(channel, account);
    },
    async reload(config) {
      await front.reload(config);
      await engine.reload(config);
    },
    async stop(options) {
      await engine.stop();
      await front.stop(options);
    },
  };
}
