/**
 * Collects what the Health page shows: runtime, connections, outbox, disk. While a page watches, it
 * is read once a second and sent when it has changed; otherwise never.
 */
import { stat } from "node:fs/promises";
import type { ConnectionStatus } from "../../actors/channels/account-connection.ts";
import type { RuntimeStatus } from "../../actors/protocol/runtime.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Millis } from "../../domain/message.ts";
import type { ChannelDefinition, Clock, Log } from "../../domain/ports/index.ts";
import { oneLine } from "../../domain/sanitize.ts";
import type { EngineStatus } from "../api-types/engine.ts";
import type { Health, HealthConnection, HealthSlots } from "../api-types/health.ts";
import type { NeedsAnswer } from "../api-types/needs.ts";

/** What the list of rooms knows. */
export interface RoomFacts {
  /** When an account last brought a message; 0: not since the start. */
  heardAt(channel: string, account: string): Millis;
  /** Copies of messages that an account brought since the start. */
  duplicatesOf(channel: string, account: string): number;
  /** Copies of messages received since the start. */
  readonly duplicates: number;
}

export interface HealthPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly config: () => EarshotConfig;
  readonly channels: ReadonlyMap<string, ChannelDefinition>;
  readonly needs: () => Promise<NeedsAnswer>;
  readonly status: () => RuntimeStatus;
  readonly connections: () => readonly ConnectionStatus[];
  readonly roomList: RoomFacts;
  /** Null: the daemon keeps the conversations itself. */
  readonly engine: () => EngineStatus | null;
  /** The store's file; null: nothing is stored on disk. */
  readonly storePath: () => string | null;
}

export interface HealthService {
  read(): Promise<Health>;
  /** Calls `reader` now and after each change, at most once a second. The result ends it. */
  watch(reader: (health: Health) => void): () => void;
}

const readMs = 1_000;
const textShownUnitsMax = 160;

export function createHealth(ports: HealthPorts): HealthService {
  const { clock } = ports;
  const startedAt = clock.now();
  const nameOf = (channel: string) => ports.channels.get(channel)?.meta.name ?? oneLine(channel);

  async function read(): Promise<Health> {
    const status = ports.status();
    const connections = ports.connections();
    const engine = ports.engine();
    const { needs, more } = await ports.needs();
    return {
      now: clock.now(),
      version: ports.version,
      startedAt,
      needs,
      more,
      connections: connections.map(
        (connection): HealthConnection => ({
          ...connection,
          detail: connection.detail === null ? null : oneLine(connection.detail, textShownUnitsMax),
          name: nameOf(connection.channel),
          heardAt: ports.roomList.heardAt(connection.channel, connection.account),
          duplicates: ports.roomList.duplicatesOf(connection.channel, connection.account),
        }),
      ),
      hosts: status.hosts,
      lanes: slotsOf(ports.config(), status, runningNodes(engine)),
      store: { ...(await diskOf(ports.storePath())), ...storeOf(status) },
      outbox: status.outbox,
      doubles: ports.roomList.duplicates,
      engine,
    };
  }

  return {
    read,
    watch(reader) {
      let over = false;
      let sent = "";
      let timer: ReturnType<Clock["setTimer"]> | null = null;
      const look = async () => {
        timer = null;
        const health = await read().catch((error: unknown) => {
          ports.log("error", "health.unreadable", { error: String(error) });
          return null;
        });
        if (over) return;
        if (health !== null) {
          const form = JSON.stringify({ ...health, now: 0 });
          if (form !== sent) reader(health);
          sent = form;
        }
        timer = clock.setTimer(clock.now() + readMs, () => void look());
      };
      void look();
      return () => {
        over = true;
        if (timer !== null) clock.clearTimer(timer);
      };
    },
  };
}

/** Each has slots of its own, and turns of all of them are counted. */
function runningNodes(engine: EngineStatus | null): number {
  const running = engine?.nodes.filter(({ state }) => state === "running").length ?? 1;
  return Math.max(1, running);
}

function slotsOf(
  { agents }: EarshotConfig,
  { lanes: slots }: RuntimeStatus,
  nodes: number,
): HealthSlots[] {
  const known = new Map(slots.map((entry) => [entry.agentId, entry]));
  return agents.list.map(({ id, name, maxConcurrent }) => ({
    agent: id,
    name: oneLine(name ?? id),
    running: known.get(id)?.running ?? 0,
    waiting: known.get(id)?.waiting ?? 0,
    slots: (maxConcurrent ?? agents.defaults.maxConcurrent) * nodes,
  }));
}

function storeOf({ store, unapplied }: RuntimeStatus) {
  const { failing, commits, lastSeq } = store;
  return {
    failing,
    commitMsP99: commits.msP99,
    rowsPerCommit: commits.rows,
    events: lastSeq,
    unapplied,
  };
}

async function diskOf(path: string | null) {
  const size = async (file: string) => (await stat(file).catch(() => null))?.size ?? null;
  if (path === null) return { bytes: null, logBytes: null };
  return { bytes: await size(path), logBytes: await size(`${path}-wal`) };
}
