// The command line of a script: reads its options, prints its help, and exits with 1 when what it ran did
// not hold, with 2 for a wrong argument.
import { parseArgs } from "node:util";
import { ensureInstalled } from "./prepare.mjs";

/**
 * @param asked what to run: `options` as `parseArgs` takes them, among them `help`; `check` makes of their values
 *   what `run` gets, and throws when one of them is wrong; `run` resolves to whether all is well.
 */
export async function commandLine({ name, help, options, check, run }) {
  let asked;
  try {
    asked = check(parseArgs({ options }).values);
  } catch (error) {
    process.stderr.write(`${name}: ${error.message}\n\n${help}`);
    process.exitCode = 2;
    return;
  }
  if (asked.help) {
    process.stdout.write(help);
    return;
  }
  ensureInstalled();
  if (!(await run(asked))) process.exitCode = 1;
}
