/**
 * Where the config comes from
 * ===========================
 * The file that was named, else `<state>/earshot.json5` if it exists, else the embedded defaults.
 * The file is watched, also one that is created later: a valid change is applied, an invalid one is
 * logged and the last valid config stays. Overrides from chats apply on top (chat-overrides.ts).
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type ConfigWatch,
  configFromText,
  type LoadedConfig,
  readConfigFile,
  watchConfigFile,
} from "../../adapters/files/config-file.ts";
import type { EarshotConfig, ParseOptions } from "../../domain/config/index.ts";
import { withChatOverrides } from "../../domain/config/parse/chat-overrides.ts";
import { findingText } from "../../domain/config-finding.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { ChatOverride, ConfigLayers, Log } from "../../domain/ports/index.ts";
import { noFacts } from "../checks/check.ts";
import { checkConfig } from "../checks/config-checks.ts";
import {
  createLayers,
  type OverrideLayers,
  overridesFileName,
  readOverrides,
} from "./chat-overrides.ts";

export interface ConfigSource {
  /** Null: the embedded defaults. */
  readonly path: string | null;
  config(): EarshotConfig;
  /** Calls with every valid new config, one after the other. */
  watch(changed: (config: EarshotConfig) => Promise<void>): Promise<void>;
  /** What was said over it in rooms. */
  readonly layers: ConfigLayers;
  /** Why a daemon could not start with it as it is now; null: it could. */
  problem(): Promise<string | null>;
  close(): Promise<void>;
}

export interface ConfigSourceOptions {
  readonly file: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly stateDir: string;
  readonly parse: ParseOptions;
  readonly log: Log;
}

/** The config file that applies, or null: the defaults do. A named file counts even if it is missing. */
export function configPathOf(
  given: string | undefined,
  env: NodeJS.ProcessEnv,
  stateDir: string,
): string | null {
  const named = given ?? env.EARSHOT_CONFIG;
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

const noFile = (stateDir: string) => resolve(stateDir, "earshot.json5");

/**
 * What the file says with what was said over it; without a file, over nothing.
 * @throws EarshotError EAR_CONFIG_*
 */
export async function readWithOverrides(
  path: string | null,
  stateDir: string,
  said: readonly ChatOverride[],
  { env, parse }: Pick<ConfigSourceOptions, "env" | "parse">,
): Promise<LoadedConfig> {
  const options = { env, parse, over: (raw: unknown) => withChatOverrides(raw, said) };
  if (path !== null && existsSync(path)) return readConfigFile(path, options);
  if (path !== null && path !== noFile(stateDir)) return readConfigFile(path, options);
  const source = said.length === 0 ? "the defaults" : join(stateDir, overridesFileName);
  return { path: noFile(stateDir), warnings: [], ...configFromText("{}", source, options) };
}

/** A refusal of what was said: the file has no line of it, and is none of the room's business. */
function asSaid(error: unknown, sources: readonly string[]): unknown {
  if (!(error instanceof EarshotError)) return error;
  const starts = sources.map((source) => `Cannot read ${source}: `);
  const lines = error.message.split("\n").map((line) => {
    const start = starts.find((prefix) => line.startsWith(prefix));
    if (start === undefined) return line;
    return `Cannot set that: ${line.slice(start.length).replace(/ \(line \d+\)$/u, "")}`;
  });
  return new EarshotError(error.code, lines.join("\n"), { cause: error });
}

/** What was said and fits; what does not fit any more is left out, and why is logged. */
async function fitting(path: string | null, options: ConfigSourceOptions) {
  const { stateDir, log } = options;
  const kept = await readOverrides(stateDir);
  try {
    return { kept, first: await readWithOverrides(path, stateDir, kept, options) };
  } catch (error) {
    if (kept.length === 0) throw error;
    // It may be valid without them, and the operator did not write them.
    const first = await readWithOverrides(path, stateDir, [], options);
    log("error", "config.said-left-out", {
      file: join(stateDir, overridesFileName),
      error: error instanceof EarshotError ? error.message : String(error),
    });
    return { kept: [], first };
  }
}

/** @throws EarshotError EAR_CONFIG_*, naming the file, the place and the fix. */
export async function openConfig(options: ConfigSourceOptions): Promise<ConfigSource> {
  const { env, parse, log, stateDir } = options;
  const path = configPathOf(options.file, env, stateDir);
  const { kept, first } = await fitting(path, options);
  const mistakes = await checkConfig(first.config, ["mistake"], noFacts);
  for (const warning of [...first.warnings, ...mistakes.map(findingText)])
    log("warn", "config.warning", { warning });
  let watching: ConfigWatch | null = null;
  /** Changes are applied one after the other, whatever caused them. */
  let taking: Promise<void> = Promise.resolve();
  /** Said before anybody follows, by a command that a crash had left over. */
  let early: EarshotConfig | null = null;
  let takeOver = async (config: EarshotConfig): Promise<void> => {
    early = config;
  };
  const take = (config: EarshotConfig): Promise<void> => {
    const done = taking.then(() => takeOver(withBaseDir(config, first.path)));
    taking = done.catch(() => undefined);
    return done;
  };
  const layers: OverrideLayers = createLayers(
    {
      stateDir,
      async check(said) {
        const read = (values: readonly ChatOverride[]) =>
          readWithOverrides(first.path, stateDir, values, options);
        const { config } = await read(said).catch(async (error: unknown) => {
          // Where the file itself is wrong, its own words say what to mend.
          await read(layers.all());
          throw asSaid(error, [first.path, join(stateDir, overridesFileName)]);
        });
        return async () => {
          await take(config);
          watching?.took(config);
          log("info", "config.said", { values: said.length });
        };
      },
    },
    kept,
  );
  return {
    path,
    layers,
    config: () => withBaseDir(first.config, first.path),
    async problem() {
      const wrong = await readWithOverrides(
        first.path,
        stateDir,
        layers.overrides("set"),
        options,
      ).then(
        () => null,
        (error: unknown) => error,
      );
      return wrong instanceof Error ? wrong.message : null;
    },
    async watch(changed) {
      takeOver = changed;
      if (early !== null) await changed(early);
      watching = await watchConfigFile(first, {
        env,
        parse,
        over: (raw) => withChatOverrides(raw, layers.all()),
        async changed({ config }, paths) {
          await take(config);
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
