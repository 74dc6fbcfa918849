/**
 * Collects what the Health page shows: runtime, connections, outbox, disk. While a page watches, it
 * is read once a second and sent when it has changed; otherwise never.
 */
import { stat } from "node:fs/promises";
import type { ConnectionStatus } from "../../actors/channels/account-connection.ts";
import { givenUp } from "../../actors/outbox/types.ts";
import type { RuntimeStatus } from "../../actors/protocol/runtime.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Millis } from "../../domain/message.ts";
import type { ChannelDefinition, Clock, Log, OutboxRow, Store } from "../../domain/ports/index.ts";
import { oneLine, plainText } from "../../domain/sanitize.ts";
import type { Health, HealthConnection, HealthSlots, Need } from "../api-types/health.ts";

/** What the list of rooms knows. */
export interface RoomFacts {
  /** When an account last brought a message; 0: not since the start. */
  heardAt(channel: string, account: string): Millis;
  /** Copies of messages that an account brought since the start. */
  duplicatesOf(channel: string, account: string): number;
  /** Copies of messages received since the start. */
  readonly duplicates: number;
  /** A room's name for people; complete once `load` has read the store. */
  titleOf(key: string): string;
  load(): Promise<void>;
}

export interface HealthPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "outboxByState">;
  readonly version: string;
  readonly config: () => EarshotConfig;
  readonly channels: ReadonlyMap<string, ChannelDefinition>;
  readonly status: () => RuntimeStatus;
  readonly connections: () => readonly ConnectionStatus[];
  readonly roomList: RoomFacts;
  /** The store's file; null: nothing is stored on disk. */
  readonly storePath: () => string | null;
}

export interface HealthService {
  read(): Promise<Health>;
  /** Calls `reader` now and after each change, at most once a second. The result ends it. */
  watch(reader: (health: Health) => void): () => void;
}

const readMs = 1_000;
const needsShownMax = 50;
const textShownUnitsMax = 160;
/** Longer than other texts, because the cause is at the end of the error. */
const causeShownUnitsMax = 320;

export function createHealth(ports: HealthPorts): HealthService {
  const { clock } = ports;
  const startedAt = clock.now();
  const nameOf = (channel: string) => ports.channels.get(channel)?.meta.name ?? oneLine(channel);

  async function read(): Promise<Health> {
    const status = ports.status();
    const connections = ports.connections();
    const needs = await needsOf(ports, status, connections, nameOf);
    return {
      now: clock.now(),
      version: ports.version,
      startedAt,
      needs: needs.slice(0, needsShownMax),
      more: Math.max(0, needs.length - needsShownMax),
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
      lanes: slotsOf(ports.config(), status),
      store: { ...(await diskOf(ports.storePath())), ...storeOf(status) },
      outbox: status.outbox,
      doubles: ports.roomList.duplicates,
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

async function needsOf(
  { store, roomList }: HealthPorts,
  status: RuntimeStatus,
  connections: readonly ConnectionStatus[],
  nameOf: (channel: string) => string,
): Promise<Need[]> {
  const rows = await store.outboxByState(["in-doubt", "dead"], 2 * needsShownMax);
  if (rows.length + status.quarantined.length > 0) await roomList.load();
  const deliveries = rows.flatMap((row): Need[] => deliveryOf(row, roomList) ?? []);
  const halted = connections.filter(({ state }) => state === "halted");
  return [
    ...(status.problem === null ? [] : [{ kind: "daemon", problem: status.problem } as const]),
    ...deliveries,
    ...halted.map(
      ({ channel, account, since, detail }): Need => ({
        kind: "connection",
        channel,
        account,
        since,
        name: nameOf(channel),
        detail: detail === null ? null : oneLine(detail, textShownUnitsMax),
      }),
    ),
    ...status.quarantined.map(
      ({ key, seq, at, tries, error }): Need => ({
        kind: "quarantine",
        key,
        seq,
        at,
        tries,
        room: roomList.titleOf(key),
        error: oneLine(error, causeShownUnitsMax),
      }),
    ),
    ...status.unsaid.map(
      ({ name, origin, due, why }): Need => ({
        kind: "schedule",
        name,
        origin,
        due,
        why: oneLine(why, causeShownUnitsMax),
      }),
    ),
  ];
}

/**
 * A failed reaction needs no attention, nor does a delivery that was given up on request.
 */
function deliveryOf(row: OutboxRow, { titleOf }: Pick<RoomFacts, "titleOf">): [Need] | null {
  const { id, key, kind, state, createdAt, body, error } = row;
  if (kind === "react" || kind === "unreact" || error?.startsWith(givenUp)) return null;
  if (state !== "in-doubt" && state !== "dead") return null;
  const { text } = JSON.parse(body) as { text?: string };
  const need: Need = {
    kind: "delivery",
    id,
    state,
    key,
    room: titleOf(key),
    at: createdAt,
    text: oneLine(plainText(text ?? ""), textShownUnitsMax),
    error: error === null ? null : oneLine(error, textShownUnitsMax),
  };
  return [need];
}

function slotsOf({ agents }: EarshotConfig, { lanes: slots }: RuntimeStatus): HealthSlots[] {
  const known = new Map(slots.map((entry) => [entry.agentId, entry]));
  return agents.list.map(({ id, name, maxConcurrent }) => ({
    agent: id,
    name: oneLine(name ?? id),
    running: known.get(id)?.running ?? 0,
    waiting: known.get(id)?.waiting ?? 0,
    slots: maxConcurrent ?? agents.defaults.maxConcurrent,
  }));
}

function storeOf({ store }: RuntimeStatus) {
  const { failing, commits, lastSeq } = store;
  return {
    failing,
    commitMsP99: commits.msP99,
    rowsPerCommit: commits.rows,
    events: lastSeq,
  };
}

async function diskOf(path: string | null) {
  const size = async (file: string) => (await stat(file).catch(() => null))?.size ?? null;
  if (path === null) return { bytes: null, logBytes: null };
  return { bytes: await size(path), logBytes: await size(`${path}-wal`) };
}
