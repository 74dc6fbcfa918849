/**
 * Runs a scenario through the real runtime: the same machines, journal, hosts and outbox, on a
 * clock that moves when everything has settled. A day of a room takes milliseconds, two runs give
 * the same lines, and a recorded message can be asked about again.
 *
 * Order at one moment: timers due by then, then the scenario's lines of that moment in the order of
 * the file, then what became due through them. A window of 500 ms that opened at 0 is over when a
 * line comes at 500.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { AgentDriver, ChannelEvent, Digest, Log, Store } from "../../domain/ports/index.ts";
import type { Scenario, ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { ScriptedRun } from "../../domain/scenario/script.ts";
import type { StreamLine } from "../../domain/stream.ts";
import { redactedClaim } from "../../machines/access/codes.ts";
import type { Runtime } from "../protocol/runtime.ts";
import type { Why } from "../protocol/why.ts";
import { indexChats, type Places } from "./chat-index.ts";
import { operate } from "./operator-actions.ts";
import { SimulatedClock } from "./simulated-clock.ts";
import {
  createSimulatedWorld,
  type SimulatedWorld,
  seededIds,
  simulatedRandom,
} from "./simulated-platforms.ts";
import { type SimulatedProcess, startProcess } from "./simulated-process.ts";
import { SimulatedScheduler } from "./simulated-scheduler.ts";

/** The time of `t` 0 if the scenario does not set it: 2025-11-21 04:40 UTC. */
const startDefault: Millis = 1_763_700_000_000;
/** Without an end line the clock runs on for at most this long after the last line. */
const afterLastLineMsMax = 24 * 3_600_000;
/** Remembered runs of a conversation, which has one turn at a time and one summary besides. */
const runsRememberedMax = 4;

/**
 * Runs from scenario lines, given to the agents in order. A turn that is tried again in a later
 * process gets the same run.
 */
export interface Scripts {
  /** `key`: of the conversation of the turn. */
  next(agentId: string, turnId: string, key: string): ScriptedRun | undefined;
}

/** Ports from the composition root: the parts of the runtime that are not simulated here. */
export interface SimulationPorts {
  readonly config: EarshotConfig;
  /** The config of a config line; null: the config stays as it is. */
  readonly reading: (config: Readonly<Record<string, unknown>>) => EarshotConfig | null;
  readonly store: Store;
  readonly log: Log;
  readonly digest: Digest;
  drivers(scripts: Scripts): ReadonlyMap<string, AgentDriver>;
}

export interface SimulationOptions {
  readonly seed: number;
  readonly prompts: boolean;
  /** Applies the ladder again at the end: for every message, or for the listed ones. */
  readonly explain: boolean | readonly string[];
  readonly onLine: (line: StreamLine) => void;
  /** Called for each line of the scenario before its consequences. */
  readonly onInput?: (line: ScenarioLine) => void;
  /** The number of applied lines; awaited, so a slow reader slows the run. */
  readonly onProgress?: (done: number, total: number) => void | Promise<void>;
}

/** The explanation of each requested message; if several agents received it, that of the first. */
export type Explanations = Readonly<Record<string, Why>>;

/** Runs a scenario to its end. */
export async function runScenario(
  scenario: Scenario,
  ports: SimulationPorts,
  options: SimulationOptions,
): Promise<Explanations> {
  const simulation = new Simulation(scenario, ports, options);
  return simulation.run();
}

class Simulation {
  readonly #scenario: Scenario;
  readonly #places: Places;
  readonly #options: SimulationOptions;
  readonly #start: Millis;
  readonly #clock: SimulatedClock;
  readonly #world: SimulatedWorld;
  readonly #scripts = new Map<string, ScriptedRun[]>();
  /** By conversation: its newest turns and their runs. */
  readonly #runs = new Map<string, Map<string, ScriptedRun>>();
  readonly #messages = new Set<string>();
  readonly #log: Log;
  readonly #scheduler = new SimulatedScheduler();
  readonly #reading: SimulationPorts["reading"];
  readonly #boot: () => SimulatedProcess;
  #config: EarshotConfig;
  /** Time of the last applied line, ms from the start. */
  #reached = -1;
  #life: SimulatedProcess;

  constructor(scenario: Scenario, ports: SimulationPorts, options: SimulationOptions) {
    this.#scenario = scenario;
    this.#places = indexChats(scenario);
    this.#log = ports.log;
    this.#reading = ports.reading;
    this.#config = ports.config;
    this.#options = options;
    this.#start = scenario.header.start ?? startDefault;
    this.#clock = new SimulatedClock(this.#start);
    this.#world = createSimulatedWorld(this.#clock, scenario.header.local);
    const drivers = ports.drivers({
      next: (agentId, turnId, key) => this.#runFor(agentId, turnId, key),
    });
    const common = {
      scheduler: this.#scheduler,
      ids: seededIds(this.#clock, options.seed),
      random: simulatedRandom(this.#clock, options.seed),
      digest: ports.digest,
      log: ports.log,
      drivers,
      directory: this.#world.directory,
      onLine: (line: StreamLine) => options.onLine({ ...line, t: line.t - this.#start }),
      prompts: options.prompts,
    };
    this.#boot = () => startProcess(this.#clock, ports.store, { ...common, config: this.#config });
    this.#life = this.#boot();
  }

  async run(): Promise<Explanations> {
    const { lines, count, last } = this.#scenario;
    try {
      await this.#runtime.start();
      let done = 0;
      for (const line of lines) {
        await this.#line(line);
        done += 1;
        await this.#options.onProgress?.(done, count);
      }
      const ends = last !== null && "end" in last;
      const until = this.#start + (last?.t ?? 0) + (ends ? 0 : afterLastLineMsMax);
      await this.#runTimers(Math.max(until, this.#clock.now()));
      return await this.#explain();
    } finally {
      await this.#life.kill();
    }
  }

  async #line(line: ScenarioLine): Promise<void> {
    // Nothing happens in the room.
    if ("label" in line) return;
    const at = this.#start + line.t;
    if (line.t > this.#reached) await this.#runTimers(at);
    this.#reached = line.t;
    this.#clock.moveTo(at);
    this.#options.onInput?.(line);
    await this.#apply(this.#places.complete(line));
  }

  get #runtime(): Runtime {
    return this.#life.runtime;
  }

  /**
   * Resolves when nothing is in progress.
   * @throws EarshotError EAR_HOST_LOST when a host does not stay up: nothing would ever settle.
   */
  async #settle(): Promise<void> {
    await this.#scheduler.idle();
    if (!this.#life.isBroken()) return;
    const { problem } = this.#runtime.status();
    if (problem !== null)
      throw new EarshotError("EAR_HOST_LOST", `Cannot go on with the scenario: ${problem}`);
  }

  /** Fires everything due up to `until`, one timer at a time, each with all its consequences. */
  async #runTimers(until: Millis): Promise<void> {
    while (this.#clock.fireNext(until)) await this.#settle();
  }

  async #apply(line: ScenarioLine): Promise<void> {
    if (isInbound(line)) await this.#receive(line);
    else if ("agent" in line) this.#script(line.agent);
    else if ("approve" in line) await this.#approve(line.approve);
    else if ("operator" in line) await operate(this.#runtime, line.operator, this.#log);
    else if ("judge" in line) await this.#runtime.judged(line.judge);
    else if ("platform" in line) this.#world.script(line.platform);
    else if ("config" in line) await this.#reload(line.config);
    else if ("passivate" in line) await this.#runtime.passivateAll();
    else if ("crash" in line) await this.#crash(line.crash);
    await this.#settle();
  }

  /** Events from the rooms. */
  async #receive(line: InboundLine): Promise<void> {
    if ("in" in line) {
      if (this.#options.explain === true) this.#messages.add(line.in.id);
      await this.#ingest(line.in, { type: "message", message: line.in });
    } else if ("edit" in line) await this.#ingest(line.edit, { type: "edit", edit: line.edit });
    else if ("delete" in line)
      await this.#ingest(line.delete, { type: "delete", deletion: line.delete });
    else if ("reaction" in line)
      await this.#ingest(line.reaction, { type: "reaction", reaction: line.reaction });
    else if ("membership" in line) {
      const { ageMs, ...membership } = line.membership;
      this.#world.readMembers(membership, ageMs ?? 0);
      if (ageMs === undefined) await this.#ingest(membership, { type: "membership", membership });
    } else await this.#ingest(line.history, { type: "history", history: line.history });
  }

  async #ingest(place: { channel: string; account: string }, event: ChannelEvent): Promise<void> {
    await this.#runtime.ingest(place.channel, place.account, [event]);
  }

  async #reload(line: Readonly<Record<string, unknown>>): Promise<void> {
    const config = this.#reading(line);
    if (config === null) return;
    this.#config = config;
    await this.#runtime.reload(config);
  }

  #script({ agentId, key, runs }: Extract<ScenarioLine, { agent: unknown }>["agent"]): void {
    const script = scriptName(agentId, key ?? null);
    const queue = this.#scripts.get(script) ?? [];
    queue.push(...runs);
    this.#scripts.set(script, queue);
  }

  #runFor(agentId: string, turnId: string, key: string): ScriptedRun | undefined {
    const known = this.#runs.get(key);
    const run = known?.get(turnId) ?? this.#take(agentId, key) ?? this.#take(agentId, null);
    if (run === undefined) return undefined;
    const runs = known ?? new Map<string, ScriptedRun>();
    this.#runs.set(key, runs.set(turnId, run));
    const [oldest] = runs.keys();
    if (runs.size > runsRememberedMax && oldest !== undefined) runs.delete(oldest);
    return run;
  }

  #take(agentId: string, key: string | null): ScriptedRun | undefined {
    const script = scriptName(agentId, key);
    const queue = this.#scripts.get(script);
    const run = queue?.shift();
    if (queue?.length === 0) this.#scripts.delete(script);
    return run;
  }

  /** Approves on the console: a code that nobody has changes nothing. */
  async #approve(approval: Approval): Promise<void> {
    const access = this.#runtime.access();
    if ("claim" in approval) {
      const how = { ttlMs: limits.claimMsMax, by: "console", code: redactedClaim };
      await access.issue({ role: approval.claim, ...how });
      return;
    }
    if ("as" in approval) {
      const { as: scope, ...person } = approval;
      await access.allow({ ...person, scope }, "console");
      return;
    }
    const answer =
      "code" in approval
        ? await access.approve(approval.code, "console")
        : await access.approvePerson(approval.sender, "console");
    if (answer?.outcome !== "approved") this.#log("warn", "approve.nobody", approval);
  }

  async #crash(what: "host" | "process"): Promise<void> {
    if (what === "host") {
      await this.#runtime.crashHost();
      return;
    }
    await this.#life.kill();
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

type Approval = Extract<ScenarioLine, { approve: unknown }>["approve"];
type InboundLine = Extract<
  ScenarioLine,
  | { in: unknown }
  | { edit: unknown }
  | { delete: unknown }
  | { reaction: unknown }
  | { membership: unknown }
  | { history: unknown }
>;
const inboundKinds = ["in", "edit", "delete", "reaction", "membership", "history"] as const;
const isInbound = (line: ScenarioLine): line is InboundLine =>
  inboundKinds.some((kind) => kind in line);

const scriptName = (agentId: string, key: string | null): string => JSON.stringify([agentId, key]);
