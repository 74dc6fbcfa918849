/** `earshot quarantine`, `earshot channels retry`: retry quarantined events and halted accounts. */
import type { Command } from "commander";
import type { ConnectionStatus } from "../../../actors/channels/account-connection.ts";
import type { QuarantinedEvent } from "../../../actors/protocol/runtime.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { askDaemon, callApi, type DaemonAddress, needDaemon } from "../lib/api-client.ts";
import {
  action,
  type JsonOptions,
  print,
  printJson,
  printRefusal,
  printRows,
  type StateOptions,
  stateDirFor,
  withStateDir,
} from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

const errorShownUnitsMax = 320;

type Listed = Omit<QuarantinedEvent, "conv">;

const about =
  "An event is quarantined when it crashes its worker three times or cannot be applied. The " +
  "conversation continues without it; it stays in the journal.";
const help: HelpText = {
  about,
  examples: [
    "earshot quarantine",
    ["earshot quarantine retry <row>", "try it again"],
    ["earshot quarantine drop <row>", "ignore it"],
  ],
  exits: "0 done; 1 unknown row; 2 it cannot be retried, usage error, or no running daemon.",
};
const listHelp: HelpText = {
  about,
  examples: ["earshot quarantine", "earshot quarantine list --json"],
  exits: "0 listed; 2 no running daemon.",
};
const changeHelp = (verb: "retry" | "drop"): HelpText => ({
  about:
    verb === "retry"
      ? "Applies the event as if it had just arrived, after the messages since. If it crashes " +
        "its worker again, it is quarantined again."
      : "Removes the event from the list. It stays in the journal.",
  examples: [`earshot quarantine ${verb} 1042`],
  exits: help.exits as string,
});
const connectHelp: HelpText = {
  about:
    "Reconnects an account that was halted, for example because its token was refused, with the " +
    "current config. Without an account: every halted account of the channel. After a config " +
    "change no retry is needed.",
  examples: ["earshot channels retry telegram", "earshot channels retry telegram work"],
  exits:
    "0 retried (`earshot channels` shows the result); 1 no account is halted; 2 no running " +
    "daemon.",
};

export function addQuarantineCommand(program: Command): void {
  const quarantine = addHelp(program.command("quarantine"), help).description(
    "Manage events that crashed their conversation",
  );
  addHelp(withStateDir(quarantine.command("list", { isDefault: true })), listHelp)
    .description("List quarantined events")
    .option("--json", "print JSON")
    .action(action(list));
  for (const verb of ["retry", "drop"] as const)
    addHelp(withStateDir(quarantine.command(`${verb} <row>`)), changeHelp(verb))
      .description(verb === "retry" ? "Retry an event" : "Remove an event from the list")
      .action(action((row: string, options: StateOptions) => change(verb, row, options)));
}

/** Adds `retry` to `earshot channels`. */
export function addConnectAgain(channels: Command): void {
  addHelp(withStateDir(channels.command("retry <channel> [account]")), connectHelp)
    .description("Reconnect a halted account")
    .action(action(connectAgain));
}

async function list(options: JsonOptions): Promise<void> {
  const answer = await askDaemon<{ quarantined: Listed[] }>(options, "/api/quarantine");
  const rows = answer?.quarantined ?? [];
  if (options.json === true) return printJson(rows);
  if (rows.length === 0) return print("no quarantined events");
  const cells = [
    ["row", "since", "tried again", "conversation"],
    ...rows.map(({ seq, at, tries, key }) => [
      String(seq),
      new Date(at).toISOString().slice(0, 19).replace("T", " "),
      String(tries),
      key,
    ]),
  ];
  printRows(cells, (index) => [oneLine(rows[index]?.error ?? "", errorShownUnitsMax)]);
}

async function change(verb: "retry" | "drop", row: string, options: StateOptions): Promise<void> {
  const path = `/api/quarantine/${encodeURIComponent(row)}/${verb}`;
  const done = await askDaemon(options, path, { method: "POST" });
  if (done !== null) return print(`${verb === "retry" ? "tried again" : "dropped"}: row ${row}`);
  printRefusal("unknown row, or it was retried already");
}

async function connectAgain(
  channel: string,
  account: string | undefined,
  options: StateOptions,
): Promise<void> {
  const daemon = await needDaemon(stateDirFor(options));
  const wanted = account === undefined ? await haltedOf(daemon, channel) : [account];
  let tried = 0;
  for (const name of wanted) {
    const path = `/api/channels/${encodeURIComponent(channel)}/${encodeURIComponent(name)}/retry`;
    if ((await callApi(daemon, path, { method: "POST" })) === null) continue;
    tried += 1;
    print(`tried again: ${channel}/${oneLine(name)}`);
  }
  if (tried > 0) return;
  printRefusal("no matching account is halted");
}

async function haltedOf(daemon: DaemonAddress, channel: string): Promise<readonly string[]> {
  const answer = await callApi<{ connections: ConnectionStatus[] }>(daemon, "/api/status");
  const all = answer?.connections ?? [];
  return all.flatMap((item) =>
    item.channel === channel && item.state === "halted" ? [item.account] : [],
  );
}
