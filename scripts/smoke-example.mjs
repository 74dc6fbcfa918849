// The example of docs/testing.md as a user has it: a copy of its folder, the packed earshot and the
// rest from the registry. The rules must hold, and the planted mistake must be found.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./prepare.mjs";

const folder = mkdtempSync(join(tmpdir(), "earshot-example-"));
const app = join(folder, "app");
const say = (line) => process.stderr.write(`example: ${line}\n`);

function run(command, args, cwd = app) {
  const env = { ...process.env, NO_COLOR: "1", CI: "1", SEED: "4" };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  return { status, said: `${stdout}\n${stderr}`, stdout: stdout.trim() };
}

function must(command, args, cwd) {
  const done = run(command, args, cwd);
  if (done.status === 0) return done.stdout;
  throw new Error(`${command} ${args.join(" ")} failed\n${done.said}`);
}

try {
  const isOurs = (path) => !path.includes("node_modules");
  cpSync(join(root, "examples", "property-test-your-rules"), app, {
    recursive: true,
    filter: isOurs,
  });
  const tarball = must("npm", ["pack", "--silent", "--pack-destination", folder], root);
  must("npm", ["install", "--silent", "--ignore-scripts", "--save-dev", join(folder, tarball)]);
  say("installed");
  must("npm", ["run", "--silent", "types"]);
  say("types are clean");
  must("npm", ["test", "--silent"]);
  say("the rules hold");
  const mistake = run("npm", ["run", "--silent", "mistake"]);
  const isFound = /1 failed \| 4 passed/.test(mistake.said) && /m4 rex \(bot\)/.test(mistake.said);
  if (mistake.status === 0 || !isFound)
    throw new Error(`the planted mistake was not found\n${mistake.said}`);
  say("the planted mistake was found");
} catch (error) {
  say(`failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
