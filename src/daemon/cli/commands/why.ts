/**
 * `earshot why`
 * =============
 * Explains why a message was answered or not. It asks the running daemon; without one it reads the
 * journal itself, under the state directory's lock, and changes nothing in it.
 */
import type { Command } from "commander";
import pico from "picocolors";
import { openConfigs } from "../../../actors/journal/config-versions.ts";
import type { Why } from "../../../actors/protocol/why.ts";
import { whyMessage } from "../../../actors/recording/explain-message.ts";
import { defaultConfig, localChannels, parseConfig } from "../../../domain/config/index.ts";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import type { EngineStatus } from "../../api-types/engine.ts";
import { callApi, findDaemon } from "../lib/api-client.ts";
import {
  action,
  print,
  printJson,
  type StateOptions,
  stateDirFor,
  withStateDir,
} from "../lib/command.ts";
import { withJournal } from "../lib/journal.ts";
import { renderWhy } from "../output/explanation.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { screenColumns } from "../output/wrap.ts";

interface WhyOptions extends StateOptions {
  readonly config?: string;
  readonly json?: true;
}

const help: HelpText = {
  about:
    "Shows the decision on a message, each rule of the ladder with the reason it matched or " +
    "not, and the result: turn, outcome, deliveries. `earshot inspect` and `earshot find` print " +
    "message ids; texts and prompts of `earshot send` and the schedule have ids too. Asks the " +
    "running daemon, or reads the journal if none is running.",
  examples: ["earshot why 4711", "earshot why 4711 --json | jq '.why[].recorded'"],
  exits: "0 explained; 1 unknown message; 2 usage error or no journal.",
};

/** Registers the command. */
export function addWhyCommand(program: Command): void {
  withStateDir(
    addHelp(program.command("why"), help)
      .description("Explain the decision on one message")
      .argument("<message-id>", "the message's id on its platform")
      .option("--config <file>", "config file (EARSHOT_CONFIG), if no daemon is running")
      .option("--json", "print JSON"),
  ).action(action(why));
}

async function why(messageId: string, options: WhyOptions): Promise<void> {
  if (messageId.length > limits.idUnitsMax)
    throw new EarshotError("EAR_USAGE", "Cannot find the message: the id is too long");
  const answers = await ask(messageId, options);
  if (options.json) printJson({ why: answers });
  else if (answers.length > 0) {
    const screen = { columns: screenColumns(process.stdout), colour: pico.isColorSupported };
    print(renderWhy(answers, screen));
  }
  if (answers.length > 0) return;
  process.exitCode = 1;
  if (options.json) return;
  print(`The journal has no message “${oneLine(messageId)}”.`);
  for (const says of await waiting(options)) print(`It may wait. ${says}.`);
}

/** Why conversations cannot go on: what was said there is in no journal yet. */
async function waiting(options: WhyOptions): Promise<readonly string[]> {
  const daemon = await findDaemon(stateDirFor(options));
  if (daemon === null) return [];
  const status = await callApi<{ engine: EngineStatus | null }>(daemon, "/api/status");
  return (status?.engine?.problems ?? []).flatMap(({ key, says }) => (key === null ? [] : says));
}

async function ask(messageId: string, options: WhyOptions): Promise<readonly Why[]> {
  const daemon = await findDaemon(stateDirFor(options));
  if (daemon === null) return readJournal(messageId, options);
  const path = `/api/why/${encodeURIComponent(messageId)}`;
  return (await callApi<{ why: Why[] }>(daemon, path))?.why ?? [];
}

/** Explains the message from the journal, as the daemon would. */
function readJournal(messageId: string, options: WhyOptions): Promise<readonly Why[]> {
  return withJournal(options, "explain a message", async (store) => {
    const latest = await store.latestConfig();
    const config = latest === null ? defaultConfig : parseConfig(JSON.parse(latest.json));
    const { configs } = await openConfigs(store, config);
    const isLocal = (channel: string) => localChannels.some((local) => local === channel);
    return whyMessage({ store, configs, isLocal }, messageId);
  });
}
