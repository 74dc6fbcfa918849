/**
 * Owns the hosts. Events go to the host that owns their conversation, results go to the journal
 * side in order, and a host that dies is replaced while the others continue. It is a plain map of
 * hosts, not a tree of actors: it supervises threads, and identifies the one event of one
 * conversation on which a thread died.
 */
import {
  agentOf,
  type JudgeSettings,
  resolveJudge,
  withoutSecrets,
} from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { JudgeQuestion } from "../../domain/judgement.ts";
import { hash52 } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import { createTurnRunner, type TurnRunner } from "../agent-run/turn-runner.ts";
import { settingsFor } from "../host/conversation-settings.ts";
import type { HostEvents, HostFactory } from "../protocol/host-link.ts";
import type {
  AgentSpec,
  HostConfig,
  HostEntry,
  TurnReport,
  TurnRequest,
} from "../protocol/host-protocol.ts";
import type { HostStatus } from "../protocol/runtime.ts";
import type { Supervision, Supervisor, SupervisorPorts } from "../protocol/supervisor.ts";
import { nextTurn } from "../util/scheduling.ts";
import { Backpressure } from "./backpressure.ts";
import { count, summaries } from "./conversation-queries.ts";
import { hostFactoryFor } from "./host-factory.ts";
import { InspectionOrders } from "./inspection-readers.ts";
import { Isolation } from "./isolation.ts";
import { PoisonTracker } from "./poison-tracker.ts";
import { ownerOf } from "./rendezvous-hash.ts";
import { type Answer, ResultQueue } from "./result-queue.ts";
import { SupervisedHost } from "./supervised-host.ts";
import { TurnDispatcher } from "./turn-dispatcher.ts";
import { Watchdog } from "./watchdog.ts";

export type {
  LostTurn,
  Supervisor,
  SupervisorPorts,
} from "../protocol/supervisor.ts";

const patience: Supervision = {
  loopMs: 1_000,
  memoryMb: 512,
  intensityMax: limits.restartIntensityMax,
  periodMs: limits.restartPeriodMs,
  backoffMsMax: limits.hostRestartMsMax / 2,
  startMsMax: 10_000,
  checkpointEvery: 64,
};

/** A judge is opened once, however many rooms and agents it judges for. */
function judgeSpec(judge: JudgeSettings | null, { agent: agentName }: JudgeQuestion): AgentSpec {
  if (judge === null)
    throw new EarshotError("EAR_ASSERT", "Cannot ask a judge: the config has none any more");
  const { kind } = judge.driver;
  const agentId = `judge-${hash52(JSON.stringify(judge.driver)).toString(36)}`;
  return { agentId, agentName, kind, config: judge.driver };
}

/** Creates the supervisor; nothing runs before `start`. */
export function createSupervisor(ports: SupervisorPorts): Supervisor {
  return new HostSupervisor(ports);
}

class HostSupervisor implements Supervisor {
  readonly #ports: SupervisorPorts;
  readonly #hosts: SupervisedHost[] = [];
  /** Hosts that are not broken. */
  #usable: readonly number[];
  readonly #results = new Map<number, ResultQueue>();
  readonly #factory: HostFactory;
  readonly #poison = new PoisonTracker();
  readonly inspections: InspectionOrders;
  readonly #configs = new Map<number, HostConfig>();
  readonly #turns: TurnDispatcher;
  /** Runs the turns if there are no workers. */
  readonly #runner: TurnRunner | null;
  readonly #isolation: Isolation | null;
  readonly #watchdog: Watchdog | null;
  readonly #backlog = new Backpressure(
    () => (this.#stopped ? 0 : this.#hosts.reduce((sum, { traffic }) => sum + traffic.waiting, 0)),
    () => this.#change(),
  );
  #latest = 0;
  #epoch: number;
  #changes: (() => void)[] = [];
  #changeCount = 0;
  /** Broken hosts whose events are being moved. */
  #moving = 0;
  #stopped = false;

  constructor(ports: SupervisorPorts) {
    this.#ports = ports;
    this.#epoch = ports.epochBase ?? 0;
    const supervision = {
      ...patience,
      // A host on this thread is lost only on request.
      ...(ports.workers === 0 ? { backoffMsMax: 0 } : {}),
      ...ports.supervision,
    };
    this.#runner = ports.workers === 0 ? this.#createRunner() : null;
    const watched = ports.workers > 0;
    this.#isolation = watched ? this.#createIsolation(supervision) : null;
    this.#turns = this.#createTurns();
    this.#factory = hostFactoryFor(ports, supervision, ports.workers);
    this.inspections = new InspectionOrders(this.#hosts, ports.onInspect);
    for (let id = 0; id < Math.max(1, ports.workers); id += 1)
      this.#hosts.push(this.#createHost(id, supervision));
    this.#usable = this.#hosts.map(({ id }) => id);
    for (const { id } of this.#hosts) this.#results.set(id, this.#createResultQueue());
    const all = [...this.#hosts, ...(this.#isolation?.places ?? [])];
    const turnsOn = (host: number) => this.#turns.countOn(host);
    this.#watchdog = watched ? new Watchdog(ports.clock, all, supervision.loopMs, turnsOn) : null;
  }

  async start(): Promise<void> {
    for (const host of this.#hosts) host.start();
    while (this.#hosts.some(({ state }) => state === "starting" || state === "restarting"))
      await this.#change();
    if (!this.#hosts.some(({ state }) => state === "ready"))
      throw new EarshotError(
        "EAR_HOST_START",
        `Cannot start: no host answers (${this.#hosts[0]?.problem ?? "no reason known"}).`,
      );
    this.#watchdog?.start();
  }

  dispatch(entries: readonly HostEntry[]): void {
    const touched = new Set<SupervisedHost>();
    for (const entry of entries) {
      const host = this.#route(entry);
      if (host !== undefined) touched.add(host);
    }
    this.#ports.scheduler.soon(() => {
      for (const { traffic } of touched) traffic.pump();
    });
  }

  capacity(): Promise<void> | null {
    return this.#backlog.capacity();
  }

  run(order: TurnRequest): void {
    this.#turns.run(order);
  }

  abort(turnId: string, reason: string): void {
    this.#turns.abort(turnId, reason);
  }

  steer(turnId: string, text: string): Promise<boolean> {
    return this.#turns.steer(turnId, text);
  }

  watch(conv: number, on: boolean): void {
    this.#turns.watch(conv, on);
  }

  async passivateAll(): Promise<void> {
    await this.settled();
    const usable = this.#hosts.filter(({ state }) => state !== "broken" && state !== "stopped");
    const done = usable.map(({ traffic }) => traffic.passivate());
    for (const { traffic } of usable) traffic.pump();
    await Promise.all(done);
  }

  async crash(host?: number): Promise<void> {
    const chosen = this.#hosts.filter(
      ({ id, link }) => link !== null && (host === undefined || id === host),
    );
    const epochs = new Map(chosen.map((host) => [host, host.link?.epoch]));
    for (const host of chosen) host.crash("ended on request");
    const back = (host: SupervisedHost) =>
      host.state === "broken" || (host.link !== null && host.link.epoch !== epochs.get(host));
    while (!chosen.every(back)) await this.#change();
  }

  addConfig(config: HostConfig): void {
    this.#configs.set(config.version, { ...config, config: withoutSecrets(config.config) });
    this.#latest = Math.max(this.#latest, config.version);
  }

  async settled(): Promise<void> {
    do while (this.#busy()) await this.#change();
    while (!(await this.isSettled()));
  }

  async isSettled(): Promise<boolean> {
    if (this.#busy()) return false;
    const before = this.#activity();
    await nextTurn(this.#ports.scheduler);
    await nextTurn(this.#ports.scheduler);
    return !this.#busy() && this.#activity() === before;
  }

  summaries(convs: readonly number[]) {
    return summaries(convs, (conv) => this.#ownerOf(conv));
  }

  count() {
    return count(this.#hosts);
  }

  status(): readonly HostStatus[] {
    return this.#hosts.map((host) => host.status(this.#turns.countOn(host.id)));
  }

  stalled(): string | null {
    const reasons = this.#hosts.map(
      ({ id, traffic }) => this.#results.get(id)?.stalled ?? traffic.loadProblem,
    );
    return reasons.find((reason) => reason !== null) ?? null;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#watchdog?.stop();
    this.#runner?.close();
    this.#turns.clear();
    // First, as a pool that is open starts a thread in the place of each that ends.
    const closed = this.#factory.close();
    for (const host of this.#hosts) {
      host.stop();
      this.inspections.lost(host.id, "its host has ended");
    }
    await Promise.all([closed, this.#isolation?.stop()]);
    this.#changed();
  }

  #createRunner(): TurnRunner {
    const { clock, log, drivers, onDelta, onDraft, ask, scheduler } = this.#ports;
    const onReports = (reports: readonly TurnReport[]) => this.#turns.reported(reports);
    return createTurnRunner({ clock, log, drivers, onReports, onDelta, onDraft, ask, scheduler });
  }

  #createTurns(): TurnDispatcher {
    const { clock, configFor, onTurnReports } = this.#ports;
    return new TurnDispatcher({
      clock,
      here: this.#runner,
      isolation: this.#isolation,
      hostOf: (conv) => this.#ownerOf(conv),
      agentOf: (order) => this.#agentSpec(order),
      settingsOf: ({ cfg, key }) => settingsFor(configFor(cfg), key, cfg),
      onReports: (reports) => {
        onTurnReports(reports);
        this.#changed();
      },
    });
  }

  #createIsolation(supervision: Supervision): Isolation {
    const { log } = this.#ports;
    return new Isolation({
      log,
      events: this.#hostEvents(),
      open: () => hostFactoryFor(this.#ports, supervision, 1),
      nextEpoch: () => this.#nextEpoch(),
      onFree: (place, reason) => {
        if (this.#stopped) return;
        const turns = this.#turns.lose(place);
        if (turns.length > 0) log("warn", "turn.isolated-lost", { ...turns[0], reason });
        this.#ports.onHostLost({ host: place, turns });
        this.#turns.startWaiting();
        this.#changed();
      },
    });
  }

  #hostEvents(host: number | null = null): HostEvents {
    const { log: onLog, onDelta, onDraft, ask } = this.#ports;
    const onReports: HostEvents["onReports"] = (reports) => this.#turns.reported(reports);
    const onInspect: HostEvents["onInspect"] = (frames) => {
      if (host !== null) this.inspections.received(host, frames);
    };
    return { onReports, onDelta, onDraft, onInspect, ask, onLog };
  }

  #nextEpoch(): number {
    this.#epoch += 1;
    return this.#epoch;
  }

  #createHost(id: number, supervision: Supervision): SupervisedHost {
    const { clock, log, load } = this.#ports;
    return new SupervisedHost({
      id,
      clock,
      log,
      factory: this.#factory,
      supervision,
      poison: this.#poison,
      events: this.#hostEvents(id),
      nextEpoch: () => this.#nextEpoch(),
      traffic: {
        load,
        configFor: (version) => this.#configFor(version),
        tight: () => this.#ports.tight?.() === true,
        onReply: (answer) => this.#results.get(id)?.push(answer),
        onRebuild: (conv, key, error) =>
          this.#report("conversation.rebuilt", { host: id, conv, key, error }),
      },
      onReady: (host) => {
        this.inspections.ready(host);
        this.#turns.startWaiting();
      },
      onLost: (host, reason, unexplained) => this.#lost(host, reason, unexplained),
      onPoison: (entry, error) => this.#quarantine(entry, `${error}, again and again`),
      onBroken: (host) => void this.#broken(host),
      onChange: () => this.#changed(),
      onStep: (step) => this.#ports.onStep?.(step),
    });
  }

  #createResultQueue(): ResultQueue {
    const { clock, log } = this.#ports;
    return new ResultQueue({
      clock,
      log,
      effects: () => this.#ports.effects(),
      onStalled: () => this.#changed(),
      onDurable: (answers) => this.#durable(answers),
    });
  }

  #durable(answers: readonly Answer[]): void {
    for (const host of this.#hosts) {
      const own = answers.filter((answer) => answer.host === host.id);
      if (own.length > 0) host.traffic.durable(own);
    }
    for (const { result, entries } of answers)
      for (const { conv, seq, error } of result.rejected) {
        const key = [...entries, ...result.steps].find((entry) => entry.conv === conv)?.key ?? "";
        this.#quarantine({ conv, key, seq }, error);
      }
    for (const { traffic } of this.#hosts) traffic.pump();
    this.#changed();
  }

  #ownerOf(conv: number): SupervisedHost | undefined {
    return this.#usable.length === 0 ? undefined : this.#hosts[ownerOf(conv, this.#usable)];
  }

  /** Puts an event into its host's mailbox. Without a host it remains in the journal. */
  #route(entry: HostEntry): SupervisedHost | undefined {
    const host = this.#ownerOf(entry.conv);
    host?.traffic.push(entry);
    return host;
  }

  #agentSpec({ agentId, key, cfg, question }: TurnRequest): AgentSpec {
    const { configFor, folderOf } = this.#ports;
    // Only the latest config has its secrets for sure: older ones may come from the journal.
    const latest = configFor(Math.max(cfg, this.#latest));
    if (question !== undefined) return judgeSpec(resolveJudge(latest, agentId, key), question);
    const known = latest.agents.list.some(({ id }) => id === agentId);
    const config = known ? latest : configFor(cfg);
    const { driver, name: agentName } = agentOf(config, agentId);
    // Not the default one: it exists from the first transcript on, so programs would change folders.
    const folder = config.agents.list.find(({ id }) => id === agentId)?.workspace;
    const workspace = folder === undefined ? {} : { workspace: folderOf?.(folder) ?? folder };
    return { agentId, agentName, ...workspace, kind: driver.kind, config: driver };
  }

  #configFor(version: number): HostConfig {
    let config = this.#configs.get(version);
    if (config === undefined) {
      config = { version, config: withoutSecrets(this.#ports.configFor(version)) };
      this.#configs.set(version, config);
    }
    return config;
  }

  #lost(host: SupervisedHost, reason: string, unexplained: boolean): void {
    const turns = this.#turns.lose(host.id);
    if (unexplained) this.#isolation?.suspect(turns);
    this.inspections.lost(host.id, reason);
    this.#report("host.lost", { host: host.id, reason, turns: turns.length });
    this.#ports.onHostLost({ host: host.id, turns });
  }

  async #broken(host: SupervisedHost): Promise<void> {
    this.#ports.log("error", "host.broken", { host: host.id });
    this.#report("host.broken", { host: host.id });
    this.#usable = this.#usable.filter((id) => id !== host.id);
    const entries = host.traffic.drain();
    const line = this.#results.get(host.id);
    this.#moving += 1;
    // Its last answers come first: what moves is loaded from the store.
    while (line !== undefined && !line.empty) await this.#change();
    this.#moving -= 1;
    this.dispatch(entries);
    this.#turns.startWaiting();
    this.#changed();
  }

  #quarantine(entry: { conv: number; key: string; seq: number }, error: string): void {
    const { conv, key, seq } = entry;
    this.#ports.log("error", "event.quarantined", { conv, key, seq, error });
    this.#ports.onQuarantine({ conv, key, seq, error });
  }

  #report(system: string, fields: Readonly<Record<string, string | number>>): void {
    this.#ports.onStatus({ t: this.#ports.clock.now(), system, ...fields });
  }

  /** Whether something is in progress that `settled` waits for. */
  #busy(): boolean {
    if (this.#stopped) return false;
    if (this.#moving > 0) return true;
    return this.#hosts.some((host) => {
      if (host.state === "broken") return false;
      const line = this.#results.get(host.id);
      if (line !== undefined && line.stalled !== null) return false;
      return line?.empty === false || !host.traffic.settled;
    });
  }

  /** Grows with everything that happens on this thread. */
  #activity(): number {
    return this.#changeCount + (this.#runner?.activity ?? 0);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changes.push(resolve);
    });
  }

  #changed(): void {
    this.#changeCount += 1;
    for (const resolve of this.#changes.splice(0)) resolve();
  }
}
