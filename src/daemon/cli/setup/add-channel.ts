/** `earshot channels add <platform>`: asks for what a platform needs, tries it, writes it by a diff. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { configFromText, readConfigText } from "../../../adapters/files/config-file.ts";
import { EarshotError } from "../../../domain/errors.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { configPathOf } from "../../config/config-source.ts";
import { loadConfiguredPlugins } from "../../config/plugins.ts";
import { createRegistry } from "../../config/registry.ts";
import { channelAnswersSchema } from "../../setup/answers.ts";
import { accountPlanOf } from "../../setup/plan.ts";
import { withStoredSecrets } from "../../state/secrets-file.ts";
import {
  action,
  errorLine,
  print,
  type StateOptions,
  stateDirFor,
  withStateDir,
} from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { askChannel, identityText } from "./ask-channel.ts";
import {
  type AccountPlace,
  answersIn,
  type Connectable,
  type Fields,
  isConnectable,
  missingIn,
  tryAccount,
  variableFor,
} from "./channel-answers.ts";
import { showAndWrite } from "./write-config.ts";

interface AddOptions extends StateOptions {
  readonly config?: string;
  readonly account: string;
  readonly yes?: boolean;
}

const help: HelpText = {
  about:
    "Asks for what the platform needs, tries it, shows the diff of the config file and writes " +
    "it. A copy of the old file is kept; secrets are stored in secrets.json in the state " +
    "directory. With --yes it asks nothing: secrets come from their environment variables " +
    "(TELEGRAM_BOT_TOKEN), other answers from variables named after the channel and the field " +
    "(IRC_HOST, IRC_NICK).",
  examples: [
    ["earshot channels add telegram", "ask, try, show the diff, write"],
    ["earshot channels add irc --account libera", "a second account of the same platform"],
    ["IRC_HOST=irc.libera.chat IRC_NICK=scout earshot channels add irc --yes", "without questions"],
  ],
  exits:
    "0 written; 1 failed (for example, the token was refused); 2 usage error, or you cancelled.",
};

/** Adds `add` to `earshot channels`. */
export function addAddChannel(channels: Command): void {
  addHelp(withStateDir(channels.command("add <platform>")), help)
    .description("Connect a chat platform")
    .option("--account <id>", "name of this account, if you connect several", "default")
    .option("--config <file>", "config file (default: earshot.json5 in the state directory)")
    .option("--yes", "do not ask; use the environment")
    .action(action(add));
}

async function add(platform: string, options: AddOptions): Promise<void> {
  const stateDir = stateDirFor(options);
  const { env } = process;
  const path = configPathOf(options.config, env, stateDir) ?? join(stateDir, "earshot.json5");
  const asks = options.yes !== true;
  if (asks && !process.stdin.isTTY)
    throw new EarshotError("EAR_USAGE", "Cannot ask: this is not a terminal. Use --yes");
  const accountId = channelAnswersSchema.shape.account.safeParse(options.account);
  if (!accountId.success)
    throw new EarshotError(
      "EAR_USAGE",
      "Cannot use this account name: only letters, digits, - and _ are allowed",
    );
  const plugins = existsSync(path)
    ? (await loadConfiguredPlugins({ config: path, env, stateDir })).channels
    : [];
  const parse = createRegistry(plugins);
  const channel = channelNamed(platform, [...parse.channels.values()]);
  const known = withStoredSecrets(env, stateDir);
  const before = existsSync(path)
    ? configFromText(await readConfigText(path), path, { env: known, parse }).config.channels[
        channel.id
      ]?.accounts?.[accountId.data]
    : undefined;
  const place = { channel, accountId: accountId.data, before };
  const fields = asks ? await askChannel(place, known) : await fieldsFromEnvironment(place, known);
  const answers = { id: channel.id, account: place.accountId, fields };
  await showAndWrite({
    path,
    stateDir,
    parse,
    asks,
    plan: (text) => {
      const plan = accountPlanOf({ text, path, answers, channels: parse.channels });
      return { ...plan, secrets: unlessGiven(plan.secrets, known) };
    },
  });
  print("next: write something in your group, then run earshot needs to allow it");
}

/** A secret that is known, from the environment or stored before, stays where it is. */
export const unlessGiven = (secrets: Fields, env: NodeJS.ProcessEnv): Fields =>
  Object.fromEntries(Object.entries(secrets).filter(([name, value]) => env[name] !== value));

function channelNamed(name: string, all: readonly Parameters<typeof isConnectable>[0][]) {
  const connectable = all.filter(isConnectable);
  const found: Connectable | undefined = connectable.find(({ id }) => id === name);
  if (found !== undefined) return found;
  const names = connectable.map(({ id }) => id).join(", ");
  throw new EarshotError("EAR_USAGE", `Cannot add ${name}: unknown platform. Known: ${names}`);
}

/** From the environment; what the platform refuses is not written. */
export async function fieldsFromEnvironment(
  place: AccountPlace,
  env: NodeJS.ProcessEnv,
): Promise<Fields> {
  const fields = answersIn(place, env);
  const missing = missingIn(place, fields).map((field) => variableFor(place, field));
  if (missing.length > 0)
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot add ${place.channel.id}: set ${missing.join(", ")}, or leave out --yes`,
    );
  try {
    const found = await tryAccount(place, fields);
    print(terminalSafe(identityText(found)));
    for (const note of found?.notes ?? []) print(terminalSafe(`! ${note}`));
  } catch (error) {
    // A platform that cannot be reached now says nothing about the account.
    if (!(error instanceof EarshotError) || error.disposition !== "retry") throw error;
    process.stderr.write(`${errorLine(error)}\n`);
  }
  return fields;
}
