/**
 * `earshot init`: asks what a first config needs and writes it, with a comment for each line. A
 * bot's token is tried before it is written. With --yes it asks nothing and uses the environment.
 */
import { existsSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { configFromText } from "../../../adapters/files/config-file.ts";
import { EarshotError } from "../../../domain/errors.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { identifyAccount } from "../../checks/live/identify-account.ts";
import { createRegistry } from "../../config/registry.ts";
import { keyVariableOf } from "../../setup/answers.ts";
import { storeSecrets } from "../../state/secrets-file.ts";
import { prepareStateDir } from "../../state/state-dir.ts";
import {
  action,
  errorLine,
  print,
  type StateOptions,
  stateDirFor,
  withStateDir,
} from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { type Answers, configText, tokenVariable } from "../setup/init-config.ts";
import { type Found, interview } from "../setup/init-prompts.ts";

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
  telegram: null,
};

const help: HelpText = {
  about:
    "Asks for the agent's name, the model, and a Telegram bot; models are listed by their server, and " +
    "model and token are tried immediately. Keys go to secrets.json in the state directory. " +
    "With --yes it asks nothing and uses TELEGRAM_BOT_TOKEN of the environment, if it is set. The " +
    "written file is valid.",
  examples: [
    ["earshot init", "asks, then writes earshot.json5 in the state directory"],
    ["earshot init --yes --config ./earshot.json5", "writes the defaults with comments"],
    ["TELEGRAM_BOT_TOKEN=… earshot init --yes", "with a Telegram bot"],
  ],
  exits:
    "0 written, 1 failed (for example, the token was refused), 2 nothing written: the file exists, or " +
    "you cancelled.",
};

export function addInitCommand(program: Command): void {
  addHelp(withStateDir(program.command("init")), help)
    .description("Write a first config file, with comments")
    .option("--config <file>", "where to write it (default: earshot.json5 in the state directory)")
    .option("--yes", "ask nothing")
    .option("--force", "replace an existing file")
    .action(action(init));
}

async function init(options: InitOptions): Promise<void> {
  const stateDir = stateDirFor(options);
  const path =
    options.config === undefined ? join(stateDir, "earshot.json5") : resolve(options.config);
  const asks = options.yes !== true;
  if (asks && !process.stdin.isTTY)
    throw new EarshotError("EAR_USAGE", "Cannot ask: there is no terminal. Use --yes");
  // Before any question: answers that cannot be written would be wasted.
  if (options.force !== true && existsSync(path)) throw alreadyThere(path);
  const found = environmentFacts();
  const answers = asks ? await interview(defaults, found) : await answersFromEnvironment(found);
  const text = configText(answers);
  const secrets = secretsOf(answers);
  const env = { [tokenVariable]: "0:checked-before", ...secrets };
  configFromText(text, path, { env, parse: createRegistry() });
  if (options.config === undefined || answers.key !== null) await prepareStateDir(stateDir);
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
  if (answers.telegram !== null && answers.telegram.token === null && found.token === "")
    print(`set ${tokenVariable} to the bot's token, then run: earshot doctor`);
  print(`next: earshot start${placeFlags(options, path)}`);
}

/** A model's key goes to the file of secrets of the state directory. */
function secretsOf({ driver, key }: Answers): Readonly<Record<string, string>> {
  if (key === null || driver === "guide" || driver === "auto") return {};
  return { [keyVariableOf(driver)]: key };
}

/** The options with which `start` finds the file. */
function placeFlags({ config, stateDir }: InitOptions, path: string): string {
  if (config !== undefined) return ` --config ${path}`;
  const isNamed = stateDir !== undefined && stateDir !== process.env.EARSHOT_STATE_DIR;
  return isNamed ? ` --state-dir ${stateDir}` : "";
}

const identifyMsMax = 5_000;

const alreadyThere = (path: string): EarshotError =>
  new EarshotError("EAR_USAGE", `Cannot write ${path}: it exists. --force replaces it`);

/** What the environment contains about a bot. */
function environmentFacts(): Found {
  const apiRoot = process.env.TELEGRAM_API_ROOT ?? "";
  const root = apiRoot === "" ? {} : { apiRoot };
  return {
    token: process.env[tokenVariable] ?? "",
    apiRoot: apiRoot === "" ? null : apiRoot,
    async identify(botToken) {
      const telegram = createRegistry().channels.get("telegram");
      const account = { botToken, ...root };
      const schema = telegram?.accountSchema as { safeParse(value: unknown): { success: boolean } };
      if (telegram === undefined || !schema.safeParse(account).success)
        throw new EarshotError(
          "EAR_CHANNEL_CONFIG",
          "Cannot use this token: it does not have the form <number>:<letters>",
        );
      const identity = await identifyAccount(
        telegram,
        "default",
        account,
        AbortSignal.timeout(identifyMsMax),
      );
      return `${identity?.name} (${identity?.id})`;
    },
  };
}

/** Without questions: a token of the environment is tried. */
async function answersFromEnvironment({
  token,
  apiRoot,
  identify: whoIs,
}: Found): Promise<Answers> {
  if (token === "") return defaults;
  const telegram = { token: null, apiRoot, owner: "", group: "" };
  try {
    print(terminalSafe(`the token in ${tokenVariable} is valid: the bot is ${await whoIs(token)}`));
  } catch (error) {
    // A platform that cannot be reached now says nothing about the token.
    if (!(error instanceof EarshotError) || error.disposition !== "retry") throw error;
    process.stderr.write(`${errorLine(error)}\n`);
  }
  return { ...defaults, telegram };
}
