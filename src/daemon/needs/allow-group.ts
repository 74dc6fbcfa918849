/**
 * Adds a group to `access.groups` of the config file
 * ==================================================
 * Only that entry is written; comments and layout stay. The file before is kept beside it as
 * `<file>.bak`. The watcher of the file applies the change.
 */
import { existsSync } from "node:fs";
import { copyFile, rename, stat, writeFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { parseJson5, readConfigText } from "../../adapters/files/config-file.ts";
import { isPlain } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { withValue } from "../quality/apply-edits.ts";

export interface Group {
  readonly channel: string;
  readonly chat: string;
}

/** @throws EarshotError EAR_CONFIG_* when the file cannot be read, or its form is not understood. */
export async function allowGroup(path: string, { channel, chat }: Group): Promise<void> {
  const found = existsSync(path);
  const text = found ? await readConfigText(path) : "{\n}\n";
  const name = `${channel}:${chat}`;
  const before = parseJson5(text, path);
  const access = at(before, "access");
  const groups = fields(at(access, "groups"));
  if (Object.hasOwn(groups, name)) return;
  const changed = withValue(text, ["access", "groups", name], {});
  const added = { ...fields(access), groups: { ...groups, [name]: {} } };
  const wanted = { ...fields(before), access: added };
  if (!isDeepStrictEqual(parseJson5(changed, path), wanted))
    throw new EarshotError(
      "EAR_CONFIG_SYNTAX",
      `Cannot add the group to ${path}: its form is not understood. ` +
        `Add ${JSON.stringify(name)}: {} to access.groups by hand`,
    );
  const mode = found ? (await stat(path)).mode & 0o777 : 0o600;
  if (found) await copyFile(path, `${path}.bak`);
  await writeFile(`${path}.new`, changed, { mode });
  await rename(`${path}.new`, path);
}

const fields = (value: unknown): Record<string, unknown> => (isPlain(value) ? value : {});
const at = (value: unknown, name: string): unknown =>
  isPlain(value) && Object.hasOwn(value, name) ? value[name] : undefined;
