/**
 * What inspectors show of the conversations of all nodes
 * ======================================================
 * Conversations that are active here report their own machines. Those that are active elsewhere are replayed from the
 * copy, row by row as it comes, and the replayed machine is inspected: events and states are the same, as the
 * machine is pure. Deliveries that another node makes take the steps that lead to what the copy has of them: nothing is
 * said between the nodes for it.
 */
import { HostInspection } from "../../actors/host/host-inspector.ts";
import { createConfigHistory } from "../../actors/journal/config-versions.ts";
import {
  type ReplayedConversation,
  replayConversation,
} from "../../actors/journal/replayed-conversation.ts";
import { stepsBetween } from "../../actors/outbox/delivery-steps.ts";
import type { Runtime } from "../../actors/protocol/runtime.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import { hash52 } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type {
  DeliveryChange,
  EventRow,
  InspectReport,
  InspectRequest,
  Log,
  MirrorStore,
  SideStep,
} from "../../domain/ports/index.ts";

type Inspectable = Pick<Runtime, "inspect" | "uninspect">;

export interface InspectionPorts {
  readonly log: Log;
  readonly config: () => EarshotConfig;
  /** Null: what is active elsewhere is not shown here. */
  readonly mirror: Pick<MirrorStore, "conversation" | "tail" | "overview" | "config"> | null;
  /** Runtimes of conversations that are active here, by their number. */
  readonly active: ReadonlyMap<number, Inspectable>;
  readonly report: (report: InspectReport) => void;
  /** A delivery of another node has made a step. */
  readonly stepped: (step: SideStep) => void;
}

export interface Inspections extends Inspectable {
  /** A runtime here has started. */
  started(conv: number, runtime: Inspectable): void;
  /** The copy has other rows of these conversations, or they became active elsewhere. */
  changed(keys: readonly string[]): void;
  /** The copy has other rows of what other nodes send; they are asked for only while there are readers. */
  readonly deliveries: {
    isWatched(): boolean;
    changed(changes: readonly DeliveryChange[]): void;
  };
}

export function createInspections(ports: InspectionPorts): Inspections {
  const { mirror, active } = ports;
  const orders = new Map<number, InspectRequest>();
  const elsewhere = mirror === null ? null : new Elsewhere({ ...ports, mirror, orders });
  return {
    inspect(order) {
      orders.set(order.id, order);
      for (const [conv, runtime] of active) if (concerns(order, conv)) runtime.inspect(order);
      elsewhere?.begin(order);
    },
    uninspect(reader) {
      if (!orders.delete(reader)) return;
      for (const runtime of active.values()) runtime.uninspect(reader);
      elsewhere?.stop(reader);
    },
    started(conv, runtime) {
      for (const order of orders.values()) if (concerns(order, conv)) runtime.inspect(order);
      elsewhere?.changed([conv]);
    },
    changed(keys) {
      if (orders.size > 0) elsewhere?.changed(keys.map(hash52));
    },
    deliveries: {
      isWatched: () => orders.size > 0,
      changed(changes) {
        for (const { before, after } of changes)
          for (const step of stepsBetween(before, after)) ports.stepped(step);
      },
    },
  };
}

const concerns = (order: InspectRequest, conv: number) =>
  order.conv === null || order.conv === conv;

/** A conversation that is active on another node. */
interface Replayed extends ReplayedConversation {
  /** Its last row. */
  seq: number;
}

interface ElsewherePorts extends InspectionPorts {
  readonly mirror: NonNullable<InspectionPorts["mirror"]>;
  /** Of the readers that there are. */
  readonly orders: ReadonlyMap<number, InspectRequest>;
}

class Elsewhere {
  readonly #ports: ElsewherePorts;
  readonly #inspection: HostInspection;
  readonly #configs;
  readonly #shown = new Map<number, Replayed>();
  /** One thing after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(ports: ElsewherePorts) {
    this.#ports = ports;
    this.#configs = createConfigHistory(ports.mirror, ports.config);
    this.#inspection = new HostInspection((frames) => {
      ports.report({ host: 0, epoch: 0, frames });
    });
  }

  begin(order: InspectRequest): void {
    this.#inspection.begin(order, this.#slots());
    const convs = order.conv === null ? this.#ports.mirror.overview().open : [order.conv];
    this.changed(convs);
  }

  stop(reader: number): void {
    this.#inspection.stop(reader);
    this.changed([...this.#shown.keys()]);
  }

  changed(convs: readonly number[]): void {
    for (const conv of convs)
      this.#last = this.#last
        .then(() => this.#follow(conv))
        .catch((error: unknown) => {
          this.#end(conv, String(error));
          this.#ports.log("warn", "mirror.not-inspected", { error: String(error) });
        });
  }

  *#slots() {
    for (const [conv, { conversation }] of this.#shown)
      yield { conv, key: conversation.key, actor: conversation };
  }

  async #follow(conv: number): Promise<void> {
    const { mirror, active, orders } = this.#ports;
    const isWanted = [...orders.values()].some((order) => concerns(order, conv));
    const row = isWanted && !active.has(conv) ? await mirror.conversation(conv) : null;
    if (row === null) return this.#end(conv);
    const from = this.#shown.get(conv)?.seq ?? row.recordSeq;
    const rows = (await mirror.tail(conv, from)).filter(({ code }) => code !== null);
    await this.#configs.load(rows.map(({ cfg }) => cfg));
    const shown = this.#shown.get(conv) ?? (await this.#load(conv, row, rows));
    for (const one of rows) {
      shown?.step(one);
      if (shown !== null) shown.seq = one.seq;
    }
    // Its record covers all, as far as anybody knows here, or rows that are not here: it rests, or was not followed.
    if (shown !== null && shown.seq <= row.recordSeq) this.#end(conv);
    this.#inspection.flush();
  }

  /** Null: there is nothing to show, or as much as is shown at once. */
  async #load(
    conv: number,
    { key, record, recordSeq }: { key: string; record: string | null; recordSeq: number },
    rows: readonly EventRow[],
  ): Promise<Replayed | null> {
    if (rows.length === 0 || this.#shown.size >= limits.inspectActorsMax) return null;
    const start = { key, record, version: rows[0]?.cfg ?? 0 };
    const replayed = await replayConversation(this.#configs, start);
    const shown = { ...replayed, seq: recordSeq };
    this.#shown.set(conv, shown);
    this.#inspection.appeared({ conv, key, actor: replayed.conversation });
    return shown;
  }

  #end(conv: number, error?: string): void {
    const shown = this.#shown.get(conv);
    if (shown === undefined) return;
    this.#shown.delete(conv);
    this.#inspection.ended(conv, error);
    this.#inspection.flush();
    shown.conversation.stop();
  }
}
