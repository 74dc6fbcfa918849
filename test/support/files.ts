/** Files of the tree, for the tests that read it. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** All files below a folder whose names end so. @default TypeScript files */
export function filesBelow(folder: string, ending: string | RegExp = /\.tsx?$/): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesBelow(path, ending);
    const wanted = typeof ending === "string" ? path.endsWith(ending) : ending.test(path);
    return wanted ? [path] : [];
  });
}
