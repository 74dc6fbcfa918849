/**
 * Simulating a room
 * =================
 * Composes the simulation for `earshot replay` and for the simulator page: a temporary database,
 * scripted agents whatever the config names, no network. Nothing here reaches a real room.
 */

import type { Why } from "../../actors/protocol/why.ts";
import { runScenario } from "../../actors/simulation/simulation.ts";
import { createScriptedDriver } from "../../adapters/agents/scripted/driver.ts";
import { openTemporaryStore } from "../../adapters/stores/sqlite-store.ts";
import { sha256 } from "../../adapters/system/digest.ts";
import { type EarshotConfig, overlay, scenarioConfig } from "../../domain/config/index.ts";
import type { AgentDriver, Log, Store } from "../../domain/ports/index.ts";
import { scenarioOf } from "../../domain/scenario/read-scenario.ts";
import type { Scenario, ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { StreamLine } from "../../domain/stream.ts";
import { withOwnAnswers } from "./recorded-judges.ts";

export interface SimulateOptions {
  /** The content of a config file; the scenario's header overrides it. */
  readonly config?: unknown;
  /** Replaces the scenario's config: its header and its config lines are ignored. */
  readonly instead?: unknown;
  /** @default 1 */
  readonly seed?: number;
  readonly prompts?: boolean;
  /** Every message, or those named. @default false */
  readonly explain?: boolean | readonly string[];
  readonly log?: Log;
  /** Where its journal is written. @default a temporary store */
  readonly store?: Store;
  readonly onLine?: (line: StreamLine) => void;
  readonly onInput?: (line: ScenarioLine) => void;
  readonly onProgress?: (done: number, total: number) => void | Promise<void>;
}

export interface Simulated {
  readonly lines: readonly StreamLine[];
  readonly why: Readonly<Record<string, Why>>;
}

/** A simulation of this many lines tunes the garbage collection. */
export const longLines = 20_000;
const quiet: Log = () => {};

/**
 * Runs scenario lines and resolves with all output lines.
 * @throws EarshotError EAR_SCENARIO_INVALID | EAR_CONFIG_*: nothing was run.
 */
export async function simulate(
  lines: readonly unknown[],
  options: SimulateOptions = {},
): Promise<Simulated> {
  const out: StreamLine[] = [];
  const why = await simulateScenario(scenarioOf(lines, "lines"), {
    ...options,
    onLine: (line) => {
      out.push(line);
      options.onLine?.(line);
    },
  });
  return { lines: out, why };
}

/** Runs a parsed scenario and emits each output line as it happens. */
export async function simulateScenario(
  scenario: Scenario,
  options: SimulateOptions = {},
): Promise<Simulated["why"]> {
  const { instead, config: base = {} } = options;
  const own = instead === undefined;
  const config = own ? configOf(scenario, base) : scenarioConfig({}, instead);
  const reading = (line: Readonly<Record<string, unknown>>) => scenarioConfig(line, base);
  if (own && scenario.kinds.has("config")) checkConfigs(scenario, base);
  const store = options.store ?? openTemporaryStore();
  const run = runScenario(
    scenarioUnder(scenario, options),
    {
      config: scriptedOnly(config),
      reading: (line) => (own ? scriptedOnly(reading(line)) : null),
      store,
      log: options.log ?? quiet,
      digest: sha256,
      drivers: (scripts) => {
        const driver = createScriptedDriver(scripts) as AgentDriver;
        return new Map([[driver.kind, driver]]);
      },
    },
    {
      seed: options.seed ?? 1,
      prompts: options.prompts ?? false,
      explain: options.explain ?? false,
      onLine: options.onLine ?? (() => {}),
      ...(options.onInput === undefined ? {} : { onInput: options.onInput }),
      ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    },
  );
  return run.finally(() => store.close());
}

/** The scenario as it is run: under another config only with answers of the same judge. */
export function scenarioUnder(
  scenario: Scenario,
  { instead, config: base = {} }: Pick<SimulateOptions, "instead" | "config">,
): Scenario {
  if (instead === undefined || !scenario.kinds.has("judge")) return scenario;
  return withOwnAnswers(scenario, {
    header: configOf(scenario, base),
    reading: (line) => scenarioConfig(line, base),
    instead: scenarioConfig({}, instead),
  });
}

/**
 * The config with the scenario's header over it. Each is parsed, so that an error names its source.
 */
function configOf({ header, headerAt }: Scenario, base: unknown): EarshotConfig {
  const plain = scenarioConfig({}, base);
  if (headerAt === undefined) return plain;
  return scenarioConfig(header.config, base, { source: `${headerAt} at config` });
}

/** Reads every config line before the first line runs. @throws EarshotError EAR_CONFIG_* */
function checkConfigs({ lines, configsAt = [] }: Scenario, base: unknown): void {
  let count = 0;
  for (const line of lines) {
    if (!("config" in line)) continue;
    const at = configsAt[count];
    count += 1;
    scenarioConfig(line.config, base, at === undefined ? {} : { source: `${at} at config` });
  }
}

/** Every agent follows the scenario's script instead of its own driver. */
function scriptedOnly(config: EarshotConfig): EarshotConfig {
  const driver = { kind: "scripted" };
  const list = config.agents.list.map((agent) =>
    agent.driver === undefined || agent.driver.kind === "scripted" ? agent : { ...agent, driver },
  );
  const { defaults } = config.agents;
  return overlay(config, {
    agents: {
      list,
      defaults: defaults.driver.kind === "scripted" ? defaults : { ...defaults, driver },
    },
  });
}

/** The part of the config that a simulation uses: rules and agents, not access. */
export function simulatedConfig(config: EarshotConfig): unknown {
  const { agents, engagement, context, loopGuard, messages, stream, silent, turn, prompt } = config;
  return { agents, engagement, context, loopGuard, messages, stream, silent, turn, prompt };
}
