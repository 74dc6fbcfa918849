/**
 * `earshot outbox`: lists parts of answers that are being sent, in doubt or dead, and resends or
 * drops them.
 */
import type { Command } from "commander";
import pc from "picocolors";
import type { OutboxRow } from "../../../domain/ports/index.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { askDaemon } from "../lib/api-client.ts";
import {
  action,
  type JsonOptions,
  print,
  printJson,
  printRefusal,
  printRows,
  withStateDir,
} from "../lib/command.ts";
import { stateInk } from "../output/colors.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

/** Enough text to recognise a part. */
const textUnitsMax = 120;

interface ListOptions extends JsonOptions {
  readonly state?: string;
}

interface Shown extends Omit<OutboxRow, "body"> {
  readonly body: { readonly text?: string; readonly emoji?: string };
}

const about =
  "A part of a reply is in doubt when the platform did not confirm it: it may have arrived, and " +
  "resending may duplicate it. A dead part was refused for good.";
const help: HelpText = {
  about,
  examples: [
    "earshot outbox",
    ["earshot outbox list --state in-doubt,dead", "parts that need you"],
    "earshot outbox resend <id>",
    "earshot outbox drop <id>",
  ],
  exits: "0 done; 1 unknown part; 2 no running daemon.",
};
const listHelp: HelpText = {
  about,
  examples: ["earshot outbox list", "earshot outbox list --state sent --json"],
  exits: "0 listed; 2 usage error or no running daemon.",
};
const changeHelp = (verb: "resend" | "drop"): HelpText => ({
  about:
    verb === "resend"
      ? "Sends a part that is in doubt or dead again, now."
      : "Drops a part that was not sent. The rest of its reply continues.",
  examples: [`earshot outbox ${verb} <id>`],
  exits: "0 done; 1 the part is unknown or was sent already; 2 no running daemon.",
});

export function addOutboxCommand(program: Command): void {
  const outbox = addHelp(program.command("outbox"), help).description(
    "Manage reply parts that were not sent",
  );
  addHelp(withStateDir(outbox.command("list", { isDefault: true })), listHelp)
    .description("List reply parts")
    .option("--state <states>", "pending,sending,waiting,in-doubt,sent,expired,dead")
    .option("--json", "print JSON")
    .action(action(list));
  for (const verb of ["resend", "drop"] as const)
    addHelp(withStateDir(outbox.command(`${verb} <id>`)), changeHelp(verb))
      .description(verb === "resend" ? "Resend a part" : "Drop a part")
      .option("--json", "print JSON")
      .action(action((id: string, options: JsonOptions) => change(verb, id, options)));
}

async function list(options: ListOptions): Promise<void> {
  const query = options.state === undefined ? "" : `?state=${encodeURIComponent(options.state)}`;
  const answer = await askDaemon<{ outbox: Shown[] }>(options, `/api/outbox${query}`);
  const rows = answer?.outbox ?? [];
  if (options.json === true) return printJson(rows);
  if (rows.length === 0) return print("no parts");
  const cells = [
    ["id", "state", "tries", "conversation"],
    ...rows.map((row) => [
      row.id,
      row.doubts > 0 && row.state !== "in-doubt" ? `${row.state} (was in doubt)` : row.state,
      String(row.attempts),
      row.key,
    ]),
  ];
  const below = rows.map(({ body, error }) => {
    const words = [body.text ?? body.emoji ?? "", ...(error === null ? [] : [error])];
    return words.map((text) => oneLine(text, textUnitsMax));
  });
  const ink = (line: string, index: number) => stateInk(pc, rows[index]?.state ?? "")(line);
  printRows(cells, (index) => below[index] ?? [], ink);
}

async function change(verb: "resend" | "drop", id: string, options: JsonOptions): Promise<void> {
  const path = `/api/outbox/${encodeURIComponent(id)}/${verb}`;
  const done = await askDaemon(options, path, { method: "POST" });
  if (done === null) return printRefusal("unknown part, or it was sent already");
  if (options.json === true) return printJson(done);
  print(`${verb === "resend" ? "will be sent again" : "dropped"}: ${id}`);
}
