// Installs Restate's server from the npm registry into a cache folder, once. Only the package of this
// platform is fetched: it is one binary with its license, has no dependency and runs no script. (Its parent,
// @restatedev/restate-server, adds a program that picks the binary, and one that reports installs to
// scarf.sh.) npm refuses a download whose checksum is not the one below.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export const version = "1.7.12";

/** The checksum of each package that exists, by platform and processor as Node names them. */
const checksums = {
  "linux-x64":
    "sha512-URotJ1AIqaSCDkRMl4OrQfTLH+NYuOZb3ZsP7wxxiuAB6pncgPhTUYSvegTF5PTrAShnNyHNpju9kjf2O3QxoA==",
  "linux-arm64":
    "sha512-aV7YxWvPhp88MjQtObGDhDCTwCBa68wwZOAMmJqDreO0auHYuSfOqabEx4I90coZsx3zShNusppbTPKprOa+dw==",
  "darwin-x64":
    "sha512-ZRS1kk3S4pzIiup2IRRQ3eHoKJSZ43FG4rDe7UbGFWwZ/Yz0xSDa4/3/kiuwaMHXWs/CsKtJe0shx8JCR0DO1g==",
  "darwin-arm64":
    "sha512-pHrZMaaeBJxXTgI19WG/aJvxuUDQ2nhSDEEJVseTZQiTEdJ7hboPlhvYacgXIE2iMnLMmWkN5XIlXqosHK8Byg==",
};

/** Where the binaries are kept unless `--cache` names another folder. */
export const cacheFolder = () =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "earshot");

const platform = `${process.platform}-${process.arch}`;
const packageName = `@restatedev/restate-server-${platform}`;
const folderIn = (cache) => join(cache, `restate-server-${version}-${platform}`);

/** Where the binary is once it is installed. */
export const binaryIn = (cache) =>
  join(folderIn(cache), "node_modules", packageName, "bin", "restate-server");

/**
 * The path of the binary; installs it first if it is not there. Several processes may ask at once.
 * Throws an Error whose message says what to do.
 */
export async function installed(cache, say) {
  const integrity = checksums[platform];
  if (integrity === undefined)
    throw new Error(
      `Cannot install Restate ${version}: there is no build for ${platform} ` +
        `(there is one for ${Object.keys(checksums).join(", ")}). Run it elsewhere, or in a container.`,
    );
  const [name, folder, binary] = [packageName, folderIn(cache), binaryIn(cache)];
  if (existsSync(binary)) return binary;

  say(`installs Restate ${version} from the npm registry into ${folder} (81 MB to fetch)`);
  await mkdir(cache, { recursive: true });
  // Complete or not there: npm works in a folder of its own, which then gets the name.
  const unfinished = await mkdtemp(join(cache, "restate-server-unfinished-"));
  try {
    const dependencies = { [name]: version };
    const packages = { "": { dependencies }, [`node_modules/${name}`]: { version, integrity } };
    await writeFile(join(unfinished, "package.json"), JSON.stringify({ dependencies }));
    await writeFile(
      join(unfinished, "package-lock.json"),
      JSON.stringify({ lockfileVersion: 3, requires: true, packages }),
    );
    await npm(["ci", "--prefix", unfinished, "--ignore-scripts", "--no-audit", "--no-fund"]);
    await rename(unfinished, folder).catch((error) => {
      // Somebody else was faster.
      if (!existsSync(binary)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  if (!existsSync(binary))
    throw new Error(`Cannot install Restate: ${name} ${version} has no binary. Delete ${folder}.`);
  say(`installed: ${dirname(binary)}`);
  return binary;
}

async function npm(args) {
  const command = process.platform === "win32" ? "npm.cmd" : "npm";
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (data) => {
    said += String(data);
  });
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) return;
  const why = said.split("\n").filter((line) => line.startsWith("npm error"));
  throw new Error(
    `Cannot install Restate: npm failed (exit code ${code}). Is the npm registry reachable?\n` +
      why.slice(0, 8).join("\n"),
  );
}
