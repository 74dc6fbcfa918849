/**
 * Time and timers of this machine
 * ===============================
 * Wall time as it was when the process started, continued by the monotonic clock: if somebody sets
 * the machine's clock, nothing that waits fires early, late or never. The difference is made up
 * slowly, so the time never goes back and a wait is at most a tenth longer or shorter.
 * Time that the machine slept has passed, and is added at once. All threads of the process have the
 * same time.
 */
import { uptime } from "node:os";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import { runTimeLimit } from "./time-limit.ts";

/** The longest sleep before looking at the time again, ms: timers do not count a machine's sleep. */
const sliceMsMax = 30_000;
/** Share of the passing time by which a difference to the wall clock is made up. */
const slewRate = 0.1;
/** A smaller difference to the wall clock is none, ms. */
const gapMsMin = 5;
/** A difference that changed by this much in ms is looked into. */
const stepMsMin = 1_000;
/** From here on the clock was not set until now (a machine without a battery); ms. */
const unsetMsMin = 86_400_000;
const sharedName = "earshot.clock";

interface ProcessTime {
  readonly now: () => number;
  readonly offset: Float64Array;
}

interface SystemTimer extends TimerHandle {
  timeout: NodeJS.Timeout | null;
}

/** The clocks that the time of this process is computed from; tests replace them. */
export interface TimeSource {
  /** Wall time in ms. */
  wall(): number;
  /** ms since an arbitrary start, the same for all threads; stands still while the machine sleeps. */
  monotonic(): number;
  /** ms since the machine started, sleep included. */
  machine(): number;
}

/** The machine's wall clock as it is set. */
export const wallTime = (): number => Date.now();

const ofMachine: TimeSource = {
  wall: () => Date.now(),
  monotonic() {
    const [seconds, nanos] = process.hrtime();
    return seconds * 1_000 + nanos / 1_000_000;
  },
  machine: () => uptime() * 1_000,
};

/** Wall time that only goes forward. `offset[0]`: its difference to the monotonic clock. */
export function createSteadyTime(
  { wall, monotonic, machine }: TimeSource,
  offset: Float64Array,
): () => number {
  let last = monotonic();
  offset[0] = wall() - last;
  let awake = machine() - last;
  let knownGap = 0;

  /** Sleep since the last look. */
  function slept(at: number): number {
    const ms = machine() - at - awake;
    if (ms < stepMsMin) return 0;
    awake += ms;
    return ms;
  }

  return () => {
    const at = monotonic();
    const elapsed = at - last;
    last = at;
    let time = at + (offset[0] ?? 0);
    let gap = wall() - time;
    if (Math.abs(gap - knownGap) > stepMsMin) {
      const ms = slept(at);
      if (gap >= unsetMsMin) time += gap;
      else time += ms;
      gap = wall() - time;
      knownGap = gap;
    }
    if (Math.abs(gap) > gapMsMin) {
      const most = elapsed * slewRate;
      const made = Math.max(-most, Math.min(most, gap));
      time += made;
      knownGap -= made;
    }
    offset[0] = time - at;
    return Math.floor(time);
  };
}

/**
 * Lets the time go on from `time`, which is known to have been, if it is behind that: somebody set the
 * machine's clock back while nothing ran, and what is due would be late by as much. The difference is
 * made up slowly, as always. A day or more is no such difference: the clock was wrong before.
 */
export function goOnFrom(now: () => number, offset: Float64Array, time: number): void {
  const behind = time - now();
  if (behind > 0 && behind < unsetMsMin) offset[0] = (offset[0] ?? 0) + behind;
}

/** The time of this process: the first thread that asks keeps it, the threads it starts read it. */
function processTime(): ProcessTime {
  const shared = getEnvironmentData(sharedName);
  if (shared instanceof SharedArrayBuffer) {
    const offset = new Float64Array(shared);
    return { offset, now: () => Math.floor(ofMachine.monotonic() + (offset[0] ?? 0)) };
  }
  const buffer = new SharedArrayBuffer(8);
  setEnvironmentData(sharedName, buffer);
  const offset = new Float64Array(buffer);
  return { offset, now: createSteadyTime(ofMachine, offset) };
}

/** The system adds up all threads for it, so it is read at most once in so many ms. */
const processorMsMin = 50;
let processor = { at: Number.NEGATIVE_INFINITY, ms: 0 };

/** Processor time of all threads of this process, ms. */
function processorMs(): number {
  const at = performance.now();
  if (at - processor.at >= processorMsMin) {
    const { user, system } = process.cpuUsage();
    processor = { at, ms: (user + system) / 1_000 };
  }
  return processor.ms;
}

let ofProcess: ProcessTime | null = null;

/** Lets this process's time go on from the newest time that its store knows. */
export function goOnFromStored(time: number): void {
  ofProcess ??= processTime();
  goOnFrom(ofProcess.now, ofProcess.offset, time);
}

/** The clock of a daemon. */
export function createSystemClock(): Clock {
  ofProcess ??= processTime();
  const { now } = ofProcess;
  const arm = (timer: SystemTimer, fire: () => void): void => {
    const wait = Math.max(0, Math.min(timer.at - now(), sliceMsMax));
    timer.timeout = setTimeout(() => {
      if (now() < timer.at) return arm(timer, fire);
      timer.timeout = null;
      fire();
    }, wait);
  };
  return {
    now,
    monotonic: () => performance.now(),
    setTimer(at, fire) {
      const timer: SystemTimer = { at, timeout: null };
      arm(timer, fire);
      return timer;
    },
    setLimit(ms, fire) {
      const timer: SystemTimer = { at: now() + ms, timeout: null };
      const arm = (wait: number, look: () => void) => {
        timer.timeout = setTimeout(look, wait);
      };
      const monotonic = () => performance.now();
      runTimeLimit({ monotonic, cpu: processorMs, arm }, ms, () => {
        timer.timeout = null;
        fire();
      });
      return timer;
    },
    clearTimer(timer) {
      const { timeout } = timer as SystemTimer;
      if (timeout !== null) clearTimeout(timeout);
      (timer as SystemTimer).timeout = null;
    },
  };
}
