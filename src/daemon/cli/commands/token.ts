/**
 * `earshot token rotate`: writes a new token for pages and API. The daemon needs no restart: it
 * refuses the old token from its next request on, and closes what the old token opened.
 */
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { EarshotError } from "../../../domain/errors.ts";
import { checkStateDir } from "../../state/state-dir.ts";
import { rotateToken, tokenFileOf } from "../../state/token.ts";
import { DaemonSilent, findDaemon } from "../lib/api-client.ts";
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
  "The token gives access to the pages and the API. Rotate it if somebody else may have seen " +
  "it: the daemon refuses the old one at once and closes the pages opened with it.";
const exits =
  "0 done; 1 the token could not be written; 2 the state directory is missing or unsafe.";
const help: HelpText = { about, examples: ["earshot token rotate"], exits };

export function addTokenCommand(program: Command): void {
  const token = addHelp(program.command("token"), help).description(
    "Manage the token of the pages and the API",
  );
  addHelp(withStateDir(token.command("rotate")), {
    about,
    examples: [
      "earshot token rotate",
      ["earshot token rotate --json | jq -r .page", "print the new address of the pages"],
    ],
    exits,
  })
    .description("Replace the token with a new one")
    .option("--json", "print JSON")
    .action(action(rotate));
}

async function rotate(options: JsonOptions): Promise<void> {
  const stateDir = stateDirFor(options);
  if (!existsSync(stateDir))
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot rotate the token: there is no state directory ${stateDir}. The first \`earshot start\` makes it, ` +
        "with a token; or name another one with --state-dir",
    );
  await checkStateDir(stateDir);
  const token = await rotateToken(stateDir);
  const daemon = await findDaemon(stateDir).catch((error: unknown) => {
    if (error instanceof DaemonSilent) return error;
    throw error;
  });
  const page =
    daemon === null || daemon instanceof DaemonSilent ? null : `${daemon.base}/#token=${token}`;
  const file = tokenFileOf(stateDir);
  if (options.json === true) return printJson({ file, page });
  print(`new token in ${file}`);
  if (daemon instanceof DaemonSilent)
    printText("the daemon does not answer; it refuses the old token as soon as it goes on");
  else if (page === null) printText("no daemon is running; the next one will use it");
  else printText(`pages: ${page}`);
}
