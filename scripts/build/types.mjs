// Which declarations the package ships: tsc writes one for each module, and the entries of package.json
// reach about a fifth of them. tsc itself follows their imports; the others are deleted.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../prepare.mjs";

/** Deletes the declarations in dist/ that no entry of the package reaches. */
export function keepReachableTypes() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.values(exports).flatMap(({ types }) => (types ? [types] : []));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const flags = "--listFilesOnly --noEmit --ignoreConfig --module nodenext --target es2023".split(
    " ",
  );
  const listed = spawnSync(process.execPath, [tsc, ...flags, ...entries], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  const reached = new Set(listed.stdout.split("\n"));
  const dist = join(root, "dist");
  if (listed.status !== 0 || entries.some((entry) => !reached.has(join(root, entry))))
    throw new Error(`tsc did not list the files of ${entries.join(", ")}\n${listed.stdout}`);
  for (const name of readdirSync(dist, { recursive: true }))
    if (name.endsWith(".d.ts") && !reached.has(join(dist, name))) rmSync(join(dist, name));
}
