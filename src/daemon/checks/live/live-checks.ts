/**
 * What can be tried
 * =================
 * Each address, key, model, token and folder that a config names, tried once without a turn and
 * without a message. All are tried at the same time, each within a time limit.
 */
import { access, constants } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createWorkspaces } from "../../../adapters/files/workspaces.ts";
import {
  accountsOf,
  agentOf,
  type EarshotConfig,
  judgeSettings,
  judgesOf,
  pathText,
} from "../../../domain/config/index.ts";
import type {
  AgentDriver,
  ChannelDefinition,
  Clock,
  TryResult,
} from "../../../domain/ports/index.ts";
import { late, within } from "../../../domain/ports/within.ts";
import { tryEngine } from "./engine-check.ts";
import { identifyAccount } from "./identify-account.ts";

/** For one check, ms. */
export const liveCheckMs = 10_000;

export interface CheckResult extends TryResult {
  /** What was checked: a path in the config, or a name. */
  readonly check: string;
}

export interface LiveCheck {
  readonly check: string;
  run(signal: AbortSignal): Promise<readonly TryResult[]>;
}

export interface LiveSubject {
  readonly config: EarshotConfig;
  readonly channels: ReadonlyMap<string, ChannelDefinition>;
  readonly drivers: ReadonlyMap<string, AgentDriver>;
  readonly stateDir: string;
  /** Where relative paths of the config start. */
  readonly baseDir: string;
}

/** Everything of a config that can be tried. */
export function liveChecks(subject: LiveSubject): readonly LiveCheck[] {
  return [
    ...engineChecks(subject),
    ...agentChecks(subject),
    ...accountChecks(subject),
    ...folderChecks(subject),
  ];
}

function engineChecks({ config: { engine } }: LiveSubject): LiveCheck[] {
  if (engine.kind === "pool") return [];
  return [{ check: "engine", run: (signal) => tryEngine(engine, signal) }];
}

/** What can be tried of one agent; null: its driver offers nothing. */
export function agentCheck(
  { config, drivers }: Pick<LiveSubject, "config" | "drivers">,
  agentId: string,
): LiveCheck["run"] | null {
  return driverCheck(drivers, agentOf(config, agentId).driver);
}

function driverCheck(
  drivers: LiveSubject["drivers"],
  config: { readonly kind: string },
): LiveCheck["run"] | null {
  const driver = drivers.get(config.kind);
  const parsed = driver?.configSchema.safeParse(config);
  if (driver?.probe === undefined || parsed?.success !== true) return null;
  return async (signal) => (await driver.probe?.(parsed.data, signal)) ?? [];
}

/** Agents with the same driver are tried once. */
function agentChecks({ config, drivers }: LiveSubject): LiveCheck[] {
  const placed = [
    ...config.agents.list.map(({ id }, index) => {
      const own = config.agents.list[index]?.driver !== undefined;
      const at = own ? `agents.list[${index}].driver` : "agents.defaults.driver";
      return { at, driver: agentOf(config, id).driver };
    }),
    ...judgesOf(config).map(({ path, judge }) => {
      const { driver } = judgeSettings(judge);
      return { at: pathText(path), driver: driver as { readonly kind: string } };
    }),
  ];
  const seen = new Set<string>();
  return placed.flatMap(({ at, driver }) => {
    const run = driverCheck(drivers, driver);
    const same = JSON.stringify(driver);
    if (run === null || seen.has(same)) return [];
    seen.add(same);
    return [{ check: at, run }];
  });
}

function accountChecks({ config, channels, stateDir }: LiveSubject): LiveCheck[] {
  return Object.entries(config.channels).flatMap(([id, channel]) => {
    const definition = channels.get(id);
    if (definition === undefined || definition.local) return [];
    return accountsOf(channel).map(([account, own]) => ({
      check: pathText(["channels", id, "accounts", account]),
      async run(signal: AbortSignal): Promise<readonly TryResult[]> {
        const found = await identifyAccount(definition, account, own, signal, stateDir);
        const says =
          found === undefined ? "configured" : `connected as ${found.name} (${found.id})`;
        const notes = (found?.notes ?? []).map(
          (note) => ({ state: "warning", says: note }) as const,
        );
        return [{ state: "ok", says }, ...notes];
      },
    }));
  });
}

/** Folders of agents. One that is missing is created when it is needed. */
function folderChecks({ config, stateDir, baseDir }: LiveSubject): LiveCheck[] {
  return config.agents.list.flatMap(({ workspace }, index) => {
    if (workspace === undefined) return [];
    const folder = createWorkspaces(baseDir, stateDir).folder(workspace);
    const run = async () => [await tryFolder(folder)];
    return [{ check: `agents.list[${index}].workspace`, run }];
  });
}

async function tryFolder(folder: string): Promise<TryResult> {
  for (let path = resolve(folder); ; path = dirname(path)) {
    const problem = await access(path, constants.W_OK).then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
    if (problem === null) return { state: "ok", says: `${folder} can be written` };
    if (problem !== "ENOENT" || path === dirname(path))
      return {
        state: "wrong",
        says: `${path} cannot be written (${problem}): change its owner or mode`,
      };
  }
}

/** Runs all at once; `onResult` hears each as it comes. */
export async function runLiveChecks(
  checks: readonly LiveCheck[],
  clock: Clock,
  onResult: (result: CheckResult) => void,
): Promise<void> {
  await Promise.all(
    checks.map(async ({ check, run }) => {
      for (const result of await runOne(run, clock)) onResult({ check, ...result });
    }),
  );
}

/** Its results within the time limit; a failure is one of them. */
export async function runOne(run: LiveCheck["run"], clock: Clock): Promise<readonly TryResult[]> {
  try {
    const found = await within(clock, liveCheckMs, run);
    if (found !== late) return found;
    return [{ state: "wrong", says: `no answer within ${liveCheckMs / 1_000} s` }];
  } catch (error) {
    return [{ state: "wrong", says: error instanceof Error ? error.message : String(error) }];
  }
}
