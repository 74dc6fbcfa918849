/**
 * Shows what would change in a config file, asks, and writes exactly that; secrets go to the file of
 * secrets first. The old file stays beside it.
 */
import { existsSync } from "node:fs";
import * as ask from "@clack/prompts";
import pc from "picocolors";
import { configFromText, readConfigText } from "../../../adapters/files/config-file.ts";
import type { ParseOptions } from "../../../domain/config/index.ts";
import { EarshotError } from "../../../domain/errors.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { diffOf, tokenOf } from "../../config-edit/diff.ts";
import { changeConfigFile, emptyConfig } from "../../config-edit/file.ts";
import type { SetupPlan } from "../../setup/plan.ts";
import { storeSecrets, withStoredSecrets } from "../../state/secrets-file.ts";
import { prepareStateDir } from "../../state/state-dir.ts";
import { print } from "../lib/command.ts";
import { answered } from "./prompts.ts";

interface ConfigWrite {
  readonly path: string;
  readonly stateDir: string;
  readonly parse: ParseOptions;
  /** False: it is written without a question. */
  readonly asks: boolean;
  /** From the text of the file. */
  readonly plan: (text: string) => SetupPlan;
}

/**
 * @throws EarshotError EAR_CONFIG_* when the config would be invalid, EAR_USAGE when the person said no
 * or the file changed meanwhile. Nothing is written then.
 */
export async function showAndWrite(write: ConfigWrite): Promise<void> {
  const { path, stateDir, parse, asks, plan } = write;
  const before = existsSync(path) ? await readConfigText(path) : emptyConfig;
  const planned = plan(before);
  const env = { ...withStoredSecrets(process.env, stateDir), ...planned.secrets };
  configFromText(planned.text, path, { env, parse });
  const { lines, token } = await diffOf(before, planned.text);
  const names = Object.keys(planned.secrets);
  if (lines.length === 0 && names.length === 0) return print(`no changes to ${path}`);
  print(`${path}${existsSync(path) ? "" : " (new)"}`);
  for (const line of lines) print(inked(terminalSafe(line)));
  if (names.length > 0)
    print(`${names.join(", ")}: stored in secrets.json, which only you can read`);
  if (asks && !answered(await ask.confirm({ message: "Write it?", initialValue: true })))
    throw new EarshotError("EAR_USAGE", "Cancelled. Nothing was written");
  if (names.length > 0 || path.startsWith(stateDir)) await prepareStateDir(stateDir);
  const copy = await changeConfigFile(path, async (text) => {
    if (tokenOf(text) !== token)
      throw new EarshotError(
        "EAR_USAGE",
        `Cannot write ${path}: it changed in the meantime. Try again`,
      );
    await storeSecrets(stateDir, planned.secrets);
    return planned.text;
  });
  print(`wrote ${path}${copy === null ? "" : `; a copy of the old file is ${copy}`}`);
}

const inked = (line: string): string =>
  line.startsWith("+") ? pc.green(line) : line.startsWith("-") ? pc.red(line) : pc.dim(line);
