// `npm run build`: types and JavaScript by tsc, entries and pages by Vite, a stamp for `npm start`.
// Of the types only those stay that an entry reaches.
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keepReachableTypes } from "./build/types.mjs";
import { commandLine } from "./command-line.mjs";
import { root, waitForTurn } from "./prepare.mjs";

const help = `Usage: npm run build

Builds dist: types, JavaScript and pages. npm start, npm test and the others do it when a source is newer than dist.
Example: npm run build && npx earshot doctor

`;
const node = process.execPath;
const bin = (...path) => join(root, "node_modules", ...path);

async function build() {
  waitForTurn();
  rmSync(join(root, "dist"), { recursive: true, force: true });
  const statuses = await Promise.all([
    running(bin("typescript", "bin", "tsc"), "-p", "tsconfig.json"),
    ...(existsSync(join(root, "web", "vite.config.ts"))
      ? [running(bin("vite", "bin", "vite.js"), "build", "web", "--logLevel", "warn")]
      : []),
  ]);
  if (Math.max(...statuses) !== 0) return false;
  // Not before now: on a fresh clone Vite is installed first.
  await (await import("./build/bundle.mjs")).bundle();
  keepReachableTypes();
  const main = join(root, "dist", "daemon", "cli", "main.js");
  chmodSync(main, 0o755);
  linkBin(main);
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(join(root, "dist", ".built"), "");
  return true;
}

/** A program that runs beside others; the answer is its exit code. */
function running(...args) {
  return new Promise((done, failed) => {
    const child = spawn(node, args, { cwd: root, stdio: ["ignore", 2, 2] });
    child.once("error", failed).once("exit", (code) => done(code ?? 1));
  });
}

/** Makes `npx earshot` work in the checkout itself, as it does where the package is installed. */
function linkBin(main) {
  if (process.platform === "win32") return;
  const link = join(root, "node_modules", ".bin", "earshot");
  rmSync(link, { force: true });
  symlinkSync(main, link);
}

await commandLine({ name: "build", help, docs: "CONTRIBUTING.md", run: build });
