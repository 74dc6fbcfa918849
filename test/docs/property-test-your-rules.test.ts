/**
 * examples/property-test-your-rules as a stranger has it: a folder of its own, with the packed
 * earshot in its node_modules. The rules hold, and the planted mistake is found and reported
 * in a few lines.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { newFolder } from "../support/daemon/folder.ts";
import { root } from "../support/docs.ts";

const example = join(root, "examples/property-test-your-rules");
const patience = 240_000;
let folder = "";

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}
const manifestOf = (path: string) =>
  JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest;

function run(command: string, args: readonly string[], env: Record<string, string> = {}) {
  const done = spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: patience,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", CI: "1", ...env },
  });
  return { status: done.status, said: `${done.stdout}${done.stderr}` };
}

/** The packed files go in as they are; what they need is linked, as nothing is fetched here. */
function install(): void {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "earshot"), { recursive: true });
  const packed = run("npm", ["pack", "--silent", "--ignore-scripts", root]);
  expect(packed.status, packed.said).toBe(0);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) as string;
  const unpacked = run("tar", [
    "xzf",
    tarball,
    "-C",
    "node_modules/earshot",
    "--strip-components=1",
  ]);
  expect(unpacked.status, unpacked.said).toBe(0);
  const { devDependencies } = manifestOf(example);
  const { dependencies } = manifestOf(join(modules, "earshot"));
  for (const name of Object.keys({ ...devDependencies, ...dependencies })) {
    if (name === "earshot") continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name), "dir");
  }
}

beforeAll(() => {
  folder = newFolder();
  cpSync(example, folder, {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
  install();
}, patience);

const vitest = (project: string) =>
  run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "--project", project], {
    ROOMS: "10",
    SEED: "4",
    EARSHOT_RUNS: "",
  });

test("its types are clean against the packed declarations", { timeout: patience }, () => {
  const { status, said } = run(process.execPath, ["node_modules/typescript/bin/tsc"]);
  expect(said).toBe("");
  expect(status).toBe(0);
});

test("the rules of the library hold", { timeout: patience }, () => {
  const { status, said } = vitest("library");
  expect(said).toMatch(/Tests +6 passed \(6\)/);
  expect(status, said).toBe(0);
});

test("the planted mistake is found in a room of four lines", { timeout: patience }, () => {
  const { status, said } = vitest("mistake");
  expect(status).toBe(1);
  expect(said).toMatch(/Tests +1 failed \| 4 passed \(5\)/);
  expect(said).toContain("bots get at most three answers in a row");
  const output = said.slice(said.indexOf("The rule is broken in this room"));
  const lines = output.match(/^ +\d+:\d\d\.\d{3} {2}m\d .*$/gmu);
  expect(lines?.map((line) => line.trim().split(": ")[0])).toEqual([
    expect.stringMatching(/m1 rex \(bot\)$/),
    expect.stringMatching(/m2 rex \(bot\)$/),
    expect.stringMatching(/m3 rex \(bot\)$/),
    expect.stringMatching(/m4 rex \(bot\)$/),
  ]);
  expect(output).toMatch(/The same room again: \{ seed: 4, path: "[\d:]+" \}/);
});
