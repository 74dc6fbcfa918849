/**
 * Checks whether the configured agents and judges can run here, without starting them: for the commands that
 * check a config before a daemon uses it. Such problems would otherwise appear with the first
 * message to answer.
 */
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import {
  agentOf,
  type EarshotConfig,
  judgeSettings,
  judgesOf,
  pathText,
} from "../../domain/config/index.ts";
import type { ConfigFinding } from "../../domain/config-finding.ts";
import { canRun } from "../files/runnable.ts";
import { acpDriver, canLoadSdk } from "./acp/driver.ts";
import { commandDriver, programOf } from "./command/driver.ts";
import { moduleDriver } from "./module/driver.ts";

/**
 * Problems: a missing program or module, a package that is not installed. Relative paths start at
 * `baseDir`, the config file's folder.
 */
export async function agentWarnings(
  config: EarshotConfig,
  baseDir: string,
  searchPath = process.env.PATH ?? "",
): Promise<readonly ConfigFinding[]> {
  const found = config.agents.list.map(async ({ id, workspace }, index) => {
    const { driver } = agentOf(config, id);
    const problem = await problemOf({ baseDir, ...driver }, workspace, searchPath);
    return problem === null ? [] : [{ at: `agents.list[${index}]`, ...problem }];
  });
  const judges = judgesOf(config).map(async ({ path, judge }) => {
    const { driver } = judgeSettings(judge);
    const problem = await problemOf({ baseDir, ...driver }, undefined, searchPath);
    return problem === null ? [] : [{ at: pathText(path), ...problem }];
  });
  return (await Promise.all([...found, ...judges])).flat();
}

async function problemOf(
  driver: Readonly<Record<string, unknown>> & { readonly kind: string },
  workspace: string | undefined,
  searchPath: string,
): Promise<Omit<ConfigFinding, "at"> | null> {
  if (driver.kind === moduleDriver.kind) {
    const parsed = moduleDriver.configSchema.safeParse(driver);
    if (!parsed.success || !/^\.{0,2}\//.test(parsed.data.module)) return null;
    const path = resolve(parsed.data.baseDir ?? "", parsed.data.module);
    return (await exists(path))
      ? null
      : { wrong: `its module ${path} is not there`, fix: "correct the path" };
  }
  const runs = [acpDriver, commandDriver].find(({ kind }) => kind === driver.kind);
  const parsed = runs?.configSchema.safeParse(driver);
  if (parsed === undefined || !parsed.success) return null;
  const { command, cwd } = programOf(parsed.data, workspace);
  if (!(await canRun(command, searchPath)))
    return { wrong: `${command} cannot be run here`, fix: "install it, or name its path" };
  if (!(await exists(cwd)))
    return { wrong: `the folder ${cwd} that it runs in is not there`, fix: "create it" };
  if (driver.kind === acpDriver.kind && !(await canLoadSdk()))
    return {
      wrong: "the package of its driver is not installed",
      fix: "npm install @agentclientprotocol/sdk",
    };
  return null;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
