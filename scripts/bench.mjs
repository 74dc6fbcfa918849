// `npm run bench [-- --json] [--short] [name …]`: runs the benches in bench/, each in a process of its own.
// With --json one JSON object a bench on stdout; without it a table on stderr.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { ensureBuilt, ensureInstalled, root } from "./prepare.mjs";

const args = process.argv.slice(2);
const names = args.filter((arg) => !arg.startsWith("--"));
const json = args.includes("--json");
// A bench that waits for what never comes must end by itself: nobody watches it in CI.
const limitMs = (args.includes("--short") ? 5 : 30) * 60_000;
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
  const done = spawnSync(
    process.execPath,
    [
      "--expose-gc",
      "--import",
      "tsx",
      join(root, "bench", file),
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

function table({ bench, unit, figures, ratios }) {
  process.stderr.write(`\n${bench}${unit ? ` (${unit})` : ""}\n`);
  for (const [name, value] of Object.entries({ ...figures, ...ratios }))
    process.stderr.write(
      `  ${name.padEnd(44)} ${typeof value === "number" ? value.toLocaleString("en") : value}\n`,
    );
}
