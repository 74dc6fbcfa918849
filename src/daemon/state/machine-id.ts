/**
 * The lock of a state directory depends on process ids, which mean nothing on another machine: of
 * two machines that share a folder, one would take it over while the other still writes. So the
 * directory remembers its machine, and another machine does not start on it before a person removes
 * that file. A machine without an id, as in many containers, is not remembered.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createFile } from "./create-file.ts";

const idFiles = ["/etc/machine-id", "/var/lib/dbus/machine-id"];
const fileOf = (folder: string) => join(folder, "machine");

const readText = (path: string): Promise<string> =>
  readFile(path, "utf8").then(
    (text) => text.trim(),
    () => "",
  );

/**
 * This machine's name in state directories, or null where it has no id. A digest, as machine-id(5)
 * asks of programs that show it.
 */
export async function machineName(files: readonly string[] = idFiles): Promise<string | null> {
  for (const path of files) {
    const id = await readText(path);
    if (/^[0-9a-f]{32}$/.test(id))
      return createHash("sha256").update(`earshot ${id}`).digest("hex").slice(0, 32);
  }
  return null;
}

/** The file that says another machine made the directory, or null: none does. */
export async function foreignMachine(folder: string, name: string | null): Promise<string | null> {
  const path = fileOf(folder);
  const marked = await readText(path);
  return name === null || marked === "" || marked === name ? null : path;
}

/** Remembers this machine, unless one is remembered. */
export async function rememberMachine(folder: string, name: string | null): Promise<void> {
  if (name === null) return;
  await createFile(fileOf(folder), `${name}\n`);
}
