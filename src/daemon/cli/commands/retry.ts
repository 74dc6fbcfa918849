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
  "An event that killed its worker three times, or that its conversation could not apply, is " +
  "quarantined: the conversation continues without it, and it stays in the journal.";
const help: HelpText = {
  about,
  examples: [
    "earshot quarantine",
    ["earshot quarantine retry <row>", "give it to its conversation once more"],
    ["earshot quarantine drop <row>", "ignore it"],
  ],
  exits: "0 done, 1 unknown row, 2 it cannot be tried again, bad use, or no daemon runs.",
};
const listHelp: HelpText = {
  about,
  examples: ["earshot quarantine", "earshot quarantine list --json"],
  exits: "0 listed, 2 no daemon runs.",
};
const changeHelp = (verb: "retry" | "drop"): HelpText => ({
  about:
    verb === "retry"
      ? "The event is applied now, after the messages since, as if it had just arrived. If it kills " +
        "its worker once more, it is quarantined again."
      : "Removes the event from the list. It stays in the journal like any other.",
  examples: [`earshot quarantine ${verb} 1042`],
  exits: help.exits as string,
});
const connectHelp: HelpText = {
  about:
    "Connects a halted account again (for example, after its token was refused) with the current " +
    "config. Without an account: every halted account of the channel. A changed config needs no " +
    "retry.",
  examples: ["earshot channels retry telegram", "earshot channels retry telegram work"],
  exits: "0 tried (see earshot channels for the result), 1 none is halted, 2 no daemon runs.",
};

export function addQuarantineCommand(program: Command): void {
  const quarantine = addHelp(program.command("quarantine"), help).description(
    "Manage events that broke their conversation",
  );
  addHelp(withStateDir(quarantine.command("list", { isDefault: true })), listHelp)
    .description("List quarantined events")
    .option("--json", "for programs")
    .action(action(list));
  for (const verb of ["retry", "drop"] as const)
    addHelp(withStateDir(quarantine.command(`${verb} <row>`)), changeHelp(verb))
      .description(verb === "retry" ? "Try an event again" : "Remove an event from the list")
      .action(action((row: string, options: StateOptions) => change(verb, row, options)));
}

/** Adds `retry` to `earshot channels`. */
export function addConnectAgain(channels: Command): void {
  addHelp(withStateDir(channels.command("retry <channel> [account]")), connectHelp)
    .description("Connect a halted account again")
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
  printRefusal("the row is unknown, or was tried again already");
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
