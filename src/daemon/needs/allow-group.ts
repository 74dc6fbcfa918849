/**
 * Adds a group to `access.groups` of the config file
 * ==================================================
 * Only that entry is written; comments and layout stay. The watcher of the file applies the change.
 */
import { isDeepStrictEqual } from "node:util";
import { parseJson5 } from "../../adapters/files/config-file.ts";
import { isPlain } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { changeConfigFile } from "../config-edit/file.ts";
import { withValue } from "../config-edit/json5-text.ts";

export interface Group {
  readonly channel: string;
  readonly chat: string;
}

/** @throws EarshotError EAR_CONFIG_* when the file cannot be read, or its form is not understood. */
export async function allowGroup(path: string, group: Group): Promise<void> {
  await changeConfigFile(path, (text) => withGroup(text, path, group));
}

function withGroup(text: string, path: string, { channel, chat }: Group): string {
  const name = `${channel}:${chat}`;
  const before = parseJson5(text, path);
  const access = at(before, "access");
  const groups = fields(at(access, "groups"));
  if (Object.hasOwn(groups, name)) return text;
  const changed = withValue(text, ["access", "groups", name], {});
  const added = { ...fields(access), groups: { ...groups, [name]: {} } };
  const wanted = { ...fields(before), access: added };
  if (!isDeepStrictEqual(parseJson5(changed, path), wanted))
    throw new EarshotError(
      "EAR_CONFIG_SYNTAX",
      `Cannot add the group to ${path}: unexpected file structure. ` +
        `Add ${JSON.stringify(name)}: {} to access.groups by hand`,
    );
  return changed;
}

const fields = (value: unknown): Record<string, unknown> => (isPlain(value) ? value : {});
const at = (value: unknown, name: string): unknown =>
  isPlain(value) && Object.hasOwn(value, name) ? value[name] : undefined;
