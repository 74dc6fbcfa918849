/**
 * The scripts of package.json explain themselves and do nothing that nobody asked for: `--help` says what they do, with
 * an example and where more is said, and a flag that they do not know is refused before anything is run.
 */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createProgram } from "../../src/daemon/cli/program.ts";

const root = resolve(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** These are a command of another program: Biome, and `earshot start`, whose flags are its own. */
const ofOthers = ["format", "start"];
const ours = Object.keys(scripts).filter((name) => !ofOthers.includes(name));

/** As npm runs it, without npm. */
const run = (name: string, flag: string) => runIn(root, name, flag);

async function runIn(cwd: string, name: string, flag: string) {
  const env = {
    ...process.env,
    PATH: [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter),
  };
  const child = spawn(`${scripts[name]} ${flag}`, {
    cwd,
    env,
    shell: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((done) => child.once("exit", done));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

test("the scripts are those that this file knows the owners of", () => {
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining([...ofOthers, "bench", "verify"]));
  expect(scripts.start).toContain("scripts/start.mjs");
  expect(scripts.format).toMatch(/^biome /u);
});

test.concurrent.each(ours)("npm run %s -- --help teaches it", async (name) => {
  const { code, stdout, stderr } = await run(name, "--help");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain(name.startsWith("test") ? "Usage: npm test" : `Usage: npm run ${name}`);
  expect(stdout).toMatch(/Example[^:]*: \S/u);
  expect(stdout).toMatch(/^ +--help +prints this$/mu);
  const [, docs = ""] = /^Documentation: (\S+\.md)/mu.exec(stdout) ?? [];
  expect([docs, existsSync(join(root, docs))]).toEqual([docs, docs !== ""]);
  // What lies in the user's folder is as long as its path.
  const lines = stdout.split("\n").filter((line) => !line.includes("Default: /"));
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
});

test.concurrent.each(ours)("npm run %s refuses a flag that it does not know", async (name) => {
  const { code, stdout, stderr } = await run(name, "--shrot");
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr.split("\n")[0]).toMatch(/^[a-z]+: Unknown \w+ '--shrot'$/u);
  expect(stderr).toContain("Usage: npm ");
});

test.each([
  ["bench", "nothing-like-it", "bench: no bench is called nothing-like-it"],
  ["bench", "--against", "bench: Option '--against <value>' argument missing"],
  ["prove", "P99", "prove: there is no promise P99"],
  ["check", "src", "check: Unexpected argument 'src'"],
  ["fake", "", "fake: name one of telegram, model"],
])("npm run %s %s says what is wrong", async (name, argument, why) => {
  const { code, stdout, stderr } = await run(name, argument);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr.split("\n")[0]).toContain(why);
});

test("a closed pipe (`npm run prove -- --list | head -1`) ends a script without an error", async () => {
  // The reader is gone long before Node has started.
  const { stderr } = await run("prove", "--list | true");
  expect(stderr).toBe("");
});

test("npm start -- --help is answered before anything is installed, with every option of earshot start", async () => {
  const checkout = mkdtempSync(join(tmpdir(), "earshot-start-"));
  mkdirSync(join(checkout, "scripts"));
  for (const name of ["start.mjs", "prepare.mjs"])
    copyFileSync(join(root, "scripts", name), join(checkout, "scripts", name));
  for (const flag of ["--help", "-h"]) {
    const { code, stdout, stderr } = await runIn(checkout, "start", flag);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Usage: npm start /u);
    const start = (await createProgram(["start"])).commands[0];
    const flags = start?.options.map(({ long }) => long) ?? [];
    expect(flags).toContain("--port");
    for (const one of flags) expect(stdout).toContain(`  ${one} `);
  }
  expect(readdirSync(checkout)).toEqual(["scripts"]);
});
