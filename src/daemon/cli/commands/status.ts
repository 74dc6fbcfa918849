/** `earshot status`, `channels`: the state of the running daemon, as compact tables. */

import type { Command } from "commander";
import pc from "picocolors";
import type { ConnectionStatus } from "../../../actors/channels/account-connection.ts";
import type { HostStatus, RuntimeStatus } from "../../../actors/protocol/runtime.ts";
import {
  type ChannelAbilities,
  capabilityColumns,
  no,
  yes,
} from "../../../domain/config/docs/capability-table.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { causeText } from "../../../domain/stream.ts";
import type { EngineStatus } from "../../api-types/engine.ts";
import type { NeedsAnswer } from "../../api-types/needs.ts";
import { askDaemon, callApi, type DaemonAddress, needDaemon } from "../lib/api-client.ts";
import {
  action,
  counted,
  type JsonOptions,
  minuteOf,
  print,
  printJson,
  printText,
  stateDirFor,
  table,
  withStateDir,
} from "../lib/command.ts";
import { engineRows, holderText, type Row } from "../lib/engine-rows.ts";
import { stateInk } from "../output/colors.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { screenColumns } from "../output/wrap.ts";
import { addAddChannel } from "../setup/add-channel.ts";
import { addLinkChannel } from "../setup/link-channel.ts";
import { addConnectAgain } from "./retry.ts";

interface StatusAnswer extends RuntimeStatus {
  readonly version: string;
  readonly pid: number;
  readonly upMs: number;
  readonly connections: readonly ConnectionStatus[];
  readonly engine: EngineStatus | null;
}

interface ChannelAnswer extends ChannelAbilities {
  readonly id: string;
  readonly name: string;
  readonly local: boolean;
  readonly accounts: readonly (ConnectionStatus & { readonly hook: string | null })[];
}

const statusHelp: HelpText = {
  examples: ["earshot status", "earshot status --json | jq .outbox"],
  exits: "0 accepting messages; 1 running, but not accepting messages; 2 no running daemon.",
};
const about = "A reply leaves out what its platform cannot do; it never fails because of it.";
const channelsHelp: HelpText = {
  about,
  examples: ["earshot channels", ["earshot channels retry telegram", "after you fixed its token"]],
  exits: "0 done; 1 the answer is no; 2 no running daemon.",
};
const listHelp: HelpText = {
  about,
  examples: ["earshot channels", "earshot channels --json | jq '.[].accounts'"],
  exits: "0 listed; 2 no running daemon.",
};

export function addStatusCommands(program: Command): void {
  addHelp(withStateDir(program.command("status")), statusHelp)
    .description("Show the running daemon: hosts, turns, outbox, nodes, connections")
    .option("--json", "print JSON")
    .action(action(status));
  const group = addHelp(program.command("channels"), channelsHelp).description(
    "Manage channels and their connections",
  );
  addHelp(withStateDir(group.command("list", { isDefault: true })), listHelp)
    .description("List channels with their features and connections")
    .option("--json", "print JSON")
    .action(action(channels));
  addAddChannel(group);
  addLinkChannel(group);
  addConnectAgain(group);
}

const heartbeatsShown = 10;

async function status(options: JsonOptions): Promise<void> {
  const daemon = await needDaemon(stateDirFor(options));
  const now = await callApi<StatusAnswer>(daemon, "/api/status");
  if (now === null) return;
  process.exitCode = now.ready ? 0 : 1;
  if (options.json === true) return printJson(now);
  const answer = await callApi<NeedsAnswer>(daemon, "/api/needs");
  print(rowsText([...rowsOf(daemon, now), ...needsRow(answer)]));
}

function rowsText(rows: readonly Row[]): string {
  const cells = rows.map(([name, text]) => [name, text]);
  return table(cells, screenColumns(process.stdout), (row) => stateInk(pc, rows[row]?.[2] ?? ""));
}

function rowsOf({ base, token }: DaemonAddress, now: StatusAnswer): readonly Row[] {
  const { store, conversations, turns } = now;
  const outbox = Object.entries(now.outbox).filter(([, count]) => count > 0);
  const worst = ["dead", "in-doubt"].find((state) => (now.outbox[state] ?? 0) > 0);
  const p99 = store.commits?.msP99 ?? null;
  const commits = p99 === null ? "" : `, 99 of 100 commits in ${p99.toFixed(1)} ms`;
  return [
    ["earshot", `${now.version}, pid ${now.pid}, up ${span(now.upMs)}`],
    ["page", `${base}/#token=${token}`],
    now.ready ? ["ready", "yes", "yes"] : ["ready", `no: ${now.problem ?? "unknown"}`, "no"],
    ["journal", `row ${store.lastSeq}${store.failing ? ", FAILING" : commits}`, failing(store)],
    [
      "conversations",
      `${conversations.live} live, ${conversations.dirty} newer than their snapshot`,
    ],
    ["turns", `${turns.running} running, ${turns.waiting} waiting`],
    ...unappliedRow(now.unapplied),
    ...redeliveredRow(now.ingress),
    ["outbox", outbox.map(([state, count]) => `${count} ${state}`).join(", ") || "empty", worst],
    ...now.hosts.map(hostRow),
    ...engineRows(now.engine, now.problem),
    ...now.heartbeats
      .slice(0, heartbeatsShown)
      .map(
        ({ key, at }): Row => [
          "heartbeat",
          `${key} at ${new Date(at).toISOString().slice(11, 19)} UTC`,
        ],
      ),
    ...now.failing.map(failingRow),
    ...now.judges.map(judgeRow),
    ...now.connections.map((one) => connectionRow(one, now.engine)),
    ...now.quarantined.map(
      ({ key, seq, error }): Row => ["quarantined", `${key} row ${seq}: ${error}`, "broken"],
    ),
    ...now.unsaid.map(
      ({ name, due, why }): Row => ["unsaid", `${name} of ${minuteOf(due)}: ${why}`, "broken"],
    ),
  ];
}

function needsRow(answer: NeedsAnswer | null): Row[] {
  const [first, ...others] = answer?.needs ?? [];
  if (first === undefined) return [];
  const more = others.length + (answer?.more ?? 0);
  const text = more === 0 ? first.title : `${first.title}, and ${more} more`;
  return [["needs you", `${text}: earshot needs`, "broken"]];
}

/** Of events that are not applied yet: turns may come of them. */
export function unappliedRow({ events, reading }: StatusAnswer["unapplied"]): Row[] {
  const left = `${counted(events, "event")} not applied yet`;
  if (reading) return [["events", `reading what was left: ${left}`]];
  return events === 0 ? [] : [["events", left]];
}

function redeliveredRow({ redelivered }: StatusAnswer["ingress"]): Row[] {
  if (redelivered === 0) return [];
  const copies = redelivered === 1 ? "1 copy" : `${redelivered} copies`;
  return [["received", `${copies} of messages, dropped`]];
}

const failing = (store: StatusAnswer["store"]) => (store.failing ? "broken" : "");

function hostRow({ id, state, live, mailbox, restarts }: HostStatus): Row {
  const text = `${state}, ${live} live, mailbox ${mailbox}, ${counted(restarts, "restart")}`;
  return [`host ${id}`, text, state === "ready" ? "" : state];
}

function failingRow(agent: StatusAnswer["failing"][number]): Row {
  const turns = agent.turns === 1 ? "its last turn" : `${agent.turns} turns in a row`;
  return ["failing", `${agent.agentId}: ${turns}: ${causeText(agent)}`, "broken"];
}

function judgeRow(day: StatusAnswer["judges"][number]): Row {
  const { agentId, asked, engaged, failed, inputTokens, outputTokens, costUsd } = day;
  const tokens = `${inputTokens + outputTokens} tokens`;
  const cost = costUsd === 0 ? tokens : `${tokens}, $${costUsd.toFixed(2)}`;
  return [
    "judge",
    `${agentId}: today ${asked} asked, ${engaged} engaged, ${failed} failed, ${cost}`,
  ];
}

function connectionRow(one: ConnectionStatus, engine: EngineStatus | null): Row {
  const { channel, account, state, detail } = one;
  const held = holderText(engine, channel, account);
  // Elsewhere, its detail says less.
  const why = state === "elsewhere" && held !== "" ? null : detail;
  const text = [why === null ? state : `${state}: ${why}`, held].filter((part) => part !== "");
  return [`${channel}/${account}`, text.join("; "), state];
}

function accountText({ account, state, holder, hook }: ChannelAnswer["accounts"][number]): string {
  const now = state === "elsewhere" && holder !== null ? `held by ${holder.node}` : state;
  return hook === null ? `${account} ${now}` : `${account} ${now} at ${hook}`;
}

function gapText({ from, to, rooms, lost }: ConnectionStatus["gaps"][number]): string {
  const what = lost === "messages" ? "messages may be lost" : "edits and deletions are not known";
  const where = rooms.length === 0 ? "" : ` (${rooms.join(", ")})`;
  return `${what} from ${minuteOf(from)} to ${minuteOf(to)} UTC${where}`;
}

/** What is yes or no fits into one column. */
const isFact = (title: string): boolean => title === "mentions" || title === "one message";
const facts = capabilityColumns.filter(({ title }) => isFact(title));
const abilities = capabilityColumns.filter(({ title }) => !isFact(title));

async function channels(options: JsonOptions): Promise<void> {
  const answer = await askDaemon<{ channels: ChannelAnswer[] }>(options, "/api/channels");
  const all = answer?.channels ?? [];
  if (options.json === true) return printJson(all);
  print(
    table([
      ["channel", "accounts", ...facts.map(({ title }) => title), "can"],
      ...all.map((channel) => [
        channel.id,
        channel.accounts.map(accountText).join(", ") || "none",
        ...facts.map(({ cell }) => cell(channel)),
        abilities.flatMap(({ title, cell }) => (cell(channel) === yes ? [title] : [])).join(", ") ||
          no,
      ]),
    ]),
  );
  for (const { accounts } of all)
    for (const account of accounts)
      if (account.detail !== null)
        printText(terminalSafe(`${account.channel}/${account.account}: ${account.detail}`), 2);
  for (const { accounts } of all)
    for (const { channel, account, gaps } of accounts)
      for (const gap of gaps) printText(terminalSafe(`${channel}/${account}: ${gapText(gap)}`), 2);
}

function span(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.floor(ms / 1_000)} s`;
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h`;
}
