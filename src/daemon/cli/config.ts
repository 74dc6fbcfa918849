/**
 * `earshot config`: check, schema, show
 * =====================================
 * Works on the file, not on the daemon, so it can be used before a daemon is started or while one
 * runs. `show` says of every value where it comes from; secrets are never printed.
 */
import type { Command } from "commander";
import { readConfigFile } from "../../adapters/config-file.ts";
import { configValues, defaultConfig } from "../../domain/config/index.ts";
import { accessWarnings } from "../../machines/admission.ts";
import { routingWarnings } from "../../machines/routing.ts";
import { createRegistry } from "../assembly.ts";
import { configPathOf } from "../config-source.ts";
import { configSchemaText } from "../schemas.ts";
import {
  action,
  print,
  printJson,
  type StateOptions,
  stateDirFor,
  table,
  withStateDir,
} from "./shared.ts";

interface Options extends StateOptions {
  readonly config?: string;
  readonly port?: string;
  readonly json?: boolean;
}

/** What a command reads: the file that applies, or the embedded defaults. */
export async function loadConfig(options: Pick<Options, "config" | "stateDir">) {
  const path = configPathOf(options.config, process.env, stateDirFor(options));
  if (path === null) return { path, config: defaultConfig, raw: {}, warnings: [] };
  return readConfigFile(path, { env: process.env, parse: createRegistry() });
}

const checkHelp = `
Examples:
  earshot config check
  earshot config check --config ./earshot.json5

Every problem is one line with its place and the fix; warnings do not fail.`;

const showHelp = `
Examples:
  earshot config show
  earshot config show engagement
  earshot config show --json | jq '.[] | select(.origin != "default")'

Origins: default, file, env (a secret from the environment), flag.`;

const withConfig = (command: Command): Command =>
  withStateDir(command).option("--config <file>", "config file (EARSHOT_CONFIG)");

/** Adds `config` with its three commands. */
export function addConfigCommand(program: Command): void {
  const config = program.command("config").description("Check, explain and show the config file");
  withConfig(config.command("check"))
    .description("Whether the config file is fine; nothing is started")
    .option("--json", "for programs")
    .addHelpText("after", checkHelp)
    .action(action(check));
  config
    .command("schema")
    .description("The JSON Schema of earshot.json5, for editors")
    .addHelpText("after", "\nExample:\n  earshot config schema > earshot.schema.json")
    .action(action(() => print(configSchemaText().trimEnd())));
  withConfig(config.command("show"))
    .argument("[path]", "only values below this path, for example engagement")
    .description("Every value in force and where it comes from")
    .option("--port <number>", "as given to start")
    .option("--json", "for programs")
    .addHelpText("after", showHelp)
    .action(action(show));
}

async function check(options: Options): Promise<void> {
  const { path, config, warnings: about } = await loadConfig(options);
  const warnings = [...about, ...routingWarnings(config), ...accessWarnings(config)];
  if (options.json === true) return printJson({ path, ok: true, warnings });
  for (const warning of warnings) print(`warning: ${warning}`);
  print(path === null ? "no config file: the embedded defaults apply" : `${path} is fine`);
}

/** What the command line and the environment say over the file. */
function flagsOf(options: Options): Readonly<Record<string, unknown>> {
  const port = options.port ?? process.env.PORT;
  return port === undefined || port === "" ? {} : { "server.port": Number(port) };
}

async function show(path: string | undefined, options: Options): Promise<void> {
  const { config, raw } = await loadConfig(options);
  const below = (name: string) =>
    path === undefined ||
    name === path ||
    name.startsWith(`${path}.`) ||
    name.startsWith(`${path}[`);
  const values = configValues(config, raw, flagsOf(options)).filter(({ path: name }) =>
    below(name),
  );
  if (values.length === 0) process.exitCode = 1;
  if (options.json === true) return printJson(values);
  if (values.length === 0) return print(`nothing is called ${path ?? ""}`);
  print(
    table(values.map(({ path: name, value, origin }) => [name, JSON.stringify(value), origin])),
  );
}
