/**
 * Where the config comes from
 * ===========================
 * The file that was named, else `<state>/earshot.json5` if there is one, else the embedded defaults. A
 * file is followed, also one that comes later: what changes is taken over once it is valid, and until then
 * the last good one stays.
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type ConfigWatch,
  type LoadedConfig,
  readConfigFile,
  watchConfigFile,
} from "../adapters/config-file.ts";
import { defaultConfig, type EarshotConfig, type ParseOptions } from "../domain/config/index.ts";
import { EarshotError } from "../domain/errors.ts";
import type { Log } from "../domain/ports.ts";
import { routingWarnings } from "../machines/routing.ts";

export interface ConfigSource {
  /** Null: the embedded defaults. */
  readonly path: string | null;
  config(): EarshotConfig;
  /** Calls with every valid new config, one after the other. */
  watch(changed: (config: EarshotConfig) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export interface ConfigSourceOptions {
  readonly told: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly stateDir: string;
  readonly parse: ParseOptions;
  readonly log: Log;
}

/** The config file that applies, or null: the defaults do. A named file counts even if it is missing. */
export function configPathOf(
  told: string | undefined,
  env: NodeJS.ProcessEnv,
  stateDir: string,
): string | null {
  const named = told ?? env.EARSHOT_CONFIG;
  if (named !== undefined && named !== "") return resolve(named);
  const inState = join(stateDir, "earshot.json5");
  return existsSync(inState) ? inState : null;
}

/** Drivers of code and programs of one's own. */
const local: ReadonlySet<string> = new Set(["module", "command", "acp"]);

/** What agents run is looked for beside the config file, wherever the daemon was started. */
function withBaseDir(config: EarshotConfig, path: string): EarshotConfig {
  const based = <Holder extends { driver?: { kind: string } | undefined }>(holder: Holder) =>
    holder.driver !== undefined && local.has(holder.driver.kind)
      ? { ...holder, driver: { baseDir: dirname(path), ...holder.driver } }
      : holder;
  const { agents } = config;
  return {
    ...config,
    agents: { ...agents, defaults: based(agents.defaults), list: agents.list.map(based) },
  };
}

/** Nothing is written yet; the file is taken over as soon as it is. */
const defaultsOf = (stateDir: string): LoadedConfig => ({
  path: resolve(stateDir, "earshot.json5"),
  config: defaultConfig,
  raw: {},
  warnings: [],
});

/** @throws EarshotError EAR_CONFIG_*, naming the file, the place and the fix. */
export async function openConfig(options: ConfigSourceOptions): Promise<ConfigSource> {
  const { env, parse, log } = options;
  const path = configPathOf(options.told, env, options.stateDir);
  const first =
    path === null ? defaultsOf(options.stateDir) : await readConfigFile(path, { env, parse });
  for (const warning of [...first.warnings, ...routingWarnings(first.config)])
    log("warn", "config.warning", { warning });
  let watching: ConfigWatch | null = null;
  return {
    path,
    config: () => withBaseDir(first.config, first.path),
    async watch(changed) {
      watching = await watchConfigFile(first, {
        env,
        parse,
        async changed({ config }, paths) {
          await changed(withBaseDir(config, first.path));
          log("info", "config.changed", { path: first.path, paths });
        },
        refused: (error) =>
          log("error", "config.refused", {
            path: first.path,
            error: error instanceof EarshotError ? error.message : String(error),
            running: "the last good config",
          }),
      });
    },
    close: async () => watching?.close(),
  };
}
