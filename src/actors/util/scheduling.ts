/**
 * At once, and soon
 * =================
 * At once: after whoever runs now, and before anything else. As `queueMicrotask`, but by way of a
 * promise, which costs a third of it in Node.
 *
 * Soon: when everything that can run has run. A turn of the event loop says so, and costs system
 * calls; where no other thread has a part in it, Node's queue of ticks says the same for nothing.
 *
 * Still: when besides nothing waits for soon. Whoever waits for quiet among threads must look again and
 * again; alone on a thread it is told once, in the order of ranks.
 */
/** What waits for a simulation to be still, those first that set off more. */

export type IdlePriority = 1 | 2 | 3 | 4;
/**
 * A simulation that has settled takes its next event straight through: whoever would wait for
 * others to be quiet, or for the next turn of the event loop, goes on at once. The first
 * consequence that is more than a decision ends that.
 */

export interface Scheduling {
  straight: boolean;
  /** Calls it when everything has run that can run now. */
  readonly soon: (work: () => void) => void;
  /** Where nothing happens on other threads: resolves when nothing waits for soon either. */
  readonly still?: (rank: IdlePriority) => Promise<void>;
}

const now = Promise.resolve();
/** Ticks until files, signals and whoever else waits for the event loop have their turn. */
const ticksInARow = 64;

/** Calls it as soon as the stack is empty. It must not throw. */
export function scheduleMicrotask(work: () => void): void {
  void now.then(work);
}

/** Calls it when everything has run that can run now. It must not throw. */
export function scheduleSoon(pace: Scheduling | undefined, work: () => void): void {
  if (pace === undefined) setImmediate(work);
  else if (pace.straight) scheduleMicrotask(work);
  else pace.soon(work);
}

/** Resolves when everything has run that can run now, and whoever waits for stillness. */
export function nextEventLoopTurn(pace?: Scheduling): Promise<void> {
  return new Promise((resolve) => {
    if (pace?.still !== undefined) void pace.still(idlePriorities.anyone).then(resolve);
    else setImmediate(resolve);
  });
}

/** What waits for stillness, those first that set off more: a simulation goes on last. */
export const idlePriorities = { round: 1, gate: 2, settled: 3, anyone: 4 } as const;

/** The pace of a simulation whose hosts are on this thread, which has no part in any other. */
export function singleThreadScheduling(): Scheduling {
  const waiting: (() => void)[][] = [[], [], [], [], []];
  let asked = false;
  let ticks = 0;
  const wait = (rank: 0 | IdlePriority, work: () => void) => {
    waiting[rank]?.push(work);
    if (asked) return;
    asked = true;
    ask();
  };
  const ask = () => {
    ticks += 1;
    if (ticks % ticksInARow === 0) setImmediate(next);
    // From a promise: a tick asked for by another tick would come before what that one resolved.
    else void now.then(() => process.nextTick(next));
  };
  const next = () => {
    const rank = waiting.findIndex(({ length }) => length > 0);
    for (const work of waiting[rank]?.splice(0) ?? []) work();
    asked = waiting.some(({ length }) => length > 0);
    if (asked) ask();
  };
  return {
    straight: false,
    soon: (work) => wait(0, work),
    still: (rank) => new Promise((resolve) => wait(rank, resolve)),
  };
}
