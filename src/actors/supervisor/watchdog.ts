/**
 * The watchdog
 * ============
 * Ends hosts that hang. A host that owes something and whose pulse stood still at every look for
 * `loopMs` is killed. Looks are counted, not time: if this thread itself was held up, the answers
 * that wait for it are read before the next look, and nobody is killed for our own pause. Nor for
 * the machine's: a look counts for as much as the thread could have worked since the one before, so
 * a host that waits for a processor is not taken for one that hangs.
 */
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { HostLink } from "../protocol/host-link.ts";
import type { ThreadWork } from "../protocol/thread-state.ts";

/** A host, or the thread of one isolated turn. */
export interface Watched {
  readonly id: number;
  readonly link: HostLink | null;
  /** Whether it owes an answer to a batch. */
  readonly awaitsReply: boolean;
  kill(reason: string): void;
}

const checksPerLoop = 5;
/** A thread that loads its agents' modules may take this many times as long. */
const loadingFactor = 20;

/** A host at the last look. */
interface Seen {
  readonly epoch: number;
  readonly beats: number;
  readonly work: ThreadWork | null;
  /** Looks since the pulse moved, each by its weight. */
  readonly still: number;
}

export class Watchdog {
  readonly #clock: Clock;
  readonly #hosts: readonly Watched[];
  readonly #loopMs: number;
  readonly #turnsOn: (host: number) => number;
  readonly #seen = new Map<number, Seen>();
  #timer: TimerHandle | null = null;

  constructor(
    clock: Clock,
    hosts: readonly Watched[],
    loopMs: number,
    turnsOn: (host: number) => number,
  ) {
    this.#clock = clock;
    this.#hosts = hosts;
    this.#loopMs = loopMs;
    this.#turnsOn = turnsOn;
  }

  get #pauseMs(): number {
    return this.#loopMs / checksPerLoop;
  }

  start(): void {
    this.#timer = this.#clock.setTimer(this.#clock.now() + this.#pauseMs, () => {
      for (const host of this.#hosts) this.#check(host);
      this.start();
    });
  }

  stop(): void {
    if (this.#timer !== null) this.#clock.clearTimer(this.#timer);
    this.#timer = null;
  }

  #check(host: Watched): void {
    const { link } = host;
    const runs = this.#turnsOn(host.id) > 0;
    if (link === null || (!host.awaitsReply && !runs)) {
      this.#seen.delete(host.id);
      return;
    }
    const beats = link.heartbeat.beats();
    const before = this.#seen.get(host.id);
    const same = before !== undefined && before.epoch === link.epoch && before.beats === beats;
    const work = link.work?.() ?? null;
    const still = same ? before.still + weightOf(before.work, work, this.#pauseMs) : 0;
    this.#seen.set(host.id, { epoch: link.epoch, beats, work, still });
    if (still > checksPerLoop * (link.heartbeat.isPaused() ? loadingFactor : 1))
      host.kill(`hung for ${this.#loopMs} ms`);
    // Between steps only an answered ping moves the pulse.
    else if (still === 0) link.ping();
  }
}

/** How much of the time between two looks a thread has had, from 0 to 1. */
function weightOf(before: ThreadWork | null, now: ThreadWork | null, pauseMs: number): number {
  // What waits for something else than a processor is not kept from answering by the machine.
  if (before === null || now === null || !now.runnable) return 1;
  return Math.max(0, Math.min(1, (now.cpuMs - before.cpuMs) / pauseMs));
}
