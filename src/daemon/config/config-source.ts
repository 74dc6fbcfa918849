/**
 * Where the config comes from
 * ===========================
 * The file that was named, else `<state>/earshot.json5` if it exists, else the embedded defaults.
 * The file is watched, also one that is created later: a valid change is applied, an invalid one is
 * logged and the last valid config stays. Overrides from chats apply on top (chat-overrides.ts).
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  type ConfigWatch,
  configFromText,
  type LoadedConfig,
  readConfigFile,
  watchConfigFile,
} from "../../adapters/files/config-file.ts";
import {
  ConfigError,
  type EarshotConfig,
  judgesOf,
  type ParseOptions,
} from "../../domain/config/index.ts";
import { overridePath, withChatOverrides } from "../../domain/config/parse/chat-overrides.ts";
import { findingText } from "../../domain/config-finding.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import type { ChatOverride, ConfigLayers, LayerName, Log } from "../../domain/ports/index.ts";
import { noFacts } from "../checks/check.ts";
import { checkConfig } from "../checks/config-checks.ts";
import { withStoredSecrets } from "../state/secrets-file.ts";
import {
  createLayers,
  type OverrideLayers,
  overridesFileName,
  readOverrides,
} from "./chat-overrides.ts";
import { type ExcerptLine, excerptOf } from "./excerpt.ts";

/** A config file that was refused; the last valid one is in force. */
export interface RefusedConfig {
  readonly path: string;
  readonly error: string;
  /** The first line that the error names. */
  readonly line: number | null;
  /** The text around that line, without secrets; empty: it names none. */
  readonly excerpt: readonly ExcerptLine[];
  readonly since: Millis;
}

/** What was last put in force while the daemon runs. */
export interface AppliedFile {
  /** The text of the file. Null: it has not changed since the start. */
  readonly text: string | null;
  /** How often a file was put in force; the same text counts again when the file was written again. */
  readonly times: number;
}

/** What a person should know about the config in force. */
export interface ConfigState {
  /** The file that is watched, also if there is none yet. */
  readonly file: string;
  /** Null: the newest file is in force. */
  refused(): RefusedConfig | null;
  applied(): AppliedFile;
  /** Overrides that hide another value in the file. */
  hiding(): readonly (ChatOverride & { readonly layer: LayerName })[];
}

export interface ConfigSource {
  /** Null: the embedded defaults. */
  readonly path: string | null;
  readonly state: ConfigState;
  config(): EarshotConfig;
  /** Calls with every valid new config, one after the other. */
  watch(changed: (config: EarshotConfig) => Promise<void>): Promise<void>;
  /** Overrides from chats. */
  readonly layers: ConfigLayers;
  /** Why a daemon could not start with the config as it is now; null: it could. */
  problem(): Promise<string | null>;
  close(): Promise<void>;
}

export interface ConfigSourceOptions {
  readonly file: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly stateDir: string;
  readonly parse: ParseOptions;
  readonly log: Log;
  readonly now: () => Millis;
}

/** The config file that applies, or null: the defaults do. A named file counts even if it is missing. */
export function configPathOf(
  file: string | undefined,
  env: NodeJS.ProcessEnv,
  stateDir: string,
): string | null {
  const named = file ?? env.EARSHOT_CONFIG;
  if (named !== undefined && named !== "") return resolve(named);
  const inState = join(stateDir, "earshot.json5");
  return existsSync(inState) ? inState : null;
}

/** Drivers that run code or programs of the operator. */
const local: ReadonlySet<string> = new Set(["module", "command", "acp"]);

/** Relative paths of programs and modules start beside the config file. */
function withBaseDir(config: EarshotConfig, path: string): EarshotConfig {
  const based = <Holder extends { driver?: { kind: string } | undefined }>(holder: Holder) =>
    holder.driver !== undefined && local.has(holder.driver.kind)
      ? { ...holder, driver: { baseDir: dirname(path), ...holder.driver } }
      : holder;
  for (const { holder, judge } of judgesOf(config))
    if (local.has(judge.kind)) holder.judge = { baseDir: dirname(path), ...judge };
  const { agents } = config;
  return {
    ...config,
    agents: { ...agents, defaults: based(agents.defaults), list: agents.list.map(based) },
  };
}

const noFile = (stateDir: string) => resolve(stateDir, "earshot.json5");

/**
 * The config file with overrides applied on top; without a file, the defaults with them.
 * @throws EarshotError EAR_CONFIG_*
 */
export async function readWithOverrides(
  path: string | null,
  stateDir: string,
  overrides: readonly ChatOverride[],
  { env, parse }: Pick<ConfigSourceOptions, "env" | "parse">,
): Promise<LoadedConfig> {
  const options = {
    env: withStoredSecrets(env, stateDir),
    parse,
    over: (raw: unknown) => withChatOverrides(raw, overrides),
  };
  if (path !== null && existsSync(path)) return readConfigFile(path, options);
  if (path !== null && path !== noFile(stateDir)) return readConfigFile(path, options);
  const source = overrides.length === 0 ? "the defaults" : join(stateDir, overridesFileName);
  return { path: noFile(stateDir), warnings: [], ...configFromText("{}", source, options) };
}

/** Whether the file sets something else at the place of an override. */
function hidesAnother(raw: unknown, { path, value }: ChatOverride): boolean {
  let there = raw;
  for (const step of overridePath(path)) {
    if (typeof there !== "object" || there === null || !Object.hasOwn(there, step)) return false;
    there = (there as Readonly<Record<string, unknown>>)[step];
  }
  return !isDeepStrictEqual(there, value);
}

function refusedConfig(
  path: string,
  error: string,
  text: string | null,
  since: Millis,
): RefusedConfig {
  const [, named] = /\bline (\d+)/u.exec(error) ?? [];
  const line = named === undefined ? null : Number(named);
  const excerpt = line === null || text === null ? [] : excerptOf(text, line);
  return { path, error, line, excerpt, since };
}

/** Why an override is refused, without the file's path and line: it is not written there. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof ConfigError)) return error;
  return new ConfigError(error.problems, { cannot: "set that" }, error);
}

/** The stored overrides, or none where the config is no longer valid with them; why is logged. */
async function readUsableOverrides(path: string | null, options: ConfigSourceOptions) {
  const { stateDir, log } = options;
  const stored = await readOverrides(stateDir);
  try {
    return { stored, first: await readWithOverrides(path, stateDir, stored, options) };
  } catch (error) {
    if (stored.length === 0) throw error;
    // The config may be valid without them, and the operator did not write them.
    const first = await readWithOverrides(path, stateDir, [], options);
    log("error", "config.overrides-ignored", {
      file: join(stateDir, overridesFileName),
      error: error instanceof EarshotError ? error.message : String(error),
    });
    return { stored: [], first };
  }
}

/** @throws EarshotError EAR_CONFIG_*, naming the file, the place and the fix. */
export async function openConfig(options: ConfigSourceOptions): Promise<ConfigSource> {
  const { env, parse, log, stateDir } = options;
  const path = configPathOf(options.file, env, stateDir);
  const { stored, first } = await readUsableOverrides(path, options);
  const mistakes = await checkConfig(first.config, ["mistake"], noFacts);
  for (const warning of [...first.warnings, ...mistakes.map(findingText)])
    log("warn", "config.warning", { warning });
  let watching: ConfigWatch | null = null;
  /** Changes are applied one after the other. */
  let taking: Promise<void> = Promise.resolve();
  /** Set before `watch` was called, by a command that a crash had interrupted. */
  let early: EarshotConfig | null = null;
  let takeOver = async (config: EarshotConfig): Promise<void> => {
    early = config;
  };
  const take = (config: EarshotConfig): Promise<void> => {
    const done = taking.then(() => takeOver(withBaseDir(config, first.path)));
    taking = done.catch(() => undefined);
    return done;
  };
  let raw: unknown = first.raw;
  let refused: RefusedConfig | null = null;
  let applied: AppliedFile = { text: null, times: 0 };
  const layers: OverrideLayers = createLayers(
    {
      stateDir,
      async check(overrides) {
        const read = (values: readonly ChatOverride[]) =>
          readWithOverrides(first.path, stateDir, values, options);
        const { config } = await read(overrides).catch(async (error: unknown) => {
          // If the file itself is invalid, its own error says what to fix.
          await read(layers.all());
          throw refusalOf(error);
        });
        return async () => {
          await take(config);
          watching?.took(config);
          log("info", "config.overridden", { values: overrides.length });
        };
      },
    },
    stored,
  );
  return {
    path,
    layers,
    state: {
      file: first.path,
      refused: () => refused,
      applied: () => applied,
      hiding: () =>
        (["set", "debug"] as const).flatMap((layer) =>
          layers
            .overrides(layer)
            .filter((override) => hidesAnother(raw, override))
            .map((override) => ({ ...override, layer })),
        ),
    },
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
      watching = watchConfigFile(first, {
        // Read again each time: a key may have been pasted since.
        get env() {
          return withStoredSecrets(env, stateDir);
        },
        parse,
        over: (raw) => withChatOverrides(raw, layers.all()),
        read(loaded) {
          raw = loaded.raw;
          refused = null;
        },
        applied(text) {
          applied = { text, times: applied.times + 1 };
        },
        async changed({ config }, paths) {
          await take(config);
          log("info", "config.changed", { path: first.path, paths });
        },
        refused(cause, text) {
          const error = cause instanceof EarshotError ? cause.message : String(cause);
          refused = refusedConfig(first.path, error, text, options.now());
          const running = "the last good config";
          log("error", "config.refused", { path: first.path, error, running });
        },
      });
    },
    close: async () => watching?.close(),
  };
}
