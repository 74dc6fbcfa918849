// The command line of a script of package.json: reads its options, prints its help, and exits with 1 when what it
// ran did not hold, with 2 for a wrong argument. Nothing is installed before the arguments are known to be right.
import { parseArgs } from "node:util";
import { ensureInstalled } from "./prepare.mjs";

/**
 * @param asked what to run: `options` as `parseArgs` takes them, beside `help`; `docs`, where more is said; `check`
 *   makes of the values and positionals what `run` gets, and throws when one of them is wrong; `run` resolves to
 *   whether all is well.
 */
export async function commandLine({
  name,
  help,
  docs,
  options = {},
  allowPositionals = false,
  check = (values) => values,
  run,
}) {
  const text = `${help}  --help${" ".repeat(Math.max(1, optionColumn(help) - 8))}prints this\n\nDocumentation: ${docs}\n`;
  // A closed pipe (`| head -1`): nobody reads what else it would say.
  process.stdout.on("error", (error) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  let asked;
  try {
    const { values, positionals } = parseArgs({
      options: { ...options, help: { type: "boolean", short: "h" } },
      allowPositionals,
    });
    if (values.help) {
      process.stdout.write(text);
      return;
    }
    asked = await check(values, positionals);
  } catch (error) {
    // What Node adds says how to pass a file whose name begins with a dash.
    const [what] = error.message.split(". To specify a positional argument");
    process.stderr.write(`${name}: ${what}\n\n${text}`);
    process.exitCode = 2;
    return;
  }
  ensureInstalled();
  if (!(await run(asked))) process.exitCode = 1;
}

/** Where the descriptions of options begin in a help text. */
function optionColumn(help) {
  return /^ {2}-.*? {2,}(?=\S)/mu.exec(help)?.[0].length ?? 10;
}
