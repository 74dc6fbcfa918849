/**
 * Reads earshot.json5, and reads it again when it changes. An invalid file is refused as a whole,
 * with the line and the fix, and the previous config stays in force. Only secrets may come from the
 * environment: otherwise a config means the same on every machine.
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import JSON5 from "json5";
import {
  ConfigError,
  changedPaths,
  type EarshotConfig,
  isPlain,
  isSecretPath,
  mapTexts,
  type ParseOptions,
  parseConfig,
  pathText,
  unsafePath,
} from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { lineFinder } from "./json5-lines.ts";
import { watchFiles } from "./watch-files.ts";

/** A hundred thousand bindings are about 10 MB. */
const configBytesMax = 67_108_864;

export interface ConfigFileOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Schemas of channels and drivers. */
  readonly parse?: Omit<ParseOptions, "source" | "locate">;
  /** Applies overrides to the content of the file, which it must not modify. */
  readonly over?: (raw: unknown) => unknown;
}

export interface LoadedConfig {
  readonly path: string;
  readonly config: EarshotConfig;
  /** The file's content, before environment and defaults. */
  readonly raw: unknown;
  /** The line of a value in the file, or of what is around it. */
  readonly lineOf: (path: readonly PropertyKey[]) => number;
  /** Risky but allowed settings, one line each. */
  readonly warnings: readonly string[];
}

interface FileText {
  readonly text: string;
  /** Users other than the owner may read it. */
  readonly shown: boolean;
}

const unsafe = (path: string, why: string, fix: string): EarshotError =>
  new EarshotError("EAR_CONFIG_UNSAFE", `Cannot read ${path}: ${why}. ${fix}`);

/**
 * Anyone who can write the config controls what the daemon runs, so the file must belong to this
 * user or root and must not be world-writable.
 */
function checkOwner(path: string, { uid, mode }: Stats): void {
  const me = process.getuid?.();
  if (me === undefined) return;
  if (uid !== me && uid !== 0)
    throw unsafe(path, `it belongs to user ${uid}`, "Use a file that belongs to you");
  if ((mode & 0o002) !== 0) throw unsafe(path, "everyone may write it", `Run chmod 600 ${path}`);
}

async function readText(path: string): Promise<FileText> {
  let file: FileHandle | null = null;
  try {
    // Checks and reads the same open file, even if the path is replaced meanwhile.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > configBytesMax)
      throw new EarshotError(
        "EAR_CONFIG_INVALID",
        `Cannot read ${path}: it is not a file of at most ${configBytesMax} bytes`,
      );
    checkOwner(path, stats);
    const shown = process.platform !== "win32" && (stats.mode & 0o077) !== 0;
    return { text: await file.readFile("utf8"), shown };
  } catch (cause) {
    if (cause instanceof EarshotError) throw cause;
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown error";
    if (code === "ELOOP") throw unsafe(path, "it is a symbolic link", "Use the file it points to");
    const why =
      code === "ENOENT" ? "there is no such file" : `the system refuses to open it (${code})`;
    throw new EarshotError("EAR_CONFIG_INVALID", `Cannot read ${path}: ${why}`, { cause });
  } finally {
    await file?.close();
  }
}

/**
 * The text of a config file, with the same checks as `readConfigFile`.
 * @throws EarshotError EAR_CONFIG_UNSAFE | EAR_CONFIG_INVALID
 */
export async function readConfigText(path: string): Promise<string> {
  return (await readText(path)).text;
}

/**
 * Parses JSON5.
 * @throws EarshotError EAR_CONFIG_SYNTAX with line and column.
 */
export function parseJson5(text: string, source: string): unknown {
  try {
    return JSON5.parse(text.replace(/^\ufeff/u, ""));
  } catch (cause) {
    const { lineNumber, columnNumber, message } = cause as SyntaxError & {
      readonly lineNumber?: number;
      readonly columnNumber?: number;
    };
    const what = message
      .replace(/^JSON5: /u, "")
      .replace(/ at \d+:\d+$/u, "")
      .replace(/^invalid end of input$/u, "unexpected end of the file")
      .replace(/^invalid character/u, "unexpected character");
    const where =
      lineNumber === undefined ? "" : `, line ${lineNumber}, column ${columnNumber ?? 1}`;
    throw new EarshotError("EAR_CONFIG_SYNTAX", `Cannot read ${source}${where}: ${what}`, {
      cause,
    });
  }
}

const reference = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/u;
const anyReference = /\$\{[A-Za-z_]/u;

/**
 * Whether an account or channel on the way to `path` is disabled, so its secrets are not needed.
 */
function isDisabled(raw: unknown, path: readonly PropertyKey[]): boolean {
  let value = raw;
  for (const step of path) {
    if (!isPlain(value) || !Object.hasOwn(value, step)) return false;
    if (value.enabled === false) return true;
    value = value[String(step)];
  }
  return false;
}

/** The config with `${NAME}` replaced by the environment, in secret fields only. */
function withSecrets(
  raw: unknown,
  env: ConfigFileOptions["env"],
  refuse: (
    code: "EAR_CONFIG_SECRET_MISSING" | "EAR_CONFIG_INVALID",
    path: readonly PropertyKey[],
    why: string,
  ) => never,
): unknown {
  return mapTexts(raw, (text, path) => {
    if (!anyReference.test(text)) return text;
    if (!isSecretPath(path))
      refuse("EAR_CONFIG_INVALID", path, "cannot refer to the environment. Only secrets can");
    const name = reference.exec(text)?.[1];
    if (name === undefined)
      refuse("EAR_CONFIG_INVALID", path, `must be the secret itself, or exactly \${NAME}`);
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && value !== "") return value;
    if (isDisabled(raw, path)) return text;
    return refuse(
      "EAR_CONFIG_SECRET_MISSING",
      path,
      `is missing: ${name} is neither set in the environment nor stored in secrets.json`,
    );
  });
}

/** Parses one text as a config; `source` names it in messages. */
export function configFromText(
  text: string,
  source: string,
  options: ConfigFileOptions,
): Pick<LoadedConfig, "config" | "raw" | "lineOf"> {
  const raw = parseJson5(text, source);
  const line = lineFinder(text);
  const locate = (path: readonly PropertyKey[]) => `line ${line(path)}`;
  const parse: ParseOptions = { ...options.parse, source, locate };
  const overridden = options.over?.(raw) ?? raw;
  if (unsafePath(overridden) !== null)
    return { config: parseConfig(overridden, parse), raw, lineOf: line };
  const complete = withSecrets(overridden, options.env, (code, path, why) => {
    const problem = { code, path, message: `${pathText(path)} ${why}` };
    throw new ConfigError([problem], { cannot: `read ${source}`, locate });
  });
  return { config: parseConfig(complete, parse), raw, lineOf: line };
}

/**
 * Reads a config file.
 * @throws EarshotError EAR_CONFIG_SYNTAX | EAR_CONFIG_INVALID | EAR_CONFIG_UNKNOWN_KEY |
 * EAR_CONFIG_SECRET_MISSING | EAR_CONFIG_UNSAFE, each with the file, the place and the fix.
 */
export async function readConfigFile(
  path: string,
  options: ConfigFileOptions,
): Promise<LoadedConfig> {
  return loadedFrom(path, await readText(path), options);
}

function loadedFrom(
  path: string,
  { text, shown }: FileText,
  options: ConfigFileOptions,
): LoadedConfig {
  const { config, raw, lineOf } = configFromText(text, path, options);
  const written = shown ? findPlainSecret(raw) : null;
  if (written !== null)
    throw unsafe(
      path,
      `others may read it, and it contains ${pathText(written)}`,
      `Run chmod 600 ${path}, or write "\${NAME}" and set that variable in the environment`,
    );
  return { path, config, raw, lineOf, warnings: [] };
}

/** The path of the first secret written in the file itself, or null. */
function findPlainSecret(raw: unknown): readonly PropertyKey[] | null {
  let found: readonly PropertyKey[] | null = null;
  mapTexts(raw, (text, path) => {
    if (isSecretPath(path) && text !== "" && !reference.test(text)) found ??= path;
    return text;
  });
  return found;
}

/**
 * Reads some sections of a config file, with defaults for the rest: for callers that need no
 * channels, agents or their secrets.
 * @throws EarshotError as `readConfigFile`, for these sections.
 */
export async function readConfigSections(
  path: string,
  sections: readonly (keyof EarshotConfig)[],
): Promise<EarshotConfig> {
  const { text } = await readText(path);
  const raw = parseJson5(text, path);
  const wanted = new Set<string>(sections);
  const selected = isPlain(raw)
    ? Object.fromEntries(Object.entries(raw).filter(([name]) => wanted.has(name)))
    : raw;
  const line = lineFinder(text);
  return parseConfig(selected, { source: path, locate: (at) => `line ${line(at)}` });
}

export interface ConfigWatchOptions extends ConfigFileOptions {
  /**
   * Called with a valid config that differs from the last, and the changed paths: none where the last one could not be
   * applied and the file is as before.
   */
  readonly changed: (loaded: LoadedConfig, paths: readonly string[]) => void | Promise<void>;
  /** Called with each valid file, before it is applied, also if nothing differs. */
  readonly read?: (loaded: LoadedConfig) => void;
  /** Called when the text of the file is in force, also if it says the same as before. */
  readonly applied?: (text: string) => void;
  /**
   * Called when the file is invalid or could not be applied, with its text (null: not read); the last
   * good config stays.
   */
  readonly refused: (error: unknown, text: string | null) => void;
  /** Quiet time after the last write. @default 100 */
  readonly settleMs?: number;
}

export interface ConfigWatch {
  /** Sets the config that later changes are compared with. */
  took(config: EarshotConfig): void;
  close(): Promise<void>;
}

/**
 * Watches a config file, one reload at a time. Editors that write a new file and rename it are
 * supported; a missing file changes nothing until it appears.
 */
export function watchConfigFile(first: LoadedConfig, options: ConfigWatchOptions): ConfigWatch {
  let good = first;
  /** A change failed: some of it may be in force. */
  let isInDoubt = false;
  const changed = async () => {
    let text: string | null = null;
    try {
      const file = await readText(first.path);
      text = file.text;
      const loaded = loadedFrom(first.path, file, options);
      options.read?.(loaded);
      const paths = changedPaths(good.config, loaded.config);
      if (paths.length > 0 || isInDoubt) {
        isInDoubt = true;
        await options.changed(loaded, paths);
        isInDoubt = false;
        good = loaded;
      }
      options.applied?.(text);
    } catch (error) {
      options.refused(error, text);
    }
  };
  const { settleMs = 100 } = options;
  const watch = watchFiles([first.path], { intervalMs: 250, settleMs, changed });
  return {
    took(config) {
      isInDoubt = false;
      good = { ...good, config };
    },
    close: () => watch.close(),
  };
}
