// `npm run build`: types and JavaScript by tsc, entries and pages by Vite, a stamp for `npm start`.
// Of the types only those stay that an entry reaches.
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureInstalled, root, run } from "./prepare.mjs";
import { keepReachableTypes } from "./types.mjs";

ensureInstalled();
const node = process.execPath;
const bin = (...path) => join(root, "node_modules", ...path);
rmSync(join(root, "dist"), { recursive: true, force: true });
let status = run(node, [bin("typescript", "bin", "tsc"), "-p", "tsconfig.json"]);
if (status === 0 && existsSync(join(root, "web", "vite.config.ts")))
  status = run(node, [bin("vite", "bin", "vite.js"), "build", "web", "--logLevel", "warn"]);
if (status === 0) {
  // Not before now: on a fresh clone Vite is installed by the first line.
  await (await import("./bundle.mjs")).bundle();
  keepReachableTypes();
  const main = join(root, "dist", "daemon", "cli", "main.js");
  chmodSync(main, 0o755);
  linkBin(main);
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(join(root, "dist", ".built"), "");
}
process.exitCode = status;

/** Makes `npx earshot` work in the checkout itself, as it does where the package is installed. */
function linkBin(main) {
  if (process.platform === "win32") return;
  const link = join(root, "node_modules", ".bin", "earshot");
  rmSync(link, { force: true });
  symlinkSync(main, link);
}
