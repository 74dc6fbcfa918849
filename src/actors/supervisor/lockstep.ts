/**
 * Rounds
 * ======
 * How a simulation stays the same whatever the number of hosts. Everything dispatched so far is
 * sent as one round; while it is out nothing joins it; when every host has answered, the answers
 * are merged in journal order and made durable in one go. The next round waits until the main
 * thread has nothing more to do, so threads that answer fast or slow cannot change what comes
 * first.
 */

import type { HostEntry } from "../protocol/host-protocol.ts";
import type { Scheduling } from "../util/scheduling.ts";
import { idlePriorities, nextEventLoopTurn } from "../util/scheduling.ts";
import type { Answer, ResultQueue } from "./result-queue.ts";
import type { SupervisedHost } from "./supervised-host.ts";

export interface LockstepPorts {
  readonly hosts: readonly SupervisedHost[];
  readonly line: ResultQueue;
  readonly route: (entry: HostEntry) => void;
  /** Grows with everything that happens on the main thread. */
  readonly activity: () => number;
  /** Resolves at the next change of any host or of the line. */
  readonly change: () => Promise<void>;
  readonly onChange: () => void;
  readonly pace?: Scheduling | undefined;
}

/** Turns of the event loop without any activity that count as quiet. */
const quietTicks = 4;

export class Lockstep {
  readonly #ports: LockstepPorts;
  #next: HostEntry[] = [];
  #answers: Answer[] = [];
  #wanted = false;
  #running = false;
  #dispatches = 0;

  constructor(ports: LockstepPorts) {
    this.#ports = ports;
  }

  get busy(): boolean {
    return this.#next.length > 0 || (this.#running && !this.#ports.line.stalled);
  }

  add(entries: readonly HostEntry[]): void {
    for (const entry of entries) this.#next.push(entry);
    this.#dispatches += 1;
    this.want();
  }

  answer(answer: Answer): void {
    this.#answers.push(answer);
  }

  /** Something other than events waits to be sent. */
  want(): void {
    this.#wanted = true;
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#wanted) {
      this.#wanted = false;
      await this.#quiet();
      for (const entry of this.#next.splice(0)) this.#ports.route(entry);
      await this.#out();
      await this.#durable();
    }
    this.#running = false;
    this.#ports.onChange();
  }

  async #quiet(): Promise<void> {
    const { pace } = this.#ports;
    if (pace?.straight === true) return;
    if (pace?.still !== undefined) return pace.still(idlePriorities.round);
    let seen = -1;
    for (let still = 0; still < quietTicks; still += 1) {
      const now = this.#ports.activity() + this.#dispatches;
      if (now !== seen) still = 0;
      seen = now;
      await nextEventLoopTurn(pace);
    }
  }

  /** Sends until every host has answered everything that can be answered now. */
  async #out(): Promise<void> {
    for (;;) {
      for (const host of this.#ports.hosts) host.traffic.pump();
      if (!this.#ports.hosts.some(({ traffic }) => traffic.busy)) return;
      await this.#ports.change();
    }
  }

  async #durable(): Promise<void> {
    const answers = this.#answers.splice(0);
    if (answers.length === 0) return;
    answers.sort((a, b) => (a.entries[0]?.seq ?? 0) - (b.entries[0]?.seq ?? 0));
    this.#ports.line.push(...answers);
    while (!this.#ports.line.empty) await this.#ports.change();
    // Held back until these were durable.
    if (this.#ports.hosts.some(({ traffic }) => traffic.busy)) this.#wanted = true;
  }
}
