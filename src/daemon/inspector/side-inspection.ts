/**
 * Deliveries, hosts and connections for inspectors
 * ================================================
 * Their machines live on the main thread, which reports their steps. A reader of everything is shown
 * the hosts and connections as they are and whatever steps from then on; a reader of one conversation
 * its deliveries only. Why something happened is text, as in a conversation.
 */
import { limits } from "../../domain/limits.ts";
import type {
  InspectFrame,
  InspectRequest,
  SideReport,
  SideStep,
} from "../../domain/ports/index.ts";

export class SideInspection {
  readonly #readers = new Map<number, InspectRequest>();
  /** Hosts and connections as they are. */
  readonly #known = new Map<string, SideStep>();
  /** Deliveries that readers have been shown. */
  readonly #shown = new Set<string>();
  readonly #report: (report: SideReport) => void;

  constructor(report: (report: SideReport) => void) {
    this.#report = report;
  }

  begin(order: InspectRequest): void {
    this.#readers.set(order.id, order);
    if (order.conv !== null) return;
    for (const step of this.#known.values()) this.#send(step, [frameOf(step, [order], "actor")]);
  }

  stop(reader: number): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.#shown.clear();
  }

  stepped(step: SideStep): void {
    const { machine, id, conv, ended } = step;
    const isNew = machine === "delivery" ? !this.#shown.has(id) : !this.#known.has(nameOf(step));
    if (machine !== "delivery") this.#known.set(nameOf(step), step);
    if (this.#readers.size === 0) return;
    if (machine === "delivery") this.#remember(id, ended);
    const all = [...this.#readers.values()].filter((one) => one.conv === null || one.conv === conv);
    for (const withText of [false, true]) {
      const readers = all.filter((one) => one.withText === withText);
      if (readers.length === 0) continue;
      const kinds = isNew ? (["actor", "snapshot"] as const) : (["event", "snapshot"] as const);
      this.#send(
        step,
        kinds.map((kind) => frameOf(step, readers, kind)),
      );
    }
  }

  #remember(id: string, ended: boolean): void {
    if (ended) {
      this.#shown.delete(id);
      return;
    }
    this.#shown.add(id);
    const [oldest] = this.#shown;
    if (this.#shown.size > limits.inspectFramesMax && oldest !== undefined)
      this.#shown.delete(oldest);
  }

  #send({ machine }: SideStep, frames: readonly InspectFrame[]): void {
    this.#report({ machine, frames });
  }
}

const nameOf = ({ machine, id }: SideStep): string => `${machine} ${id}`;

/** All readers of a frame see texts, or none does. */
function frameOf(
  step: SideStep,
  orders: readonly InspectRequest[],
  kind: "actor" | "event" | "snapshot",
): InspectFrame {
  const { id, event, value, context, detail, ended } = step;
  const withText = orders[0]?.withText === true;
  const why = detail === null || withText ? detail : `(${detail.length} characters, not shown)`;
  const status = ended ? "done" : "active";
  const common = { readers: orders.map((order) => order.id), actor: id };
  const snapshotJson = JSON.stringify({ status, value, context: { ...context, detail: why } });
  const eventJson = JSON.stringify({ type: event });
  if (kind === "actor") return { kind, ...common, key: nameOf(step), snapshotJson };
  return kind === "event"
    ? { kind, ...common, eventJson }
    : { kind, ...common, eventJson, snapshotJson };
}
