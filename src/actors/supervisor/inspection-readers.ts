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

interface Seen {
  readonly epoch: number;
  /** By reader: the state of each actor, as JSON. */
  readonly readers: Map<number, Map<string, string>>;
}

export class InspectionOrders {
  readonly #orders = new Map<number, InspectRequest>();
  readonly #hosts: readonly Host[];
  readonly #report: (report: InspectReport) => void;
  /** Per host, what each reader saw last of each actor. Only while there are readers. */
  readonly #seen = new Map<number, Seen>();

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
    for (const { readers } of this.#seen.values()) readers.delete(reader);
    for (const { link } of this.#hosts) link?.uninspect(reader);
  }

  /** A host answers. */
  ready({ link }: Host): void {
    for (const order of this.#orders.values()) link?.inspect(order);
  }

  /** Frames of a host; frames of an older epoch are ignored. */
  received(host: number, frames: readonly InspectFrame[]): void {
    const { link } = this.#hosts[host] as Host;
    if (link === null) return;
    this.#note(host, link.epoch, frames);
    this.#report({ host, epoch: link.epoch, frames });
  }

  /** A host ended without a last word: its actors are shown as stopped, with the reason. */
  lost(host: number, reason: string): void {
    const seen = this.#seen.get(host);
    if (seen === undefined) return;
    this.#seen.delete(host);
    const eventJson = JSON.stringify({ type: "xstate.stop", reason });
    const frames = [...seen.readers].flatMap(([reader, actors]) =>
      [...actors].map(([actor, last]): InspectFrame => {
        const snapshotJson = JSON.stringify({ ...JSON.parse(last), status: "stopped" });
        return { kind: "snapshot", readers: [reader], actor, eventJson, snapshotJson };
      }),
    );
    if (frames.length > 0) this.#report({ host, epoch: seen.epoch, frames });
  }

  #note(host: number, epoch: number, frames: readonly InspectFrame[]): void {
    let seen = this.#seen.get(host);
    if (seen === undefined || seen.epoch !== epoch) {
      seen = { epoch, readers: new Map() };
      this.#seen.set(host, seen);
    }
    for (const frame of frames) {
      if (frame.kind === "event") continue;
      const isEnd = frame.kind === "snapshot" && frame.eventJson.startsWith('{"type":"xstate.');
      for (const reader of frame.readers) {
        if (!this.#orders.has(reader)) continue;
        const actors = seen.readers.get(reader) ?? new Map<string, string>();
        seen.readers.set(reader, actors);
        if (isEnd) actors.delete(frame.actor);
        else actors.set(frame.actor, frame.snapshotJson);
      }
    }
  }
}
