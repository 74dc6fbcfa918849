/**
 * A driver is opened once per agent and config and shared by its turns. A changed config opens a
 * new one for later turns; the old one is closed when its last turn has ended.
 */
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import type { AgentDriver, AgentPort, Clock, Log } from "../../domain/ports/index.ts";
import { pauseFor } from "../../domain/ports/pause.ts";
import type { AgentSpec } from "../protocol/host-protocol.ts";

interface OpenAgent {
  readonly fingerprint: string;
  readonly port: Promise<AgentPort>;
  turns: number;
}

/** An agent in use by one turn. */
export interface Lease {
  readonly port: Promise<AgentPort>;
  release(): void;
}

export class TurnAgents {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #drivers: ReadonlyMap<string, AgentDriver>;
  readonly #open = new Map<string, OpenAgent>();

  constructor(clock: Clock, log: Log, drivers: ReadonlyMap<string, AgentDriver>) {
    this.#clock = clock;
    this.#log = log;
    this.#drivers = drivers;
  }

  lease(spec: AgentSpec): Lease {
    const agent = this.#agentFor(spec);
    agent.turns += 1;
    return {
      port: agent.port,
      release: () => {
        agent.turns -= 1;
        if (agent.turns === 0 && this.#open.get(spec.agentId) !== agent) this.#close(agent);
      },
    };
  }

  closeAll(): void {
    for (const agent of this.#open.values()) this.#close(agent);
    this.#open.clear();
  }

  #agentFor(spec: AgentSpec): OpenAgent {
    const fingerprint = JSON.stringify([spec.kind, spec.agentName, spec.workspace, spec.config]);
    const before = this.#open.get(spec.agentId);
    if (before?.fingerprint === fingerprint) return before;
    const agent: OpenAgent = { fingerprint, port: this.#openDriver(spec), turns: 0 };
    this.#open.set(spec.agentId, agent);
    if (before !== undefined && before.turns === 0) this.#close(before);
    // An agent that could not be opened is opened again by the next turn.
    agent.port.catch(() => {
      if (this.#open.get(spec.agentId) === agent) this.#open.delete(spec.agentId);
    });
    return agent;
  }

  async #openDriver(spec: AgentSpec): Promise<AgentPort> {
    const { agentId, agentName, workspace, kind, config } = spec;
    const driver = this.#drivers.get(kind);
    if (driver === undefined)
      throw new EarshotError(
        "EAR_AGENT_CONFIG",
        `Cannot open agent "${agentId}": no driver has this kind (received ${kind})`,
      );
    const parsed = driver.configSchema.safeParse(config);
    if (!parsed.success)
      throw new EarshotError(
        "EAR_AGENT_CONFIG",
        `Cannot open agent "${agentId}": its driver's options are invalid: ` +
          z.prettifyError(parsed.error),
      );
    return driver.open({
      agentId,
      agentName,
      ...(workspace === undefined ? {} : { workspace }),
      config: parsed.data,
      now: () => this.#clock.now(),
      sleep: (ms, signal) => sleepOn(this.#clock, ms, signal),
    });
  }

  #close(agent: OpenAgent): void {
    const failed = (error: unknown) =>
      this.#log("warn", "agent.close-failed", { error: String(error) });
    agent.port
      .then(
        async (port) => port.close?.(),
        // Never opened: its turns have failed and reported why.
        () => undefined,
      )
      .catch(failed);
  }
}

/** Resolves after `ms` on the clock; rejects with the signal's reason if that comes first. */
export async function sleepOn(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await pauseFor(clock, ms, signal);
  signal.throwIfAborted();
}
