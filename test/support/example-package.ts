/**
 * Examples as a stranger has them: a folder for each, and above them the packed earshot in node_modules.
 * Packing and unpacking cost as much as what an example does, so all of them share one.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
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
const json = (path: string) => JSON.parse(readFileSync(path, "utf8"));
const manifestOf = (path: string): Manifest => json(join(path, "package.json"));

type Environment = Readonly<Record<string, string>>;
interface Done {
  readonly status: number | null;
  readonly said: string;
}

export interface Installed {
  /** Paths of all that was packed. */
  readonly files: ReadonlySet<string>;
  /** Runs a script of `node_modules` in the folder of an example. */
  run(example: string, args: readonly string[], env?: Environment): Done;
  /** Checks the types of all examples at once; they have the same settings. */
  types(): Done;
}

/** Copies of the examples, installed. */
export function installExamples(names: readonly string[]): Installed {
  const folder = newFolder();
  for (const name of names)
    cpSync(join(root, "examples", name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.includes("node_modules"),
    });
  const run = (cwd: string, command: string, args: readonly string[], env: Environment = {}) => {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd,
      encoding: "utf8",
      timeout: patience,
      env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", CI: "1", ...env },
    });
    return { status, said: `${stdout}${stderr}`, stdout };
  };
  const files = install(folder, names, run);
  const inModules = ([script = "", ...args]: readonly string[]) => [
    join(folder, "node_modules", script),
    ...args,
  ];
  return {
    files,
    run: (example, args, env) => run(join(folder, example), process.execPath, inModules(args), env),
    types() {
      const [first, ...others] = names.map((name) => json(join(folder, name, "tsconfig.json")));
      for (const other of others) expect(other).toEqual(first);
      const { include } = first as { include: readonly string[] };
      const inside = names.flatMap((name) => include.map((files) => `${name}/${files}`));
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ ...first, include: inside }));
      return run(folder, process.execPath, inModules(["typescript/bin/tsc"]));
    },
  };
}

type Run = (cwd: string, command: string, args: readonly string[]) => Done & { stdout: string };

/** The packed files go in as they are; what they need is linked, as nothing is fetched here. Returns their paths. */
function install(folder: string, names: readonly string[], run: Run): ReadonlySet<string> {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "earshot"), { recursive: true });
  const packed = run(folder, "npm", ["pack", "--json", "--ignore-scripts", root]);
  expect(packed.status, packed.said).toBe(0);
  const tarball = readdirSync(folder).find((file) => file.endsWith(".tgz")) as string;
  const into = ["-C", "node_modules/earshot", "--strip-components=1"];
  const unpacked = run(folder, "tar", ["xzf", tarball, ...into]);
  expect(unpacked.status, unpacked.said).toBe(0);
  const development = names.map((name) => manifestOf(join(folder, name)).devDependencies);
  const { dependencies } = manifestOf(join(modules, "earshot"));
  for (const name of Object.keys(Object.assign({}, ...development, dependencies))) {
    if (name === "earshot") continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name), "dir");
  }
  const [{ files }] = JSON.parse(packed.stdout) as [{ files: readonly { path: string }[] }];
  return new Set(files.map(({ path }) => path));
}
