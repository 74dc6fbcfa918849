// `npm run bench [-- --json] [--short] [name …]`: runs the benches in bench/, each in a process of its own.
// With --json one JSON object a bench on stdout; without it a table on stderr. With `--against <script>`
// a bench takes turns with that script (bench/README.md).
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { commandLine } from "./command-line.mjs";
import { ensureBuilt, root } from "./prepare.mjs";

// These are a daemon in their own process: young objects get the room that `npm start` gives them. What
// starts daemons of its own gives it to those.
const likeDaemon = new Set(["durable", "latency"]);
const all = readdirSync(join(root, "bench"), { recursive: true })
  .filter((name) => name.endsWith(".bench.ts"))
  .sort();
const nameOf = (file) => basename(file, ".bench.ts");
const help = `Usage: npm run bench [-- <bench> ...] [options]

Measures earshot: all benches (half an hour), or those named. Each runs in a process of its own.
Example: npm run bench -- durable latency --short

Benches: ${all
  .map(nameOf)
  .sort()
  .join(", ")
  .replace(/(.{1,100})(?: |$)/gu, "$1\n  ")
  .trimEnd()}

  --short            a small part of each: enough for a first look, not to compare two machines
  --json             prints one JSON object for each bench
  --against SCRIPT   a bench and a script of yours in turns
  --rounds N         how many turns, of heard or with --against
  --beside FOLDER    answered and heard in turns with another built checkout
  --only X           some cases of heard, or one part of growth
  --node-flags X     of heard: flags for the daemon's Node
  --long             growth with its largest sizes
  --write            growth writes its table and picture into bench/README.md
  --svg FILE         growth draws its picture there
`;
const options = /** @type {const} */ ({
  short: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  against: { type: "string" },
  rounds: { type: "string" },
  beside: { type: "string" },
  only: { type: "string" },
  "node-flags": { type: "string" },
  long: { type: "boolean" },
  write: { type: "boolean" },
  svg: { type: "string" },
});

function check(values, names) {
  const unknown = names.filter((name) => !all.some((file) => nameOf(file) === name));
  if (unknown.length > 0) throw new Error(`no bench is called ${unknown.join(", ")}`);
  if (values.rounds !== undefined && !/^[1-9]\d?$/u.test(values.rounds))
    throw new Error(`--rounds is a number from 1 to 99, not ${values.rounds}`);
  const { against, ...others } = values;
  return {
    ...values,
    files: all.filter((file) => names.length === 0 || names.includes(nameOf(file))),
    // npm runs scripts in the folder of the package, and notes where the user is.
    against: against === undefined ? null : resolve(process.env.INIT_CWD ?? ".", against),
    flags: Object.entries(others)
      .filter(([, value]) => value !== false)
      .map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`)),
  };
}

async function run({ files, against, flags, short, json }) {
  ensureBuilt();
  // A bench that waits for what never comes must end by itself: nobody watches it in CI.
  const limitMs = (short ? 5 : 30) * 60_000;
  let isWell = true;
  for (const file of files) {
    const path = join(root, "bench", file);
    const turns = join(root, "bench", "against.ts");
    const name = basename(file, ".bench.ts");
    const done = spawnSync(
      process.execPath,
      [
        ...["--expose-gc", "--import", "tsx"],
        ...(likeDaemon.has(name) ? ["--max-semi-space-size=64"] : []),
        ...(against === null ? [path] : [turns, name, path, against]),
        ...flags,
      ],
      {
        cwd: root,
        encoding: "utf8",
        timeout: limitMs,
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...process.env, NODE_ENV: "production" },
      },
    );
    if (done.status !== 0) {
      process.stderr.write(
        `bench: ${file} failed (${done.error?.code === "ETIMEDOUT" ? `not done after ${limitMs / 60_000} min` : `exit ${done.status ?? done.signal}`})\n${done.stdout}\n`,
      );
      isWell = false;
      continue;
    }
    for (const line of done.stdout.trim().split("\n")) {
      if (json) process.stdout.write(`${line}\n`);
      else table(JSON.parse(line));
    }
  }
  return isWell;
}

function table({ bench, unit, figures, ratios }) {
  process.stderr.write(`\n${bench}${unit ? ` (${unit})` : ""}\n`);
  for (const [name, value] of Object.entries({ ...figures, ...ratios }))
    process.stderr.write(
      `  ${name.padEnd(44)} ${typeof value === "number" ? value.toLocaleString("en") : value}\n`,
    );
}

await commandLine({
  name: "bench",
  help,
  docs: "bench/README.md",
  options,
  allowPositionals: true,
  check,
  run,
});
