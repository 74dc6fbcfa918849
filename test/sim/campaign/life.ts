/**
 * One process of a run: a whole runtime whose ports count their calls. At the call that the plan
 * names it dies: no port answers any more, no timer fires, and nothing of it reaches the disk or a
 * platform. The next process starts from what is on the disk.
 */
import { newestTime } from "../../../src/actors/journal/newest-time.ts";
import type { OutboundDirectory, Runtime } from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import type { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import type { SimulatedScheduler } from "../../../src/actors/simulation/simulated-scheduler.ts";
import { createSteadyTime, goOnFrom } from "../../../src/adapters/system/clock.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import type { EarshotConfig } from "../../../src/domain/config/index.ts";
import type {
  AgentDriver,
  ChannelOutbound,
  Clock,
  Ids,
  Random,
  Store,
  TimerHandle,
} from "../../../src/domain/ports/index.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import type { Disk, DiskUser } from "./disk.ts";
import type { Written } from "./history.ts";

/** Timers of the daemon's own clock sleep no longer than this before they look again. */
const sliceMs = 30_000;

export interface LifePorts {
  readonly number: number;
  readonly clock: SimulatedClock;
  /** The machine's wall clock as it is set. */
  readonly wall: () => number;
  readonly scheduler: SimulatedScheduler;
  readonly disk: Disk;
  readonly ids: Ids;
  readonly random: Random;
  readonly config: EarshotConfig;
  readonly driver: AgentDriver;
  /** The platforms, for a process with this clock. */
  outbound(channel: string, now: () => number): ChannelOutbound;
  readonly isConnected: (channel: string) => boolean;
  readonly onCommit: (rows: readonly Written[], now: number) => void;
  readonly onSync: (commits: number) => void;
  readonly onLine: (line: StreamLine) => void;
  readonly onDeath: (life: Life, why: string) => void;
}

interface LifeTimer extends TimerHandle {
  sleeping: TimerHandle | null;
}

export class Life {
  readonly runtime: Runtime;
  readonly #ports: LifePorts;
  readonly clock: Clock;
  readonly #store: Store;
  /** Of its own time to the simulated clock. */
  readonly #offset = new Float64Array(1);
  readonly #timers = new Set<TimerHandle>();
  #isAlive = true;
  #calling = "";
  /** What happens at a call, and how many calls are left until then. */
  #plans: { left: number; act: () => void }[] = [];

  constructor(ports: LifePorts) {
    this.#ports = ports;
    this.clock = this.#createClock();
    this.#store = this.#createStore();
    const { scheduler, ids, random, config, driver } = ports;
    this.runtime = createRuntime({
      clock: this.clock,
      ids,
      random,
      digest: sha256,
      scheduler: {
        soon: (work) => {
          scheduler.soon(() => {
            if (this.#call("await")) work();
          });
        },
      },
      log: () => undefined,
      store: this.#store,
      config,
      drivers: new Map([[driver.kind, this.#createDriver(driver)]]),
      directory: this.#createDirectory(),
      events: createRuntimeEvents(() => undefined, {
        line: (line) => {
          if (this.#isAlive) ports.onLine(line);
        },
      }),
      workers: 0,
      housekeeping: false,
      live: false,
    });
  }

  get number(): number {
    return this.#ports.number;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** As a daemon starts: its time goes on from the newest of the journal. */
  async start(): Promise<void> {
    const newest = await newestTime(this.#store);
    goOnFrom(this.clock.now, this.#offset, newest);
    await this.runtime.start();
  }

  /** Something happens at this call of a port from now on. */
  after(calls: number, act: (call: string) => void): void {
    const plan = { left: calls, act: () => act(this.#calling) };
    this.#plans.push(plan);
  }

  /** Nothing happens any more. */
  spare(): void {
    this.#plans = [];
  }

  die(why: string): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    for (const timer of this.#timers) this.#ports.clock.clearTimer(timer);
    this.#timers.clear();
    this.#ports.onDeath(this, why);
  }

  /** The platform's cursor, as the process reads it at its start. */
  cursor(channel: string): Promise<string | null> {
    return this.#asked("cursor", () => this.#ports.disk.store.cursor(channel, "default", "bot"));
  }

  /** Counts a call; false: the process is dead, and the call is not made. */
  #call(what: string): boolean {
    if (!this.#isAlive) return false;
    this.#calling = what;
    for (const plan of this.#plans) plan.left -= 1;
    const due = this.#plans.filter(({ left }) => left <= 0);
    if (due.length > 0) this.#plans = this.#plans.filter(({ left }) => left > 0);
    for (const { act } of due) act();
    return this.#isAlive;
  }

  /** A call with an answer: the process may die before it and after it. */
  async #asked<T>(what: string, work: () => T | Promise<T>): Promise<T> {
    if (!this.#call(what)) return new Promise<never>(() => undefined);
    try {
      return await work();
    } finally {
      // biome-ignore lint/correctness/noUnsafeFinally: a dead process gets no answer.
      if (!this.#call(`${what}'s end`)) return new Promise<never>(() => undefined);
    }
  }

  /** As adapters/system/clock.ts makes it, on the simulated clocks. */
  #createClock(): Clock {
    const { clock, wall } = this.#ports;
    const source = { wall, monotonic: () => clock.now(), machine: () => clock.now() };
    const now = createSteadyTime(source, this.#offset);
    const sleep = (ms: number, wake: () => void): TimerHandle => {
      const sleeping = clock.setTimer(clock.now() + Math.max(0, ms), () => {
        this.#timers.delete(sleeping);
        if (this.#call("timer")) wake();
      });
      this.#timers.add(sleeping);
      return sleeping;
    };
    const arm = (timer: LifeTimer, fire: () => void): void => {
      if (!this.#isAlive) return;
      timer.sleeping = sleep(Math.min(timer.at - now(), sliceMs), () => {
        if (now() < timer.at) return arm(timer, fire);
        timer.sleeping = null;
        fire();
      });
    };
    return {
      now,
      monotonic: () => clock.now(),
      setTimer(at, fire) {
        const timer: LifeTimer = { at, sleeping: null };
        arm(timer, fire);
        return timer;
      },
      setLimit: (ms, fire) => {
        const timer: LifeTimer = { at: now() + ms, sleeping: null };
        if (this.#isAlive) timer.sleeping = sleep(ms, fire);
        return timer;
      },
      clearTimer: (timer) => {
        const { sleeping } = timer as LifeTimer;
        if (sleeping === null) return;
        this.#timers.delete(sleeping);
        clock.clearTimer(sleeping);
      },
    };
  }

  #createStore(): Store {
    const { disk, onCommit, onSync } = this.#ports;
    const user: DiskUser = {
      isAlive: () => this.#isAlive,
      onCommit: (rows) => onCommit(rows, this.clock.now()),
      onSync,
    };
    return new Proxy(disk.store, {
      get: (store, name: keyof Store) => {
        if (name === "close") return async () => undefined;
        if (name === "dirtySize") return () => store.dirtySize();
        if (name === "checkOwner") return () => store.checkOwner();
        if (name === "commit")
          return (...[writes, until = "durable"]: Parameters<Store["commit"]>) =>
            this.#asked("commit", () => disk.commit(writes, until, user));
        if (name === "sync") return () => this.#asked("sync", () => disk.sync(user));
        if (name === "answersTo") return store.answersTo;
        if (name === "syncsItself") return false;
        const read = Reflect.get(store, name) as (...values: readonly unknown[]) => unknown;
        return (...values: readonly unknown[]) =>
          this.#asked(name, () => disk.read(name, () => Reflect.apply(read, store, values)));
      },
    });
  }

  #createDriver(driver: AgentDriver): AgentDriver {
    const call = () => this.#call("agent");
    return {
      ...driver,
      open: async (context) => {
        const port = await driver.open(context);
        return {
          ...port,
          async *run(turn, how) {
            for await (const event of port.run(turn, how)) {
              if (!call()) await new Promise<never>(() => undefined);
              yield event;
            }
          },
        };
      },
    };
  }

  #createDirectory(): OutboundDirectory {
    const now = () => this.clock.now();
    const { isConnected } = this.#ports;
    const ports = new Map<string, ChannelOutbound>();
    const outboundOf = (channel: string): ChannelOutbound => {
      const known = ports.get(channel);
      if (known !== undefined) return known;
      const platform = this.#ports.outbound(channel, now);
      const { sendTyping, addReaction, removeReaction, editText } =
        platform as Required<ChannelOutbound>;
      const made: ChannelOutbound = {
        sendText: (request) => this.#asked("send", () => platform.sendText(request)),
        replyText: (request) => this.#asked("send", () => platform.replyText(request)),
        editText: (request) => this.#asked("edit", () => editText(request)),
        sendTyping: (...all) => this.#asked("typing", () => sendTyping(...all)),
        addReaction: (...all) => this.#asked("react", () => addReaction(...all)),
        removeReaction: (...all) => this.#asked("unreact", () => removeReaction(...all)),
      };
      ports.set(channel, made);
      return made;
    };
    return {
      hasAccount: () => true,
      outbound: (channel) => (isConnected(channel) ? outboundOf(channel) : null),
      ready: isConnected,
      textLimit: () => 4_000,
      typingIntervalMs: () => 5_000,
      isLocal: () => false,
      refreshMembership: () => undefined,
      membership: () => ({ humans: 4, bots: 1, truncated: false, fetchedAt: now() }),
    };
  }
}
