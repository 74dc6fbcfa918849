// `npm run bench [-- --json] [--short] [name …]`: runs the benches in bench/, each in a process of its own.
// With --json one JSON object a bench on stdout; without it a table on stderr. With `--against <script>`
// a bench takes turns with that script (bench/README.md).
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ensureBuilt, ensureInstalled, root } from "./prepare.mjs";

const args = process.argv.slice(2);
const against = takeAgainst(args);
const names = args.filter((arg) => !arg.startsWith("--"));
const json = args.includes("--json");
// A bench that waits for what never comes must end by itself: nobody watches it in CI.
const limitMs = (args.includes("--short") ? 5 : 30) * 60_000;
// These are a daemon in their own process: young objects get the room that `npm start` gives them. What
// starts daemons of its own gives it to those.
const likeDaemon = new Set(["durable", "latency"]);
ensureInstalled();
ensureBuilt();
const files = readdirSync(join(root, "bench"), { recursive: true })
  .filter((name) => name.endsWith(".bench.ts"))
  .filter((name) => names.length === 0 || names.includes(basename(name, ".bench.ts")))
  .sort();
if (files.length === 0) {
  process.stderr.write(`bench: no bench is called ${names.join(", ")}\n`);
  process.exitCode = 2;
}
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
      ...args.filter((arg) => arg.startsWith("--")),
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
    process.exitCode = 1;
    continue;
  }
  for (const line of done.stdout.trim().split("\n")) {
    if (json) process.stdout.write(`${line}\n`);
    else table(JSON.parse(line));
  }
}

/** Takes `--against <script>` out of the arguments; its path, or null. */
function takeAgainst(list) {
  const at = list.findIndex((arg) => arg === "--against" || arg.startsWith("--against="));
  if (at < 0) return null;
  const [flag, next] = list.splice(at, list[at] === "--against" ? 2 : 1);
  const script = flag.slice("--against=".length) || next;
  if (script !== undefined && !script.startsWith("--"))
    // npm runs scripts in the folder of the package, and notes where the user is.
    return resolve(process.env.INIT_CWD ?? ".", script);
  process.stderr.write("bench: --against needs the path of a script\n");
  process.exit(2);
}

function table({ bench, unit, figures, ratios }) {
  process.stderr.write(`\n${bench}${unit ? ` (${unit})` : ""}\n`);
  for (const [name, value] of Object.entries({ ...figures, ...ratios }))
    process.stderr.write(
      `  ${name.padEnd(44)} ${typeof value === "number" ? value.toLocaleString("en") : value}\n`,
    );
}
