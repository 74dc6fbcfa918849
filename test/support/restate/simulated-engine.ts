/**
 * One conversation in an engine, on a simulated clock: what it wants stored is stored, it is left when it rests, and
 * becomes active again when it says so or somebody speaks. Nodes can end as those that are killed do.
 */
import type { Runtime, RuntimePorts } from "../../../src/actors/protocol/runtime.ts";
import type { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { KeptStore } from "../../../src/domain/ports/index.ts";
import { type Activation, activate } from "../../../src/engines/restate/activation.ts";
import { untold } from "../../../src/engines/restate/feed/node-mirror.ts";
import { KeptState } from "../../../src/engines/restate/kept-state.ts";
import type { OfferedEvent } from "../../../src/engines/restate/wire.ts";

type Own = Pick<RuntimePorts, "store" | "clock" | "log" | "numbers">;

export interface SimulatedEngineOptions {
  readonly key: string;
  readonly clock: SimulatedClock;
  readonly create: (own: Own) => Runtime;
}

export class SimulatedEngine {
  /** Nodes run. */
  isUp = true;
  /** How often it became active. */
  activations = 0;
  /** The node is killed when it has something to store for the n-th time from now. */
  dieIn = Number.POSITIVE_INFINITY;
  readonly #options: SimulatedEngineOptions;
  readonly #kept = new KeptState([]);
  readonly #waiting: OfferedEvent[] = [];
  #active: { readonly activation: Activation; readonly runtime: () => Runtime | null } | null =
    null;
  #alarm: number | null = null;
  #isCalled = false;
  #numbers = 0;

  constructor(options: SimulatedEngineOptions) {
    this.#options = options;
  }

  get isActive(): boolean {
    return this.#active !== null;
  }

  offer(event: OfferedEvent): void {
    if (this.#active === null) {
      this.#waiting.push(event);
      this.#isCalled = true;
    } else this.#active.activation.take([event]);
  }

  /** It becomes active, as a node asks for that has another config. */
  wake(): void {
    if (this.#active === null) this.#isCalled = true;
  }

  /** Its node is gone, with what was not stored; the call is made again when nodes run. */
  async kill(): Promise<void> {
    if (this.#active === null) return;
    const { activation } = this.#active;
    this.#active = null;
    this.#isCalled = true;
    await activation.end();
  }

  /** Lets time pass, one timer after the other. */
  async pass(ms: number): Promise<void> {
    const { clock } = this.#options;
    const until = clock.now() + ms;
    for (;;) {
      await this.#settled();
      const next = clock.nextDue() ?? Number.POSITIVE_INFINITY;
      const alarm = this.#active === null && this.isUp ? (this.#alarm ?? Infinity) : Infinity;
      const at = Math.min(next, alarm);
      if (at > until) break;
      if (alarm <= next) {
        clock.moveTo(Math.max(alarm, clock.now()));
        this.#alarm = null;
        this.#isCalled = true;
      } else clock.fireNext(until);
    }
    clock.moveTo(until);
    await this.#settled();
  }

  /** What is stored. */
  store(): KeptStore {
    return openKeptStore(this.#kept.rows());
  }

  async #settled(): Promise<void> {
    for (let calm = 0; calm < 3; calm += 1) {
      if (this.isUp && this.#isCalled && this.#active === null) this.#begin();
      const active = this.#active;
      const idle = active?.runtime()?.settled() ?? Promise.resolve();
      // One that was cut off does not settle any more.
      while (!(await ended(idle)) && this.#active === active);
      if (this.#active !== active) calm = -1;
    }
  }

  #begin(): void {
    const { key, clock, create } = this.#options;
    this.#isCalled = false;
    this.activations += 1;
    let runtime: Runtime | null = null;
    let isStarted = false;
    const activation = activate(key, this.#kept.rows(), false, {
      clock,
      log: () => undefined,
      retentionMs: () => Number.POSITIVE_INFINITY,
      open: openKeptStore,
      rows: untold,
      numbers: { above: async () => undefined, next: () => ++this.#numbers },
      create: (_key, own) => {
        const made = create(own);
        runtime = made;
        return {
          ...made,
          start: () =>
            made.start().then(() => {
              isStarted = true;
            }),
        };
      },
    });
    this.#active = { activation, runtime: () => (isStarted ? runtime : null) };
    const offered = this.#waiting.splice(0);
    if (offered.length > 0) activation.take(offered);
    void this.#drive(activation, offered.length);
  }

  async #drive(activation: Activation, taken: number): Promise<void> {
    const isOurs = () => this.#active?.activation === activation;
    while (isOurs()) {
      const work = await activation.next().catch(() => null);
      if (work === null || !isOurs()) return;
      this.dieIn -= 1;
      if (this.dieIn <= 0) {
        this.dieIn = Number.POSITIVE_INFINITY;
        return this.kill();
      }
      this.#kept.apply(this.#kept.placed(work.changes));
      activation.stored();
      if (!work.rests || (work.heard ?? 0) < taken) continue;
      this.#active = null;
      this.#alarm = work.dueAt;
      await activation.end();
    }
  }
}

/** Whether it has ended within a turn of the event loop. */
async function ended(work: Promise<unknown>): Promise<boolean> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  await new Promise(setImmediate);
  return isOver;
}
