/**
 * Ends hosts that hang. A host whose answer is pending and whose heartbeat did not move at any
 * check for `loopMs` is killed. Checks are counted, not time: if this thread itself was blocked, it
 * reads the waiting answers before the next check, and no host is killed for that pause. A check
 * also counts only as much as the thread could have worked since the one before, so a host that
 * waits for a processor does not count as hanging. One that waits for something else may wait for a
 * thread that has no processor, such as those that help V8 to collect garbage, so its time counts as far as
 * this process had the processors that it wanted. Time in which the whole process stood still (SIGSTOP,
 * a sleeping machine) counts for nobody: of a late check only the processor time counts.
 */
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { HostLink } from "../protocol/host-link.ts";
import { type ProcessWork, processWork, type ThreadWork } from "../protocol/thread-state.ts";

/** A host, or the thread of one isolated turn. */
export interface Watched {
  readonly id: number;
  readonly link: HostLink | null;
  /** Whether its answer to a batch is pending. */
  readonly awaitsReply: boolean;
  kill(reason: string): void;
}

const checksPerLoop = 5;
/** A thread that loads its agents' modules may take this many times as long. */
const loadingFactor = 20;

/** A host at the last check. */
interface Seen {
  readonly epoch: number;
  readonly beats: number;
  readonly work: ThreadWork | null;
  /** Checks since the heartbeat moved, each by its weight. */
  readonly silentChecks: number;
}

interface Check {
  /** Monotonic, ms. */
  readonly at: number;
  readonly work: ProcessWork;
}

export class Watchdog {
  readonly #clock: Clock;
  readonly #hosts: readonly Watched[];
  readonly #loopMs: number;
  readonly #turnsOn: (host: number) => number;
  readonly #work: () => ProcessWork;
  readonly #seen = new Map<number, Seen>();
  /** The last check that had hosts to look at; null when there were none. */
  #last: Check | null = null;
  #timer: TimerHandle | null = null;

  constructor(
    clock: Clock,
    hosts: readonly Watched[],
    loopMs: number,
    turnsOn: (host: number) => number,
    work: () => ProcessWork = processWork,
  ) {
    this.#clock = clock;
    this.#hosts = hosts;
    this.#loopMs = loopMs;
    this.#turnsOn = turnsOn;
    this.#work = work;
  }

  get #pauseMs(): number {
    return this.#loopMs / checksPerLoop;
  }

  start(): void {
    this.#timer = this.#clock.setTimer(this.#clock.now() + this.#pauseMs, () => {
      this.#look();
      this.start();
    });
  }

  stop(): void {
    if (this.#timer !== null) this.#clock.clearTimer(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    const works = this.#hosts.some((host) => this.#owesBeat(host));
    const last = this.#last;
    this.#last = works ? { at: this.#clock.monotonic(), work: this.#work() } : null;
    // Who is looked at for the first time has not been silent yet.
    const hadMs = last === null || this.#last === null ? 0 : this.#hadMs(last, this.#last);
    for (const host of this.#hosts) this.#check(host, hadMs);
  }

  /** Whether its silence would mean something. */
  #owesBeat(host: Watched): boolean {
    return host.link !== null && (host.awaitsReply || this.#turnsOn(host.id) > 0);
  }

  /** The time between two checks that a thread which waits, or what it waits for, may have had, ms. */
  #hadMs(last: Check, now: Check): number {
    const cpuMs = now.work.cpuMs - last.work.cpuMs;
    const late = now.at - last.at > 2 * this.#pauseMs;
    const had = late ? Math.min(this.#pauseMs, cpuMs) : this.#pauseMs;
    // A thread that has ended takes what it waited with it.
    const waitedMs = Math.max(0, now.work.waitedMs - last.work.waitedMs);
    return waitedMs === 0 ? had : had * (cpuMs / (cpuMs + waitedMs));
  }

  #check(host: Watched, hadMs: number): void {
    const { link } = host;
    if (link === null || !this.#owesBeat(host)) {
      this.#seen.delete(host.id);
      return;
    }
    const beats = link.heartbeat.beats();
    const before = this.#seen.get(host.id);
    const same = before !== undefined && before.epoch === link.epoch && before.beats === beats;
    const work = link.work?.() ?? null;
    const silentChecks = same
      ? before.silentChecks + weightOf(before.work, work, this.#pauseMs, hadMs)
      : 0;
    this.#seen.set(host.id, { epoch: link.epoch, beats, work, silentChecks });
    if (silentChecks > checksPerLoop * (link.heartbeat.isPaused() ? loadingFactor : 1))
      host.kill(`hung for ${this.#loopMs} ms`);
    // Between steps only an answered ping moves the heartbeat.
    else if (silentChecks === 0) link.ping();
  }
}

/** The share of the time between two checks that a thread could have worked, from 0 to 1. */
function weightOf(
  before: ThreadWork | null,
  now: ThreadWork | null,
  pauseMs: number,
  hadMs: number,
): number {
  // A thread that waits for something other than a processor is not delayed by the machine.
  if (before === null || now === null || !now.runnable) return hadMs / pauseMs;
  return Math.max(0, Math.min(1, (now.cpuMs - before.cpuMs) / pauseMs));
}
