/**
 * `earshot channels link <platform>`: makes an account a device of one that a person has on a phone. The
 * code or the picture goes to this terminal and nowhere else.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { renderUnicodeCompact } from "uqr";
import { configFromText, readConfigText } from "../../../adapters/files/config-file.ts";
import { createSystemClock } from "../../../adapters/system/clock.ts";
import { createRandom } from "../../../adapters/system/ids.ts";
import { accountFields } from "../../../domain/config/daemon/channels.ts";
import { accountsOf } from "../../../domain/config/index.ts";
import { EarshotError } from "../../../domain/errors.ts";
import type { LinkSecret } from "../../../domain/ports/index.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { configPathOf } from "../../config/config-source.ts";
import { loadConfiguredPlugins } from "../../config/plugins.ts";
import { createRegistry } from "../../config/registry.ts";
import { accountFolder } from "../../state/account-folder.ts";
import { withStoredSecrets } from "../../state/secrets-file.ts";
import { action, print, type StateOptions, stateDirFor, withStateDir } from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

interface LinkOptions extends StateOptions {
  readonly config?: string;
  readonly account: string;
  readonly picture?: boolean;
  readonly again?: boolean;
}

const help: HelpText = {
  about:
    "Shows a code to type on the phone (Linked devices, Link a device, Link with phone number instead), or " +
    "with --picture one to scan there. It can be used once and is written to no log. A running earshot " +
    "connects the account by itself afterwards; one that is halted needs earshot channels retry.",
  examples: [
    ["earshot channels link whatsapp-linked", "shows a code of eight letters"],
    ["earshot channels link whatsapp-linked --picture", "shows a picture to scan"],
    ["earshot channels link whatsapp-linked --account work", "another account of the config"],
  ],
  exits:
    "0 linked, 1 not confirmed, or confirmed by another number, 2 usage error, or it is linked already.",
};

/** Adds `link` to `earshot channels`. */
export function addLinkChannel(channels: Command): void {
  addHelp(withStateDir(channels.command("link <platform>")), help)
    .description("Link an account to a phone")
    .option("--account <id>", "its name in the config", "default")
    .option("--config <file>", "the config file (default: earshot.json5 in the state directory)")
    .option("--picture", "show a picture (QR code) instead of a code")
    .option("--again", "link it although it is linked; earshot must not run")
    .action(action(link));
}

async function link(platform: string, options: LinkOptions): Promise<void> {
  const stateDir = stateDirFor(options);
  const { env } = process;
  const path = configPathOf(options.config, env, stateDir) ?? join(stateDir, "earshot.json5");
  const plugins = existsSync(path)
    ? (await loadConfiguredPlugins({ config: path, env, stateDir })).channels
    : [];
  const parse = createRegistry(plugins);
  const definition = parse.channels.get(platform);
  const text = existsSync(path) ? await readConfigText(path) : "{}";
  const { config } = configFromText(text, path, { env: withStoredSecrets(env, stateDir), parse });
  const section = config.channels[platform];
  const raw = section === undefined ? undefined : new Map(accountsOf(section)).get(options.account);
  if (definition === undefined || raw === undefined)
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot link ${platform} ${options.account}: it is not in ${path}. First: earshot channels add ${platform}`,
    );
  const own = Object.entries(raw).filter(([name]) => !Object.hasOwn(accountFields, name));
  await definition.load?.();
  const account = definition.open({
    accountId: options.account,
    config: definition.accountSchema.parse(Object.fromEntries(own)),
    folder: accountFolder(stateDir, platform, options.account),
    clock: createSystemClock(),
    random: createRandom(),
    log: () => undefined,
    deliver: async () => undefined,
    loadCursor: async () => null,
    reportState: () => undefined,
    reportGap: () => undefined,
  });
  if (account.link === undefined)
    throw new EarshotError("EAR_USAGE", `Cannot link ${platform}: it has nothing to confirm`);
  const stop = new AbortController();
  const cancel = () => stop.abort();
  process.once("SIGINT", cancel);
  try {
    const found = await account.link({
      way: options.picture === true ? "picture" : "code",
      again: options.again === true,
      show,
      signal: stop.signal,
    });
    print(terminalSafe(`linked to ${found.name} (${found.id})`));
  } finally {
    process.removeListener("SIGINT", cancel);
  }
}

function show({ kind, text }: LinkSecret): void {
  if (kind === "picture") print(renderUnicodeCompact(text));
  else print(`Type this code on the phone: ${terminalSafe(text)}`);
}
