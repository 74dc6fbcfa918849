/**
 * `npm run fuzz`: random inputs for the parsers at the edge, as long as wanted. Prints what breaks
 * one, minimised, and exits with 1 then; with 2 for what it does not know.
 */
import { relative } from "node:path";
import { commandLine } from "../../scripts/command-line.mjs";
import { findText, keep } from "./harness/finds.ts";
import { hunt } from "./harness/hunt.ts";

/** Loaded once the arguments are read: they are most of the program. */
async function loadTargets() {
  const [files, agents, answering, engine, node, http] = await Promise.all([
    import("./targets/index.ts"),
    import("./targets/agents.ts"),
    import("./targets/answering.ts"),
    import("./targets/engine.ts"),
    import("./targets/node.ts"),
    import("./targets/http.ts"),
  ]);
  return [
    ...files.targets,
    ...agents.agentTargets,
    ...answering.answeringTargets,
    ...engine.engineTargets,
    ...node.nodeTargets,
    ...http.httpTargets,
  ];
}

const help = `Usage: npm run fuzz -- [--target NAME]... [--runs N] [--seed S] [--keep] [--list]

Gives the parsers of earshot changed inputs: cut, flipped, with keys twice or gone, of wrong types,
nested without end. Whatever the bytes, an input is read or refused, briefly and without secrets,
and the next good one is read (test/fuzz/harness/check.ts). Example: npm run fuzz -- --target config --runs 20000

  --target  one parser; more than once for more             [all]
  --runs    inputs for each                                 [2000]
  --seed    a number; the same one makes the same inputs    [a new one, printed]
  --keep    writes what is found to test/fuzz/finds, where every run of the tests reads it again
  --list    the parsers and what is said of them
`;

function shown(text: string): string {
  return text.length > 4_000 ? `${text.slice(0, 4_000)}… (--keep writes it whole)\n` : text;
}

const options = {
  target: { type: "string", multiple: true, default: [] as string[] },
  runs: { type: "string", default: "2000" },
  seed: { type: "string", default: String(process.hrtime.bigint() % 2_147_483_648n) },
  keep: { type: "boolean", default: false },
  list: { type: "boolean", default: false },
} as const;

const out = (text: string) => process.stdout.write(text);

type Asked = Awaited<ReturnType<typeof check>>;
async function check(values: {
  readonly target: readonly string[];
  readonly runs: string;
  readonly seed: string;
  readonly keep: boolean;
  readonly list: boolean;
}) {
  const [runs, seed] = [Number(values.runs), Number(values.seed)];
  for (const [name, value] of Object.entries({ runs, seed }))
    if (!Number.isSafeInteger(value)) throw new Error(`--${name} is a whole number`);
  const targets = await loadTargets();
  const unknown = values.target.filter((name) => !targets.some((one) => one.name === name));
  if (unknown.length > 0)
    throw new Error(`there is no parser ${unknown.join(", ")}; --list names them`);
  const isWanted = (name: string) => values.target.length === 0 || values.target.includes(name);
  return { ...values, runs, seed, targets: targets.filter(({ name }) => isWanted(name)) };
}

async function fuzz({ targets, runs, seed, keep: isKept, list }: Asked): Promise<boolean> {
  if (list) {
    for (const { name, claim } of targets) out(`${name.padEnd(20)}${claim}\n`);
    return true;
  }
  let finds = 0;
  for (const target of targets) {
    const found = await hunt(target, runs, seed);
    await target.close?.();
    finds += found.length;
    out(`${found.length === 0 ? "✓" : "✗"} ${target.name}: ${runs} inputs, seed ${seed}\n`);
    for (const { why, detail, frames, alike } of found) {
      out(`\n${target.name} ${why} (${alike} more)\n${detail}\n${shown(findText(why, frames))}`);
      if (isKept) out(`kept in ${relative(process.cwd(), keep(target.name, why, frames))}\n`);
    }
  }
  if (finds > 0 && !isKept)
    out("\n--keep writes them to test/fuzz/finds, where npm test reads them again.\n");
  return finds === 0;
}

await commandLine({ name: "fuzz", help, docs: "CONTRIBUTING.md", options, check, run: fuzz });
