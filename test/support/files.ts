/** Files of the tree, for the tests that read it. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** All .ts files below a folder. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return path.endsWith(".ts") ? [path] : [];
  });
}
