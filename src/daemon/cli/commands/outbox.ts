/**
 * `earshot outbox`: parts of answers that are being sent, in doubt or dead, and what to do about
 * them.
 */
import type { Command } from "commander";
import pc from "picocolors";
import type { OutboxRow } from "../../../domain/ports/index.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { askDaemon } from "../lib/api-client.ts";
import {
  action,
  print,
  printJson,
  printRefusal,
  printRows,
  type StateOptions,
  withStateDir,
} from "../lib/command.ts";
import { stateInk } from "../output/colors.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

/** How much is shown of a part: enough to know it again. */
const textUnitsMax = 120;

interface ListOptions extends StateOptions {
  readonly json?: boolean;
  readonly state?: string;
}

interface Shown extends Omit<OutboxRow, "body"> {
  readonly body: { readonly text?: string; readonly emoji?: string };
}

const doubt =
  "A part is in doubt when it went out and no answer came: it may have arrived, and sending it " +
  "again may say it twice. A dead one was refused for good.";
const lesson: HelpText = {
  about: doubt,
  examples: [
    "earshot outbox",
    ["earshot outbox list --state in-doubt,dead", "what waits for a person"],
    "earshot outbox resend <id>",
    "earshot outbox drop <id>",
  ],
  exits: "0 done, 1 there is no such part, 2 no daemon runs.",
};
const listLesson: HelpText = {
  about: doubt,
  examples: ["earshot outbox list", "earshot outbox list --state sent --json"],
  exits: "0 listed, 2 bad use or no daemon runs.",
};
const changeLesson = (verb: "resend" | "drop"): HelpText => ({
  about:
    verb === "resend"
      ? "For a part that is in doubt or dead: it is tried once more, now."
      : "The part is not sent any more; the rest of its reply goes on.",
  examples: [`earshot outbox ${verb} <id>`],
  exits: "0 done, 1 there is no such part or it has been sent, 2 no daemon runs.",
});

export function addOutboxCommand(program: Command): void {
  const outbox = addHelp(program.command("outbox"), lesson).description(
    "Reply parts that are on their way, in doubt or dead",
  );
  addHelp(withStateDir(outbox.command("list", { isDefault: true })), listLesson)
    .description("List parts")
    .option("--state <states>", "pending,sending,waiting,in-doubt,sent,expired,dead")
    .option("--json", "for programs")
    .action(action(list));
  for (const verb of ["resend", "drop"] as const)
    addHelp(withStateDir(outbox.command(`${verb} <id>`)), changeLesson(verb))
      .description(verb === "resend" ? "Send a part again" : "Give a part up")
      .action(action((id: string, options: StateOptions) => change(verb, id, options)));
}

async function list(options: ListOptions): Promise<void> {
  const query = options.state === undefined ? "" : `?state=${encodeURIComponent(options.state)}`;
  const answer = await askDaemon<{ outbox: Shown[] }>(options, `/api/outbox${query}`);
  const rows = answer?.outbox ?? [];
  if (options.json === true) return printJson(rows);
  if (rows.length === 0) return print("nothing there");
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

async function change(verb: "resend" | "drop", id: string, options: StateOptions): Promise<void> {
  const path = `/api/outbox/${encodeURIComponent(id)}/${verb}`;
  const done = await askDaemon(options, path, { method: "POST" });
  if (done !== null)
    return print(`${verb === "resend" ? "will be sent again" : "given up"}: ${id}`);
  printRefusal("there is no such part, or it has been sent already");
}
