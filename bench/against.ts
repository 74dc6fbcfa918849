/**
 * `npm run bench -- <bench> --against <script>`: a bench of ours and a script of the user's in turns,
 * ours, theirs, ours, theirs, so that what else the machine does meets both. bench/README.md has what
 * the script gets and prints.
 */
import { spawnSync } from "node:child_process";
import { extname, join } from "node:path";
import { z } from "zod";
import { quantile, type Report, round } from "./support.ts";

/** What both sides print, on the last line of their output. */
const printed = z.object({
  figures: z.record(z.string(), z.number()),
  /** Of ours: what the other side needs to do the same. */
  given: z.unknown().optional(),
});
type Printed = z.infer<typeof printed>;

export interface Turns {
  readonly bench: string;
  /** Our bench: program and arguments. */
  readonly ours: readonly string[];
  /** Path of their script. */
  readonly against: string;
  readonly rounds: number;
  readonly short: boolean;
}

/**
 * The medians of both, and ours over theirs where both have a figure of that name.
 * @throws Error if one of them fails or prints something else.
 */
export function inTurns({ bench, ours, against, rounds, short }: Turns): Report {
  const found: Record<"ours" | "theirs", Printed[]> = { ours: [], theirs: [] };
  const theirs = commandOf(against);
  for (let turn = 1; turn <= rounds; turn += 1) {
    const mine = run(ours, "");
    found.ours.push(mine);
    const input = { bench, turn, short, given: mine.given ?? null };
    found.theirs.push(run(theirs, `${JSON.stringify(input)}\n`));
  }
  const median = (side: readonly Printed[], name: string) =>
    round(
      quantile(
        side.flatMap(({ figures }) => figures[name] ?? []),
        0.5,
      ),
    );
  const figures: Record<string, number> = {};
  for (const [side, all] of Object.entries(found))
    for (const name of namesOf(all)) figures[`${side}: ${name}`] = median(all, name);
  const ratios: Record<string, number> = {};
  for (const name of namesOf(found.ours)) {
    const their = figures[`theirs: ${name}`];
    if (their !== undefined)
      ratios[`${name}, ours over theirs`] = round((figures[`ours: ${name}`] ?? 0) / their);
  }
  return { bench, unit: `medians of ${rounds} in turns`, figures, ratios };
}

const namesOf = (all: readonly Printed[]) =>
  new Set(all.flatMap(({ figures }) => Object.keys(figures)));

/** Scripts of Node are run by this one, everything else by itself. */
function commandOf(script: string): readonly string[] {
  if (extname(script) === ".ts") return [process.execPath, "--import", "tsx", script];
  return /^\.[cm]?js$/u.test(extname(script)) ? [process.execPath, script] : [script];
}

function run([program = "", ...args]: readonly string[], input: string): Printed {
  const { error, status, signal, stdout } = spawnSync(program, args, {
    encoding: "utf8",
    input,
    stdio: ["pipe", "pipe", "inherit"],
    maxBuffer: 64 * 1_048_576,
  });
  const name = args.at(-1) ?? program;
  // A script need not read what it is given.
  const hasRun = error === undefined || (error as NodeJS.ErrnoException).code === "EPIPE";
  if (!hasRun || status !== 0)
    throw new Error(
      `Cannot compare: ${name} ended with ${error?.message ?? status ?? signal}. See its output`,
    );
  const line = stdout.trim().split("\n").at(-1) ?? "";
  const read = printed.safeParse(parsed(line));
  if (read.success) return read.data;
  throw new Error(
    `Cannot compare: ${name} printed no figures (${line.slice(0, 100)}). Its last line must be ` +
      'JSON like {"figures":{"one a request: lines/s":4000}}',
  );
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The path of one of our benches and its flags, as scripts/bench.mjs passes them. */
function main([bench = "", file = "", against = "", ...flags]: readonly string[]): void {
  const short = flags.includes("--short");
  const given = flags.find((flag) => flag.startsWith("--rounds="))?.slice("--rounds=".length);
  const others = flags.filter((flag) => !flag.startsWith("--rounds="));
  const ours = [process.execPath, ...process.execArgv, file, "--rounds=1", ...others];
  const rounds = Number(given ?? (short ? 1 : 3));
  const result = inTurns({ bench, ours, against, rounds, short });
  process.stdout.write(`${JSON.stringify({ ...result, short, node: process.version })}\n`);
}

if (process.argv[1] === join(import.meta.dirname, "against.ts")) main(process.argv.slice(2));
