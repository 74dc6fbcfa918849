/**
 * Where a turn runs again that was running when its host died and may be the cause. It gets a
 * thread of its own, so another death affects nothing else: the rooms of the host pause once, and a
 * turn that merely shared the thread with the cause is answered. The thread ends with the turn.
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../domain/limits.ts";
import type { Log } from "../../domain/ports/index.ts";
import { reasonOf } from "../host/conversation-host.ts";
import type { HostEvents, HostFactory, HostLink, TurnJob } from "../protocol/host-link.ts";
import type { LostTurn } from "../protocol/supervisor.ts";

export interface IsolationPorts {
  readonly log: Log;
  readonly events: HostEvents;
  /** Opens one thread; closed when its turn has ended. */
  open(): HostFactory;
  nextEpoch(): number;
  /** The place is free again: its turn has ended, or was lost with the thread for this reason. */
  onFree(place: number, reason: string): void;
}

/** One thread for one turn. Its number is negative, hosts count from 0. */
export class IsolatedPlace {
  readonly id: number;
  /** It gets no batches. */
  readonly awaitsReply = false;
  readonly #ports: IsolationPorts;
  #factory: HostFactory | null = null;
  #link: HostLink | null = null;
  #aborted: string | null = null;
  #ended = false;
  #done: Promise<void> = Promise.resolve();

  constructor(id: number, ports: IsolationPorts) {
    this.id = id;
    this.#ports = ports;
  }

  get link(): HostLink | null {
    return this.#link;
  }

  get free(): boolean {
    return this.#factory === null;
  }

  run(job: TurnJob): void {
    this.#factory = this.#ports.open();
    this.#aborted = null;
    this.#ended = false;
    this.#done = this.#run(this.#factory, job);
  }

  abort(turnId: string, reason: string): void {
    this.#aborted = reason;
    this.#link?.turns?.abort(turnId, reason);
  }

  async steer(turnId: string, text: string): Promise<boolean> {
    return (await this.#link?.turns?.steer(turnId, text)) ?? false;
  }

  watch(conv: number, on: boolean): void {
    this.#link?.turns?.watch(conv, on);
  }

  /** The turn has ended, and so does the thread. Resolves when it is gone. Never rejects. */
  end(): Promise<void> {
    this.#ended = true;
    this.#link?.kill("the turn has ended");
    return this.#done;
  }

  /** Ends the thread like a crash. */
  kill(reason: string): void {
    this.#link?.kill(reason);
  }

  async #run(opener: HostFactory, job: TurnJob): Promise<void> {
    const { log, events, nextEpoch } = this.#ports;
    const { turnId } = job.order;
    log("warn", "turn.isolated", { key: job.order.key, turnId, attempt: job.order.attempt });
    let reason: string;
    try {
      const link = await opener.open(this.id, nextEpoch(), events);
      this.#link = link;
      link.turns?.run(job);
      if (this.#aborted !== null) link.turns?.abort(turnId, this.#aborted);
      if (this.#ended) link.kill("the turn has ended");
      reason = await link.exited;
    } catch (error) {
      reason = reasonOf(error);
    }
    this.#link = null;
    await opener.close().catch((error: unknown) => {
      log("warn", "isolation.close-failed", { error: reasonOf(error) });
    });
    this.#factory = null;
    this.#ports.onFree(this.id, reason);
  }
}

/** The places, and the turns that belong there. */
export class Isolation {
  readonly places: readonly IsolatedPlace[];
  readonly #suspects = new LRUCache<string, true>(atMost(limits.suspectTurnsMax));

  constructor(ports: IsolationPorts) {
    const { isolatedTurnsMax } = limits;
    this.places = Array.from(
      { length: isolatedTurnsMax },
      (_, index) => new IsolatedPlace(-1 - index, ports),
    );
  }

  /** These ran on a host that died, and no event was the cause. */
  suspect(turns: readonly LostTurn[]): void {
    for (const { turnId } of turns) this.#suspects.set(turnId, true);
  }

  suspects(turnId: string): boolean {
    return this.#suspects.has(turnId);
  }

  /** A free place; undefined: the turn waits for one. */
  get free(): IsolatedPlace | undefined {
    return this.places.find(({ free }) => free);
  }

  at(place: number): IsolatedPlace | undefined {
    return this.places.find(({ id }) => id === place);
  }

  async stop(): Promise<void> {
    await Promise.all(this.places.map((place) => place.end()));
  }
}
