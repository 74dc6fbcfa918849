/**
 * One host across its epochs: started, watched, lost, restarted, given up. machines/host.machine.ts
 * decides what comes next; this file does it. A lost host loses nothing: its events go back to the
 * mailbox, its turns are reported lost.
 */
import { initialTransition, type SnapshotFrom, transition } from "xstate";
import type { Clock, Log, SideStep } from "../../domain/ports/index.ts";
import { type HostEvent, hostMachine } from "../../machines/host.machine.ts";
import { reasonOf } from "../host/conversation-host.ts";
import type { HostEvents, HostFactory, HostLink } from "../protocol/host-link.ts";
import type { HostEntry } from "../protocol/host-protocol.ts";
import type { HostStatus } from "../protocol/runtime.ts";
import type { Supervision } from "../protocol/supervisor.ts";
import { type DispatcherPorts, HostDispatcher } from "./host-dispatcher.ts";
import type { PoisonTracker } from "./poison-tracker.ts";

export interface SupervisedHostPorts {
  readonly id: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly factory: HostFactory;
  readonly supervision: Supervision;
  readonly poison: PoisonTracker;
  readonly events: HostEvents;
  readonly traffic: Omit<
    DispatcherPorts,
    "host" | "poison" | "onBreach" | "onLoadFailed" | "onChange"
  >;
  nextEpoch(): number;
  /** It answers: waiting turns may start. */
  onReady(host: SupervisedHost): void;
  /** It is gone. `unexplained`: it was not killed on purpose, and no event was being stepped. */
  onLost(host: SupervisedHost, reason: string, unexplained: boolean): void;
  onPoison(entry: { conv: number; key: string; seq: number }, error: string): void;
  onBroken(host: SupervisedHost): void;
  onChange(): void;
  onStep?(step: SideStep): void;
}

/** After this time a failed read of the store is tried again, ms. */
const reloadMs = 250;

export class SupervisedHost {
  readonly id: number;
  readonly traffic: HostDispatcher;
  readonly #ports: SupervisedHostPorts;
  #snapshot: SnapshotFrom<typeof hostMachine>;
  #link: HostLink | null = null;
  #epoch = 0;
  /** Refused calls of earlier epochs. */
  #refused = 0;
  /** Why the last start failed. */
  problem: string | null = null;
  /** Why it is being ended on purpose: no event is blamed for that. */
  #ordered: string | null = null;

  constructor(ports: SupervisedHostPorts) {
    this.id = ports.id;
    this.#ports = ports;
    const { intensityMax, periodMs, backoffMsMax } = ports.supervision;
    const rules = { intensityMax, periodMs, backoffMsMax };
    [this.#snapshot] = initialTransition(hostMachine, rules);
    this.traffic = new HostDispatcher({
      ...ports.traffic,
      host: this.id,
      poison: ports.poison,
      onBreach: (reason) => this.kill(`broke the protocol: ${reason}`),
      onLoadFailed: (error) => this.#reloadLater(error),
      onChange: ports.onChange,
    });
  }

  get link(): HostLink | null {
    return this.#link;
  }

  get state(): "starting" | "ready" | "restarting" | "broken" | "stopped" {
    return this.#snapshot.value;
  }

  /** Whether its answer to a batch is pending. */
  get awaitsReply(): boolean {
    return this.traffic.awaitsReply;
  }

  status(turns: number): HostStatus {
    const { state } = this;
    const refused = this.#refused + (this.#link?.refused?.() ?? 0);
    return {
      ...(refused === 0 ? {} : { refused }),
      id: this.id,
      state: state === "stopped" ? "broken" : state,
      epoch: this.#epoch,
      live: this.traffic.live,
      mailbox: this.traffic.load,
      restarts: this.#snapshot.context.restarts,
      turns,
    };
  }

  /** Starts it. Failures count as losses and are tried again. */
  start(): void {
    void this.#start();
  }

  /** Ends this epoch like a crash. */
  kill(reason: string): void {
    this.#link?.kill(reason);
  }

  /** The same on request: no event is blamed. */
  crash(reason: string): void {
    this.#ordered = reason;
    this.kill(reason);
  }

  stop(): void {
    this.#step({ type: "stop" });
    this.kill("stopped");
  }

  async #start(): Promise<void> {
    const { clock, log, factory: opener, events, nextEpoch } = this.#ports;
    this.#epoch = nextEpoch();
    try {
      const link = await opener.open(this.id, this.#epoch, events);
      if (this.state !== "starting") {
        link.kill("stopped");
        return;
      }
      this.#link = link;
      this.#step({ type: "answered" });
      void link.exited.then((reason) => this.#lost(link, reason));
      this.traffic.connect(link);
      log("info", "host.ready", { host: this.id, epoch: this.#epoch });
      this.#ports.onReady(this);
      this.traffic.pump();
    } catch (error) {
      this.problem = reasonOf(error);
      log("error", "host.start-failed", { host: this.id, error: this.problem });
      this.#step({ type: "lost", at: clock.monotonic() });
      this.#goOn();
    }
    this.#ports.onChange();
  }

  #lost(link: HostLink, reason: string): void {
    if (this.#link !== link) return;
    this.#link = null;
    this.#refused += link.refused?.() ?? 0;
    if (this.state === "stopped") {
      this.traffic.disconnect();
      return;
    }
    const ordered = this.#ordered !== null;
    this.#ordered = null;
    this.#step({ type: "lost", at: this.#ports.clock.monotonic() });
    const culprit = ordered ? null : link.heartbeat.currentEvent();
    this.#ports.log("warn", "host.lost", { host: this.id, reason, ...culprit });
    const poison = culprit !== null && this.#ports.poison.recordDeath(culprit.seq);
    const flown = this.traffic.disconnect();
    if (poison) this.#ports.onPoison({ ...culprit, key: keyOf(flown, culprit.conv) }, reason);
    this.#ports.onLost(this, reason, !ordered && culprit === null);
    this.#goOn();
    this.#ports.onChange();
  }

  /** After a loss: restarts now or later, or gives up. */
  #goOn(): void {
    const { clock } = this.#ports;
    if (this.state === "broken") {
      this.#ports.onBroken(this);
      return;
    }
    const again = () => {
      if (this.state !== "restarting") return;
      this.#step({ type: "paused" });
      this.start();
    };
    const { pauseMs } = this.#snapshot.context;
    if (pauseMs === 0) again();
    else clock.setTimer(clock.now() + pauseMs, again);
  }

  #reloadLater(error: unknown): void {
    const { clock, log } = this.#ports;
    log("error", "host.load-failed", { host: this.id, error: reasonOf(error) });
    clock.setTimer(clock.now() + reloadMs, () => {
      this.traffic.pump();
      this.#ports.onChange();
    });
  }

  #step(event: HostEvent): void {
    [this.#snapshot] = transition(hostMachine, this.#snapshot, event);
    const { value, context, status } = this.#snapshot;
    this.#ports.onStep?.({
      machine: "host",
      id: String(this.id),
      conv: null,
      event: event.type,
      value,
      context: {
        losses: context.losses.length,
        pauseMs: context.pauseMs,
        restarts: context.restarts,
      },
      detail: this.problem,
      ended: status === "done",
    });
  }
}

const keyOf = (entries: readonly HostEntry[], conv: number): string =>
  entries.find((entry) => entry.conv === conv)?.key ?? "";
