/**
 * Which reader inspects which conversations, over all hosts and their epochs: every host gets every
 * request and answers for its own conversations, and a restarted host gets the requests again.
 * Without readers no host gets any.
 */
import type { InspectFrame, InspectReport, InspectRequest } from "../../domain/ports/index.ts";
import type { HostLink } from "../protocol/host-link.ts";

interface Host {
  readonly id: number;
  readonly link: HostLink | null;
}

export class InspectionOrders {
  readonly #orders = new Map<number, InspectRequest>();
  readonly #hosts: readonly Host[];
  readonly #report: (report: InspectReport) => void;

  constructor(hosts: readonly Host[], report: (report: InspectReport) => void = () => undefined) {
    this.#hosts = hosts;
    this.#report = report;
  }

  begin(order: InspectRequest): void {
    this.#orders.set(order.id, order);
    for (const { link } of this.#hosts) link?.inspect(order);
  }

  stop(reader: number): void {
    if (!this.#orders.delete(reader)) return;
    for (const { link } of this.#hosts) link?.uninspect(reader);
  }

  /** A host answers. */
  ready({ link }: Host): void {
    for (const order of this.#orders.values()) link?.inspect(order);
  }

  /** Frames of a host; frames of an older epoch are ignored. */
  received(host: number, frames: readonly InspectFrame[]): void {
    const { link } = this.#hosts[host] as Host;
    if (link !== null) this.#report({ host, epoch: link.epoch, frames });
  }
}
