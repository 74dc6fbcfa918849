/**
 * `earshot inspect`: the daemon's events, live, one line each. When the daemon stops, the command
 * waits for its next start.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Command, Option } from "commander";
import { decisions } from "../../../domain/decision.ts";
import { EarshotError } from "../../../domain/errors.ts";
import type { StreamLine } from "../../../domain/stream.ts";
import { tagged } from "../../events/event-kinds.ts";
import { safeJson } from "../../events/safe-json.ts";
import { type DaemonAddress, findDaemon, needDaemon } from "../lib/api-client.ts";
import { action, print, printText, stateDirFor, withStateDir } from "../lib/command.ts";
import { eventData } from "../lib/sse-reader.ts";
import { renderLine } from "../output/event-line.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { printStately, type StatelyOptions } from "./inspect-stately.ts";

interface InspectOptions extends StatelyOptions {
  readonly stately?: boolean;
  readonly showText?: boolean;
  readonly decision?: string;
  readonly channel?: string;
  readonly deltas?: boolean;
}

const help: HelpText = {
  about:
    "Follows the daemon until Ctrl-C, also across restarts, and prints a line for each " +
    "decision, turn, send, acknowledgement, typing indicator and connection. --stately prints " +
    "the address of a page where the Stately inspector shows the statecharts live.",
  examples: [
    ["earshot inspect", "everything, as it happens"],
    ["earshot inspect --decision engage", "only messages that engaged the agent"],
    "earshot inspect --channel telegram",
    ["earshot inspect --text", "including what people and agents say"],
    "earshot inspect --json | jq 'select(.decision)'",
    ["earshot inspect --stately", "statecharts in the browser, without texts"],
  ],
  exits: "130 ended with Ctrl-C, like tail -f; 2 usage error or no running daemon.",
};

/** Columns of time and tag, before the text. */
const leadUnits = 25;
const retryMs = 1_000;

export function addInspectCommand(program: Command): void {
  addHelp(withStateDir(program.command("inspect")), help)
    .description("Watch the running daemon: decisions, turns, sends, connections")
    .option("--key <key>", "only this conversation")
    .addOption(new Option("--decision <decision>", "only these decisions").choices(decisions))
    .option("--channel <id>", "only decisions and sends of this channel")
    .option("--deltas", "include the text of running turns as it streams")
    .addOption(
      new Option("--stately", "print the address of the Stately inspector").conflicts([
        "decision",
        "channel",
        "deltas",
      ]),
    )
    .option("--text", "include what people and agents say")
    .addOption(new Option("--show-text", "the former name of --text").hideHelp())
    .option("--json", "print JSON Lines, as `replay --json` does")
    .action(action(inspect));
}

async function inspect(options: InspectOptions): Promise<void> {
  const text = options.text === true || options.showText === true;
  if (options.stately === true) return printStately({ ...options, text });
  const stateDir = stateDirFor(options);
  let daemon: DaemonAddress | null = await needDaemon(stateDir);
  for (;;) {
    if (daemon !== null) await watch(daemon, { ...options, text }).catch(lost);
    await sleep(retryMs);
    daemon = await findDaemon(stateDir).catch(() => null);
  }
}

/** A broken connection is opened again; an error of the API ends the command. */
function lost(error: unknown): void {
  if (error instanceof EarshotError) throw error;
  process.stderr.write("connection lost; waiting for the daemon\n");
}

async function watch(daemon: DaemonAddress, options: InspectOptions): Promise<void> {
  const query = new URLSearchParams();
  if (options.key !== undefined) query.set("key", options.key);
  if (options.decision !== undefined) query.set("decision", options.decision);
  if (options.deltas === true) query.set("deltas", "1");
  if (options.text === true) query.set("text", "1");
  const answer = await fetch(`${daemon.base}/api/events?${query}`, {
    headers: { authorization: `Bearer ${daemon.token}` },
  });
  if (!answer.ok || answer.body === null)
    throw new EarshotError("EAR_USAGE", `Cannot watch: the daemon answered ${answer.status}`);
  // Only now: whatever happens after somebody has read this is printed.
  process.stderr.write(`watching ${daemon.base}; end with Ctrl-C\n`);
  for await (const data of eventData(answer.body)) {
    const line = JSON.parse(data) as StreamLine;
    if (!isWanted(line, options)) continue;
    if (options.json === true) print(safeJson(line));
    else printText(renderLine(line, options.text === true), leadUnits);
  }
}

function isWanted(item: StreamLine, { channel }: InspectOptions): boolean {
  if (channel === undefined) return true;
  const { kind, line } = tagged(item);
  return (kind === "decision" || kind === "send") && line.channel === channel;
}
