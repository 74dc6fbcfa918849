/** `earshot needs`: what only a person can decide, and doing it. */
import type { Command } from "commander";
import { EarshotError } from "../../../../domain/errors.ts";
import { terminalSafe } from "../../../../domain/sanitize.ts";
import type { Need, NeedsAnswer } from "../../../api-types/needs.ts";
import { askDaemon } from "../../lib/api-client.ts";
import {
  action,
  type JsonOptions,
  print,
  printJson,
  printRefusal,
  printText,
  withStateDir,
} from "../../lib/command.ts";
import { addHelp, type HelpText } from "../../output/help-text.ts";

const help: HelpText = {
  about:
    "Lists what earshot cannot decide by itself: groups and people that are not allowed yet, " +
    "pairing requests, agents that failed three times in a row, halted accounts, a rejected " +
    "config, deliveries in doubt. Each entry says what it means and which command resolves it. " +
    "It disappears when it is resolved.",
  examples: [
    "earshot needs",
    ["earshot needs do <id>", "run the first action of an entry"],
    ["earshot needs --json | jq '.needs | length'", "count them"],
  ],
  exits: "0 nothing needs you; 1 something does; 2 no running daemon.",
};
const doHelp: HelpText = {
  about: "Without an action, runs the first one listed for the entry.",
  examples: [
    "earshot needs do group:telegram:default:-1001234567890",
    "earshot needs do pairing:telegram:default:42 decline",
  ],
  exits:
    "0 done; 1 no such entry, or it is already resolved; 2 no such action, it was refused, or " +
    "no running daemon.",
};

export function addNeedsCommand(program: Command): void {
  const needs = addHelp(program.command("needs"), help).description(
    "List what needs you, and act on it",
  );
  addHelp(withStateDir(needs.command("list", { isDefault: true })), help)
    .description("List what needs you")
    .option("--json", "print JSON")
    .action(action(list));
  addHelp(withStateDir(needs.command("do <id> [action]")), doHelp)
    .description("Run an action of an entry")
    .option("--json", "print JSON")
    .action(action(carryOut));
}

async function read(options: JsonOptions): Promise<NeedsAnswer> {
  return (await askDaemon<NeedsAnswer>(options, "/api/needs")) ?? { needs: [], more: 0 };
}

async function list(options: JsonOptions): Promise<void> {
  const answer = await read(options);
  process.exitCode = answer.needs.length === 0 ? 0 : 1;
  if (options.json === true) return printJson(answer);
  if (answer.needs.length === 0) return print("nothing needs you");
  for (const need of answer.needs) {
    print(terminalSafe(need.title));
    printText(terminalSafe(need.meaning), 2);
    if (need.kind === "config") printExcerpt(need);
    for (const { action: name, label } of need.acts)
      print(`  ${label}: earshot needs do ${quoted(need)} ${name}`);
  }
  if (answer.more > 0) print(`and ${answer.more} more`);
}

/** The lines with their numbers, as many as the file has; the one that was refused is marked. */
function printExcerpt({ excerpt, line }: Extract<Need, { kind: "config" }>): void {
  const digits = String(excerpt.at(-1)?.line ?? "").length;
  for (const one of excerpt) {
    const number = String(one.line).padStart(digits);
    print(`  ${one.line === line ? ">" : " "} ${number} | ${terminalSafe(one.text)}`);
  }
}

/** As a shell takes it. */
function quoted({ id }: Need): string {
  const safe = terminalSafe(id);
  return /^[\w:@.,+-]+$/u.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`;
}

async function carryOut(id: string, name: string | undefined, options: JsonOptions): Promise<void> {
  const need = (await read(options)).needs.find((one) => one.id === id);
  if (need === undefined) return printRefusal("nothing with this id needs you now");
  const wanted = name === undefined ? need.acts[0] : need.acts.find((one) => one.action === name);
  if (wanted === undefined) {
    const known = need.acts.map((one) => one.action).join(", ");
    throw new EarshotError(
      "EAR_USAGE",
      known === ""
        ? "Cannot do that: this entry has no action. `earshot needs` says what to change"
        : `Cannot do that: the entry has no such action. It has: ${known}`,
    );
  }
  const path = `/api/needs/${encodeURIComponent(id)}/${wanted.action}`;
  const done = await askDaemon(options, path, { method: "POST" });
  if (done === null) return printRefusal("it is over");
  if (options.json === true) return printJson(done);
  printText(`done: ${wanted.label}`);
}
