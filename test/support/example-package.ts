/**
 * An example as a stranger has it: a folder of its own, with the packed earshot in its node_modules.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { newFolder } from "./daemon/folder.ts";
import { root } from "./docs.ts";

/** For each command, ms. */
export const patience = 240_000;

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}
const manifestOf = (path: string) =>
  JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest;

type Environment = Readonly<Record<string, string>>;
interface Done {
  readonly status: number | null;
  readonly said: string;
}
/** Runs a script of `node_modules` in the folder of the example. */
export type RunExample = (args: readonly string[], env?: Environment) => Done;

/** A copy of the example, installed. */
export function installExample(name: string): RunExample {
  const example = join(root, "examples", name);
  const folder = newFolder();
  cpSync(example, folder, {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
  const run = (command: string, args: readonly string[], env: Environment = {}): Done => {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: folder,
      encoding: "utf8",
      timeout: patience,
      env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", CI: "1", ...env },
    });
    return { status, said: `${stdout}${stderr}` };
  };
  install(folder, example, run);
  return (args, env) => run(process.execPath, args, env);
}

/** The packed files go in as they are; what they need is linked, as nothing is fetched here. */
function install(
  folder: string,
  example: string,
  run: (command: string, args: readonly string[]) => Done,
): void {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "earshot"), { recursive: true });
  const packed = run("npm", ["pack", "--silent", "--ignore-scripts", root]);
  expect(packed.status, packed.said).toBe(0);
  const tarball = readdirSync(folder).find((file) => file.endsWith(".tgz")) as string;
  const into = ["-C", "node_modules/earshot", "--strip-components=1"];
  const unpacked = run("tar", ["xzf", tarball, ...into]);
  expect(unpacked.status, unpacked.said).toBe(0);
  const { devDependencies } = manifestOf(example);
  const { dependencies } = manifestOf(join(modules, "earshot"));
  for (const name of Object.keys({ ...devDependencies, ...dependencies })) {
    if (name === "earshot") continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name), "dir");
  }
}
