/**
 * Inspections, as the supervisor keeps them
 * =========================================
 * Who looks into which conversations, over all hosts and their incarnations: every host is told of
 * every order and answers for the conversations that live there, and one that has just been started
 * again is told anew. Nobody looking, nothing said to any host.
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

  constructor(hosts: readonly Host[], tell: (report: InspectReport) => void = () => undefined) {
    this.#hosts = hosts;
    this.#report = tell;
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

  /** What a host has to tell; of an incarnation that is gone nothing is wanted. */
  received(host: number, frames: readonly InspectFrame[]): void {
    const { link } = this.#hosts[host] as Host;
    if (link !== null) this.#report({ host, epoch: link.epoch, frames });
  }
}
