/**
 * The schedules of all nodes, on a node
 * =====================================
 * Their entries are rows that all nodes share. The node that holds a lease says them; without leases there is only
 * one node.
 */
import type { SharedSchedules } from "../../../actors/protocol/schedules.ts";
import type { ConnectionLeases, Lease, WantedLease } from "../../../domain/ports/index.ts";
import { createSharedTable, type SharedPorts } from "./table.ts";
import { type SharedRow, scheduleService } from "./wire.ts";

/** Of the node that says them: as an account of a channel that there is not. */
export const leaseName = ["earshot", "schedules"] as const;

export interface NodeSchedulesPorts extends SharedPorts {
  /** Null: this is the only node. */
  readonly leases: ConnectionLeases | null;
}

export interface NodeSchedules extends SharedSchedules {
  /** Reads what there is. Rows of `own` are given to all nodes when there are none yet. */
  load(own: readonly { readonly name: string; readonly body: string }[]): Promise<void>;
  /** Wants to say them, and begins to look for changes. */
  start(): void;
  /** Says them no more. */
  stop(): Promise<void>;
}

export function createNodeSchedules(ports: NodeSchedulesPorts): NodeSchedules {
  const { leases } = ports;
  const rows = new Map<string, string>();
  let changed: () => void = () => undefined;
  let held: Lease | null = null;
  let holder: string | null = null;
  let wanted: WantedLease | null = null;

  function learn(found: readonly SharedRow[]): void {
    for (const { name, body } of found)
      if (body === null) rows.delete(name);
      else rows.set(name, body);
  }
  const table = createSharedTable({
    ...ports,
    service: scheduleService,
    onChanged(found) {
      learn(found);
      changed();
    },
  });

  return {
    async load(own) {
      learn(await table.load(own));
    },
    start() {
      table.start();
      wanted =
        leases?.want(...leaseName, {
          onHeld(lease) {
            held = lease;
            holder = lease.holder.node;
            changed();
          },
          onLost() {
            held = null;
            holder = null;
            changed();
          },
          onHolder(other) {
            holder = other?.node ?? null;
          },
        }) ?? null;
    },
    async stop() {
      table.stop();
      await wanted?.giveBack();
    },
    row: async (name) => rows.get(name) ?? null,
    async keep(writes, basis) {
      const stored = writes.map(({ name, value }) => ({ name, body: value === "" ? null : value }));
      const isKept = await table.change(stored, basis);
      if (isKept) learn(stored);
      return isKept;
    },
    basis: table.version,
    all: () => rows,
    refresh: table.refresh,
    isOurs: () => leases === null || held?.isValid() === true,
    sayer: () => holder,
    follow(listener) {
      changed = listener;
    },
  };
}
