/**
 * `earshot token rotate`: writes a new token for pages and API. The daemon needs no restart: it
 * refuses the old token from its next request on, and closes what the old token opened.
 */
import type { Command } from "commander";
import { checkStateDir } from "../../state/state-dir.ts";
import { rotateToken, tokenFileOf } from "../../state/token.ts";
import { findDaemon } from "../lib/api-client.ts";
import {
  action,
  type JsonOptions,
  print,
  printJson,
  printText,
  stateDirFor,
  withStateDir,
} from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

const about =
  "The token opens the pages and the API. Rotate it if somebody else may have read it: the daemon " +
  "refuses the old one from its next request on and closes pages that were opened with it.";
const exits = "0 done, 1 it could not be written, 2 the state directory is unsafe.";
const help: HelpText = { about, examples: ["earshot token rotate"], exits };

export function addTokenCommand(program: Command): void {
  const token = addHelp(program.command("token"), help).description(
    "Replace the token of the pages and the API",
  );
  addHelp(withStateDir(token.command("rotate")), {
    about,
    examples: [
      "earshot token rotate",
      ["earshot token rotate --json | jq -r .page", "the page's new address"],
    ],
    exits,
  })
    .description("Write a new token and revoke the old one")
    .option("--json", "for programs")
    .action(action(rotate));
}

async function rotate(options: JsonOptions): Promise<void> {
  const stateDir = stateDirFor(options);
  await checkStateDir(stateDir);
  const token = await rotateToken(stateDir);
  const daemon = await findDaemon(stateDir);
  const page = daemon === null ? null : `${daemon.base}/#token=${token}`;
  const file = tokenFileOf(stateDir);
  if (options.json === true) return printJson({ file, page });
  print(`new token in ${file}`);
  if (page === null) printText("no daemon runs; the next one will use it");
  else printText(`the page: ${page}`);
}
