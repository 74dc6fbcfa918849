/**
 * `npm run fuzz`: random inputs for the parsers at the edge, as long as wanted. Prints what breaks
 * one, minimised, and exits with 1 then; with 2 for what it does not know.
 */
import { relative } from "node:path";
import { parseArgs } from "node:util";
import { findText, keep } from "./harness/finds.ts";
import { hunt } from "./harness/hunt.ts";
import { agentTargets } from "./targets/agents.ts";
import { answeringTargets } from "./targets/answering.ts";
import { engineTargets } from "./targets/engine.ts";
import { httpTargets } from "./targets/http.ts";
import { targets as fileAndChannelTargets } from "./targets/index.ts";
import { nodeTargets } from "./targets/node.ts";

const targets = [
  ...fileAndChannelTargets,
  ...agentTargets,
  ...answeringTargets,
  ...engineTargets,
  ...nodeTargets,
  ...httpTargets,
];

const help = `Usage: npm run fuzz -- [--target NAME]... [--runs N] [--seed S] [--keep] [--list]

Gives the parsers of earshot changed inputs: cut, flipped, with keys twice or gone, of wrong types,
nested without end. Whatever the bytes, an input is read or refused, briefly and without secrets,
and the next good one is read (test/fuzz/harness/check.ts).

  --target  one parser; more than once for more             [all]
  --runs    inputs for each                                 [2000]
  --seed    a number; the same one makes the same inputs    [a new one, printed]
  --keep    writes what is found to test/fuzz/finds, where every run of the tests reads it again
  --list    the parsers and what is said of them
  --help    this
`;

function shown(text: string): string {
  return text.length > 4_000 ? `${text.slice(0, 4_000)}… (--keep writes it whole)\n` : text;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      target: { type: "string", multiple: true, default: [] },
      runs: { type: "string", default: "2000" },
      seed: { type: "string", default: String(process.hrtime.bigint() % 2_147_483_648n) },
      keep: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const out = (text: string) => process.stdout.write(text);
  if (values.help) out(help);
  if (values.list) for (const { name, claim } of targets) out(`${name.padEnd(20)}${claim}\n`);
  if (values.help || values.list) return 0;
  const wanted = targets.filter(
    ({ name }) => values.target.length === 0 || values.target.includes(name),
  );
  const unknown = values.target.filter((name) => !targets.some((one) => one.name === name));
  const [runs, seed] = [Number(values.runs), Number(values.seed)];
  if (unknown.length > 0 || !Number.isSafeInteger(runs) || !Number.isSafeInteger(seed)) {
    process.stderr.write(`fuzz: ${unknown.join(", ") || "a number"} is not known\n\n${help}`);
    return 2;
  }
  let finds = 0;
  for (const target of wanted) {
    const found = await hunt(target, runs, seed);
    await target.close?.();
    finds += found.length;
    out(`${found.length === 0 ? "✓" : "✗"} ${target.name}: ${runs} inputs, seed ${seed}\n`);
    for (const { why, detail, frames, alike } of found) {
      out(`\n${target.name} ${why} (${alike} more)\n${detail}\n${shown(findText(why, frames))}`);
      if (values.keep) out(`kept in ${relative(process.cwd(), keep(target.name, why, frames))}\n`);
    }
  }
  if (finds > 0 && !values.keep)
    out("\n--keep writes them to test/fuzz/finds, where npm test reads them again.\n");
  return finds === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(
    `fuzz: ${error instanceof Error ? error.message : String(error)}\n\n${help}`,
  );
  process.exitCode = 2;
}
