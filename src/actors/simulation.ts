/**
 * Simulation
 * ==========
 * Runs a scenario through the real runtime: the same machines, journal, hosts and outbox, on a
 * clock that moves when everything has settled. So a day of a room takes milliseconds, two runs
 * give the same lines, and what was recorded yesterday can be asked again today.
 *
 * Order at one moment: what was due by then, then the scenario's lines of that moment as they stand
 * in the file, then what they made due. A window of 500 ms that opened at 0 is over when a line
 * comes at 500.
 */
import type { EarshotConfig } from "../domain/config/index.ts";
import { EarshotError } from "../domain/errors.ts";
import type { Millis } from "../domain/message.ts";
import type { AgentDriver, ChannelEvent, Log, Store } from "../domain/ports.ts";
import type { Scenario, ScenarioLine } from "../domain/scenario.ts";
import type { ScriptedRun } from "../domain/script.ts";
import type { StreamLine } from "../domain/stream.ts";
import { SimulatedClock } from "./clock.ts";
import { type Incarnation, incarnate } from "./incarnation.ts";
import type { Runtime, Why } from "./runtime.types.ts";
import { type Places, placesOf } from "./simulation.places.ts";
import {
  createSimulatedWorld,
  type SimulatedWorld,
  seededIds,
  seededRandom,
} from "./simulation.world.ts";

/** What `t` 0 stands for where the scenario does not say: 2025-11-21 04:40 UTC. */
const startDefault: Millis = 1_763_700_000_000;
/** Without an end line the clock runs on for at most this long after the last line. */
const afterLastLineMsMax = 24 * 3_600_000;
/** More turns than this are never under way at once. */
const turnsRememberedMax = 10_000;

/**
 * Runs that scenario lines add, handed out to the agents in order. A turn that another life of the
 * process tries again gets the run it had.
 */
export interface Scripts {
  next(agentId: string, turnId: string): ScriptedRun | undefined;
}

/** What the composition root gives: the runtime's parts that are not simulated here. */
export interface SimulationPorts {
  readonly config: EarshotConfig;
  readonly store: Store;
  readonly log: Log;
  drivers(scripts: Scripts): ReadonlyMap<string, AgentDriver>;
}

export interface SimulationOptions {
  readonly seed: number;
  /** 0: everything in-process. */
  readonly workers: number;
  readonly prompts: boolean;
  /** Walk the ladder again at the end: for every message, or for those named. */
  readonly explain: boolean | readonly string[];
  readonly onLine: (line: StreamLine) => void;
  /** Lines of the scenario done so far; waited for, so that a slow reader slows the run. */
  readonly onProgress?: (done: number, total: number) => void | Promise<void>;
}

/** Why of each message, where asked for; a message heard by several agents has its first. */
export type Explanations = Readonly<Record<string, Why>>;

/**
 * Runs a scenario to its end.
 * @throws EarshotError EAR_SCENARIO_INVALID for a line that cannot be simulated; nothing was run
 * then.
 */
export async function runScenario(
  scenario: Scenario,
  ports: SimulationPorts,
  options: SimulationOptions,
): Promise<Explanations> {
  refuseApprovals(scenario);
  const simulation = new Simulation(scenario, ports, options);
  return simulation.run();
}

/** Pairing has no queue in a simulated world: who may speak stands in the config. */
function refuseApprovals({ lines }: Scenario): void {
  if (lines.some((line) => "approve" in line))
    throw new EarshotError(
      "EAR_SCENARIO_INVALID",
      "Cannot run the scenario as it approves a pairing: set access in its header instead",
    );
}

class Simulation {
  readonly #scenario: Scenario;
  readonly #places: Places;
  readonly #options: SimulationOptions;
  readonly #start: Millis;
  readonly #clock: SimulatedClock;
  readonly #world: SimulatedWorld;
  readonly #scripts = new Map<string, ScriptedRun[]>();
  /** Turns under way and the runs they were given. */
  readonly #given = new Map<string, ScriptedRun>();
  readonly #messages = new Set<string>();
  readonly #boot: () => Incarnation;
  #life: Incarnation;

  constructor(scenario: Scenario, ports: SimulationPorts, options: SimulationOptions) {
    this.#scenario = scenario;
    this.#places = placesOf(scenario);
    this.#options = options;
    this.#start = scenario.header.start ?? startDefault;
    this.#clock = new SimulatedClock(this.#start);
    this.#world = createSimulatedWorld(this.#clock);
    const drivers = ports.drivers({
      next: (agentId, turnId) => this.#runFor(agentId, turnId),
    });
    const common = {
      ids: seededIds(this.#clock, options.seed),
      random: seededRandom(options.seed),
      log: ports.log,
      config: ports.config,
      drivers,
      directory: this.#world.directory,
      publish: (line: StreamLine) => options.onLine({ ...line, t: line.t - this.#start }),
      workers: options.workers,
      prompts: options.prompts,
    };
    this.#boot = () => incarnate(this.#clock, ports.store, common);
    this.#life = this.#boot();
  }

  async run(): Promise<Explanations> {
    const { lines } = this.#scenario;
    try {
      await this.#runtime.start();
      let reached = -1;
      for (const [index, line] of lines.entries()) {
        const at = this.#start + line.t;
        if (line.t > reached) await this.#runTimers(at);
        reached = line.t;
        this.#clock.advanceTo(at);
        await this.#apply(this.#places.complete(line));
        await this.#settle();
        await this.#options.onProgress?.(index + 1, lines.length);
      }
      const last = lines.at(-1);
      const ends = last !== undefined && "end" in last;
      await this.#runTimers(this.#clock.now() + (ends ? 0 : afterLastLineMsMax));
      return await this.#explain();
    } finally {
      await this.#life.end();
    }
  }

  get #runtime(): Runtime {
    return this.#life.runtime;
  }

  /**
   * Until nothing is under way.
   * @throws EarshotError EAR_HOST_LOST when a host does not stay up: nothing would ever settle
   * then.
   */
  async #settle(): Promise<void> {
    const refuse = () => {
      const { problem } = this.#runtime.status();
      if (problem !== null)
        throw new EarshotError("EAR_HOST_LOST", `Cannot go on with the scenario as ${problem}`);
    };
    refuse();
    await Promise.race([this.#runtime.settled(), this.#life.broken.then(refuse)]);
  }

  /** Everything due up to `until`, one timer at a time, each with all that follows from it. */
  async #runTimers(until: Millis): Promise<void> {
    while (this.#clock.fireNext(until)) await this.#settle();
  }

  async #apply(line: ScenarioLine): Promise<void> {
    if ("in" in line) {
      this.#messages.add(line.in.id);
      await this.#ingest(line.in, { type: "message", message: line.in });
    } else if ("edit" in line) await this.#ingest(line.edit, { type: "edit", edit: line.edit });
    else if ("delete" in line)
      await this.#ingest(line.delete, { type: "delete", deletion: line.delete });
    else if ("membership" in line) {
      this.#world.readMembers(line.membership);
      await this.#ingest(line.membership, { type: "membership", membership: line.membership });
    } else if ("history" in line)
      await this.#ingest(line.history, { type: "history", history: line.history });
    else if ("agent" in line) this.#script(line.agent);
    else if ("platform" in line) this.#world.order(line.platform);
    else if ("passivate" in line) await this.#runtime.passivateAll();
    else if ("crash" in line) await this.#crash(line.crash);
  }

  async #ingest(place: { channel: string; account: string }, event: ChannelEvent): Promise<void> {
    await this.#runtime.ingest(place.channel, place.account, [event]);
  }

  #script({ agentId, runs }: { agentId: string; runs: readonly ScriptedRun[] }): void {
    const queue = this.#scripts.get(agentId) ?? [];
    queue.push(...runs);
    this.#scripts.set(agentId, queue);
  }

  #runFor(agentId: string, turnId: string): ScriptedRun | undefined {
    const run = this.#given.get(turnId) ?? this.#scripts.get(agentId)?.shift();
    if (run === undefined) return undefined;
    this.#given.set(turnId, run);
    if (this.#given.size > turnsRememberedMax)
      this.#given.delete(this.#given.keys().next().value as string);
    return run;
  }

  async #crash(what: "host" | "process"): Promise<void> {
    if (what === "host") {
      await this.#runtime.crashHost();
      return;
    }
    await this.#life.die();
    this.#life = this.#boot();
    await this.#runtime.start();
  }

  async #explain(): Promise<Explanations> {
    const { explain } = this.#options;
    const asked = explain === true ? this.#messages : explain || [];
    const why: Record<string, Why> = {};
    for (const id of asked) {
      const [first] = await this.#runtime.why(id);
      if (first !== undefined) why[id] = first;
    }
    return why;
  }
}
