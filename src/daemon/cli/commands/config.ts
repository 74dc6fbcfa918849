/**
 * `earshot config`: check, schema, show
 * =====================================
 * Works on the file, not on the daemon, so it can be used before a daemon starts or while one runs.
 * `check` also tries what the config names: models, web services, platforms, folders.
 * `show` names the origin of every value; secrets are never printed.
 */
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { createSystemClock } from "../../../adapters/system/clock.ts";
import { configJsonSchema } from "../../../domain/config/docs/json-schema.ts";
import {
  type ConfigValue,
  configValues,
  type EarshotConfig,
  pathText,
} from "../../../domain/config/index.ts";
import { findingText } from "../../../domain/config-finding.ts";
import { EarshotError } from "../../../domain/errors.ts";
import type { ChatOverride } from "../../../domain/ports/index.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { noFacts } from "../../checks/check.ts";
import { checkConfig } from "../../checks/config-checks.ts";
import { liveChecks, runLiveChecks } from "../../checks/live/live-checks.ts";
import { tlsFacts } from "../../checks/tls-facts.ts";
import { overridesFileName, readOverrides } from "../../config/chat-overrides.ts";
import { configPathOf, readWithOverrides } from "../../config/config-source.ts";
import { loadConfiguredPlugins } from "../../config/plugins.ts";
import { createRegistry } from "../../config/registry.ts";
import { readSecrets, secretsFileName } from "../../state/secrets-file.ts";
import { collectChecks } from "../lib/check-progress.ts";
import {
  action,
  print,
  printJson,
  printText,
  type StateOptions,
  stateDirFor,
  table,
  withStateDir,
} from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

interface Options extends StateOptions {
  readonly config?: string;
  readonly port?: string;
  readonly json?: boolean;
  readonly offline?: boolean;
  readonly origins?: boolean;
}

/**
 * Loads the config as the daemon does: the file or the embedded defaults, with overrides from chats.
 * Overrides with which it is no longer valid are ignored, with a warning.
 */
export async function loadConfig(options: Pick<Options, "config" | "stateDir">) {
  const stateDir = stateDirFor(options);
  const { env } = process;
  const path = configPathOf(options.config, env, stateDir);
  const { channels } =
    path === null
      ? { channels: [] }
      : await loadConfiguredPlugins({ config: path, env, stateDir: dirname(path) });
  const reading = { env, parse: createRegistry(channels) };
  const overrides = await readOverrides(stateDir);
  try {
    return {
      ...(await readWithOverrides(path, stateDir, overrides, reading)),
      path,
      overrides,
    };
  } catch (error) {
    if (overrides.length === 0) throw error;
    const loaded = await readWithOverrides(path, stateDir, [], reading);
    const why = error instanceof Error ? error.message : String(error);
    const left = `${join(stateDir, overridesFileName)} is ignored, because the config is invalid with it: ${why}`;
    return { ...loaded, path, overrides: [], warnings: [...loaded.warnings, left] };
  }
}

/** The origin of a value, for people; an override from a chat names its author. */
function originOf(
  { path, origin }: { readonly path: string; readonly origin: string },
  overrides: readonly ChatOverride[],
): string {
  const steps = (one: string) =>
    pathText(one.split(".").map((name) => (/^\d+$/.test(name) ? Number(name) : name)));
  const by = overrides.findLast(({ path: place }) => {
    const whole = steps(place);
    return path === whole || path.startsWith(`${whole}.`) || path.startsWith(`${whole}[`);
  })?.by;
  return by === undefined || origin === "flag" ? origin : `set in a chat by ${terminalSafe(by)}`;
}

const help: HelpText = {
  about:
    "Uses the file of --config, else of EARSHOT_CONFIG, else earshot.json5 in the state " +
    "directory, else the built-in defaults (docs/reference/config.md).",
  examples: ["earshot config check", "earshot config show engagement"],
  exits: "0 valid; 1 something does not work, or the key is unknown; 2 the file is invalid.",
};
const checkHelp: HelpText = {
  about:
    "Prints a line for each problem: where it is and how to fix it. Keys, model names, " +
    "addresses, tokens and folders are tried, each for at most 10 s. Warnings do not change the " +
    "exit code.",
  examples: [
    "earshot config check",
    "earshot config check --config ./earshot.json5",
    ["earshot config check --offline", "skip what needs the network"],
  ],
  exits: "0 valid; 1 valid, but something that was tried does not work; 2 invalid or unreadable.",
};
const schemaHelp: HelpText = {
  about:
    'With `"$schema": "./earshot.schema.json"` in the config file, editors that support JSON ' +
    "Schema complete and explain its keys.",
  examples: ["earshot config schema > earshot.schema.json"],
  exits: "0 printed.",
};
const showHelp: HelpText = {
  about:
    "An origin is default, file, env (a secret from the environment), flag, or `set in a chat " +
    "by …` (/config set). Secrets are hidden.",
  examples: [
    "earshot config show",
    "earshot config show engagement",
    ["earshot config show --origins", "with the line in the file"],
    `earshot config show --json | jq '.[] | select(.origin != "default")'`,
  ],
  exits: "0 shown; 1 unknown key; 2 the file is invalid.",
};

const withConfig = (command: Command): Command =>
  withStateDir(command).option("--config <file>", "config file (EARSHOT_CONFIG)");

/** Adds `config` with its three commands. */
export function addConfigCommand(program: Command): void {
  const config = addHelp(program.command("config"), help).description("Check and show the config");
  addHelp(withConfig(config.command("check")), checkHelp)
    .description("Check the config file and try what it refers to")
    .option("--offline", "do not use the network")
    .option("--json", "print JSON")
    .action(action(check));
  addHelp(config.command("schema"), schemaHelp)
    .description("Print the JSON Schema of earshot.json5, for editors")
    .action(action(() => print(JSON.stringify(configJsonSchema(createRegistry()), null, 2))));
  addHelp(withConfig(config.command("show")), showHelp)
    .argument("[path]", "only values under this key, for example engagement")
    .description("Show every value and its origin")
    .option("--origins", "show the exact origin: line, variable or chat")
    .option("--port <number>", "port given to `earshot start`")
    .option("--json", "print JSON")
    .action(action(show));
}

async function check(options: Options): Promise<void> {
  const { path, config, warnings: about } = await loadConfig(options);
  const folder = path === null ? process.cwd() : dirname(path);
  const certificate = await tlsFacts(config.server, folder, Date.now());
  // A problem that prevents the start is an error, not a warning.
  if (certificate?.problem != null)
    throw new EarshotError("EAR_CONFIG_INVALID", certificate.problem);
  const facts = { ...noFacts, baseDir: folder };
  const found = await checkConfig(config, ["mistake", "missing"], facts);
  const warnings = [...about, ...found.map(findingText)];
  const tried = options.offline === true ? [] : await tryAll(config, folder, stateDirFor(options));
  const works = tried.every(({ state }) => state !== "wrong");
  if (!works) process.exitCode = 1;
  if (options.json === true) return printJson({ path, ok: works, warnings, tried });
  for (const warning of warnings) printText(terminalSafe(`warning: ${warning}`), 2);
  for (const { check: at, state, says } of tried)
    printText(terminalSafe(`${state}: ${at}: ${says}`), 2);
  if (path === null) return print("no config file: the built-in defaults apply");
  print(
    terminalSafe(works ? `${path} is valid` : `${path} is valid, but not everything in it works`),
  );
}

/** Tries what the config names, with the progress on a terminal. */
async function tryAll(config: EarshotConfig, baseDir: string, stateDir: string) {
  const checks = liveChecks({ config, ...createRegistry(), baseDir, stateDir });
  const { results, onStep } = collectChecks();
  for (const { check } of checks) onStep({ check, state: "running" });
  await runLiveChecks(checks, createSystemClock(), onStep);
  return results;
}

/** Values of the command line and the environment, which override the file. */
function flagsOf(options: Options): Readonly<Record<string, unknown>> {
  const port = options.port ?? process.env.PORT;
  return port === undefined || port === "" ? {} : { "server.port": Number(port) };
}

async function show(path: string | undefined, options: Options): Promise<void> {
  const { config, raw, overrides, lineOf } = await loadConfig(options);
  const below = (name: string) =>
    path === undefined ||
    name === path ||
    name.startsWith(`${path}.`) ||
    name.startsWith(`${path}[`);
  const lines = options.origins === true ? lineOf : undefined;
  const values = configValues(config, raw, flagsOf(options), lines)
    .filter(({ path: name }) => below(name))
    .map((value) => ({ ...value, origin: originOf(value, overrides) }));
  if (values.length === 0) process.exitCode = 1;
  if (options.json === true) return printJson(values);
  if (values.length === 0) return print(terminalSafe(`no config key is named ${path ?? ""}`));
  const place = originPlaces(stateDirFor(options));
  print(
    table(
      values.map((value) => [
        value.path,
        options.origins === true ? place(value) : value.origin,
        JSON.stringify(value.value),
      ]),
    ),
  );
}

/** A value whose origin may be the author of an override. */
type ShownValue = Omit<ConfigValue, "origin"> & { readonly origin: string };

/** Where exactly a value comes from. */
function originPlaces(stateDir: string) {
  const stored = readSecrets(stateDir);
  return ({ origin, value, line }: ShownValue): string => {
    const at = line === undefined ? "" : `line ${line}`;
    if (origin === "file") return at === "" ? origin : `file, ${at}`;
    if (origin === "env") {
      const name = String(value).slice(2, -1);
      const isStored = (process.env[name] ?? "") === "" && Object.hasOwn(stored, name);
      return `${isStored ? secretsFileName : "environment"}, named in ${at}`;
    }
    return origin === "default" || at === "" ? origin : `${origin}, over ${at}`;
  };
}
