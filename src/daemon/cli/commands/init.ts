/**
 * `earshot init`: asks what a first config needs and writes it, with a comment for each line; into a
 * file that is there it writes what was answered, by a diff. A channel's account is tried before it is
 * written. With --yes it asks nothing and uses the environment.
 */
import { existsSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { configFromText, readConfigText } from "../../../adapters/files/config-file.ts";
import { agentOf, defaultAgentId } from "../../../domain/config/index.ts";
import { EarshotError } from "../../../domain/errors.ts";
import { loadConfiguredPlugins } from "../../config/plugins.ts";
import { createRegistry, type Registry } from "../../config/registry.ts";
import { keyVariableOf, type SetupAnswers } from "../../setup/answers.ts";
import { planOf } from "../../setup/plan.ts";
import { storeSecrets, withStoredSecrets } from "../../state/secrets-file.ts";
import { prepareStateDir } from "../../state/state-dir.ts";
import { action, print, type StateOptions, stateDirFor, withStateDir } from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { fieldsFromEnvironment, unlessGiven } from "../setup/add-channel.ts";
import { answersIn, isConnectable, missingIn } from "../setup/channel-answers.ts";
import { type Answers, accountPart, configText } from "../setup/init-config.ts";
import { type ExistingAgent, type Interview, interview } from "../setup/init-prompts.ts";
import { showAndWrite } from "../setup/write-config.ts";

interface InitOptions extends StateOptions {
  readonly config?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

const defaults: Answers = {
  name: "earshot",
  purpose: "",
  driver: "guide",
  baseUrl: "http://127.0.0.1:11434/v1",
  model: "llama3.2",
  key: null,
  channel: null,
};

const help: HelpText = {
  about:
    "Asks for the agent's name, its model and a channel, and tries the model and the channel " +
    "before it writes. Keys are stored in secrets.json in the state directory. An existing file " +
    "keeps its comments and everything you did not change: you see the diff first, and a copy " +
    "of the old file is kept. With --yes it asks nothing and takes TELEGRAM_BOT_TOKEN from the " +
    "environment if it is set.",
  examples: [
    ["earshot init", "ask, then write earshot.json5 in the state directory"],
    ["earshot init --yes --config ./earshot.json5", "write the commented defaults"],
    ["TELEGRAM_BOT_TOKEN=… earshot init --yes", "with a Telegram bot"],
  ],
  exits:
    "0 written; 1 failed (for example, the token was refused); 2 nothing written: the file " +
    "exists (with --yes), or you cancelled.",
};

export function addInitCommand(program: Command): void {
  addHelp(withStateDir(program.command("init")), help)
    .description("Create the config file, or change the one you have")
    .option("--config <file>", "where to write it (default: earshot.json5 in the state directory)")
    .option("--yes", "do not ask; use the environment and the defaults")
    .option("--force", "replace an existing file")
    .action(action(init));
}

async function init(options: InitOptions): Promise<void> {
  const stateDir = stateDirFor(options);
  const path =
    options.config === undefined ? join(stateDir, "earshot.json5") : resolve(options.config);
  const asks = options.yes !== true;
  if (asks && !process.stdin.isTTY)
    throw new EarshotError("EAR_USAGE", "Cannot ask: this is not a terminal. Use --yes");
  const changes = options.force !== true && existsSync(path);
  // Before any question: answers that cannot be written would be wasted.
  if (changes && !asks) throw alreadyThere(path);
  if (changes) await change(path, stateDir);
  else await create(path, stateDir, options);
  print(`next: earshot start${placeFlags(options, path)}`);
}

/** Writes the answers into a file that is there. */
async function change(path: string, stateDir: string): Promise<void> {
  const { env } = process;
  const known = withStoredSecrets(env, stateDir);
  const plugins = await loadConfiguredPlugins({ config: path, env, stateDir });
  const parse = createRegistry(plugins.channels);
  const { config } = configFromText(await readConfigText(path), path, { env: known, parse });
  const agent = agentOf(config, defaultAgentId(config));
  const existing: ExistingAgent = {
    name: agent.name,
    purpose: agent.purpose,
    driver: agent.driver.kind,
    account: (channel) => config.channels[channel]?.accounts?.default,
  };
  const channels = [...parse.channels.values()].filter(isConnectable);
  const found = await interview({ plain: defaults, channels, env: known, existing });
  const aliases = agent.aliases.filter((one) => one !== agent.name);
  const answers = setupAnswers(found, aliases);
  const has = (variable: string) => (known[variable] ?? "") !== "";
  await showAndWrite({
    path,
    stateDir,
    parse,
    asks: true,
    plan(text) {
      const plan = planOf({ text, path, answers, channels: parse.channels, has });
      return { ...plan, secrets: unlessGiven(plan.secrets, known) };
    },
  });
}

function setupAnswers(
  { name, purpose, model, channel }: Interview,
  aliases: string[],
): SetupAnswers {
  const address = model === null || model.baseUrl === "" ? {} : { baseUrl: model.baseUrl };
  return {
    agent: { name, purpose, aliases },
    driver:
      model === null
        ? null
        : { kind: "model", provider: model.provider, model: model.model, ...address },
    ...(model !== null && model.key !== null && { key: model.key }),
    channel:
      channel === null
        ? null
        : { id: channel.channel.id, account: "default", fields: { ...channel.fields } },
  };
}

/** Writes a new file, with comments. */
async function create(path: string, stateDir: string, options: InitOptions): Promise<void> {
  const registry = createRegistry();
  const env = withStoredSecrets(process.env, stateDir);
  const answers =
    options.yes === true ? await answersFromEnvironment(registry) : await askAll(registry, env);
  const text = configText(answers);
  const secrets = unlessGiven(secretsOf(answers), env);
  configFromText(text, path, { env: { ...env, ...secrets }, parse: registry });
  const stores = Object.keys(secrets).length > 0;
  if (options.config === undefined || stores) await prepareStateDir(stateDir);
  await storeSecrets(stateDir, secrets);
  await writeFile(path, text, { mode: 0o600, flag: options.force === true ? "w" : "wx" }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") throw alreadyThere(path);
      throw new EarshotError(
        "EAR_USAGE",
        `Cannot write ${path} (${error.code ?? "unknown"}): name another file with --config`,
      );
    },
  );
  // A replaced file keeps its mode.
  await chmod(path, 0o600);
  print(`wrote ${path}`);
}

async function askAll(registry: Registry, env: NodeJS.ProcessEnv): Promise<Answers> {
  const channels = [...registry.channels.values()].filter(isConnectable);
  const found = await interview({ plain: defaults, channels, env, existing: null });
  const { name, purpose, driver, model, channel } = found;
  const { baseUrl, key, model: modelName } = model ?? { ...defaults, key: null };
  return {
    name,
    purpose,
    baseUrl,
    key,
    model: modelName,
    driver: driver === "keep" ? defaults.driver : driver,
    channel: channel === null ? null : accountPart(channel),
  };
}

/** Keys and tokens go to the file of secrets of the state directory. */
function secretsOf({ driver, key, channel }: Answers): Readonly<Record<string, string>> {
  const own =
    key === null || driver === "guide" || driver === "auto" ? {} : { [keyVariableOf(driver)]: key };
  return { ...own, ...channel?.secrets };
}

/** The options with which `start` finds the file. */
function placeFlags({ config, stateDir }: InitOptions, path: string): string {
  if (config !== undefined) return ` --config ${path}`;
  const isNamed = stateDir !== undefined && stateDir !== process.env.EARSHOT_STATE_DIR;
  return isNamed ? ` --state-dir ${stateDir}` : "";
}

const alreadyThere = (path: string): EarshotError =>
  new EarshotError(
    "EAR_USAGE",
    `Cannot write ${path}: it exists. Leave out --yes to change it, or use --force to replace it`,
  );

/** Without questions: the first channel for which the environment has every secret. */
async function answersFromEnvironment(registry: Registry): Promise<Answers> {
  const { env } = process;
  for (const channel of registry.channels.values()) {
    if (!isConnectable(channel)) continue;
    const place = { channel, accountId: "default", before: undefined };
    const fields = answersIn(place, env);
    const isNamed = channel.setup.fields.some(
      ({ name, secret }) => secret !== null && fields[name] !== undefined,
    );
    if (!isNamed || missingIn(place, fields).length > 0) continue;
    await fieldsFromEnvironment(place, env);
    return { ...defaults, channel: accountPart({ channel, fields, owner: "", group: "" }) };
  }
  return defaults;
}
