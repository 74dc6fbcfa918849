/**
 * Whether a program can be run here: finds it without starting it.
 */
import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** `command` is an absolute path, or a name to find in the folders of `searchPath`. */
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
