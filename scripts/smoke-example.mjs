// The examples of docs/testing.md and docs/quality.md as a user has them: a copy of the folder, the
// packed earshot and the rest from the registry. What they expect must hold, and the planted mistake
// must be found.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./prepare.mjs";

const examples = [
  { name: "property-test-your-rules", found: [/1 failed \| 4 passed/, /m4 rex \(bot\)/] },
  {
    name: "score-your-rooms",
    found: [/1 failed \| 1 passed/, /precision is 0\.4\d\d, wanted 0\.9/],
  },
];
const folder = mkdtempSync(join(tmpdir(), "earshot-example-"));
const say = (line) => process.stderr.write(`example: ${line}\n`);

function run(command, args, cwd) {
  const env = { ...process.env, NO_COLOR: "1", CI: "1", SEED: "4" };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  return { status, said: `${stdout}\n${stderr}`, stdout: stdout.trim() };
}

function must(command, args, cwd) {
  const done = run(command, args, cwd);
  if (done.status === 0) return done.stdout;
  throw new Error(`${command} ${args.join(" ")} failed\n${done.said}`);
}

function tryOut({ name, found }, tarball) {
  const app = join(folder, name);
  const isOurs = (path) => !path.includes("node_modules");
  cpSync(join(root, "examples", name), app, { recursive: true, filter: isOurs });
  must("npm", ["install", "--silent", "--ignore-scripts", "--save-dev", tarball], app);
  must("npm", ["run", "--silent", "types"], app);
  say(`${name}: types are clean`);
  must("npm", ["test", "--silent"], app);
  say(`${name}: what it expects holds`);
  const mistake = run("npm", ["run", "--silent", "mistake"], app);
  if (mistake.status === 0 || !found.every((part) => part.test(mistake.said)))
    throw new Error(`${name}: the planted mistake was not found\n${mistake.said}`);
  say(`${name}: the planted mistake was found`);
}

try {
  const packed = must("npm", ["pack", "--silent", "--pack-destination", folder], root);
  for (const example of examples) tryOut(example, join(folder, packed));
} catch (error) {
  say(`failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
