/**
 * Whether a program can be run here: looks for it, and starts nothing.
 */
import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** `command`: a whole path, or a name to look for in the folders of `searchPath`. */
export async function canRun(command: string, searchPath: string): Promise<boolean> {
  const places = isAbsolute(command)
    ? [command]
    : searchPath
        .split(delimiter)
        .filter((folder) => folder !== "")
        .map((folder) => join(folder, command));
  for (const place of places) {
    const works = await access(place, constants.X_OK).then(
      async () => (await stat(place)).isFile(),
      () => false,
    );
    if (works) return true;
  }
  return false;
}
