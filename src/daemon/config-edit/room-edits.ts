/**
 * Changes of the config file from rooms
 * =====================================
 * `/config set`, `unset` and `undo` change the file as the Settings page does: in place, with a copy,
 * and with the same undo. A value set by an earlier version as an override would hide the edit, so it is
 * removed, and put back if the file cannot be written.
 */
import { basename } from "node:path";
import JSON5 from "json5";
import { parseJson5 } from "../../adapters/files/config-file.ts";
import { ConfigError, isPlain } from "../../domain/config/index.ts";
import {
  assertMayOverride,
  overridePath,
  withChatOverrides,
} from "../../domain/config/parse/chat-overrides.ts";
import type { ConfigFileChange, ConfigFileEdits, ConfigLayers } from "../../domain/ports/index.ts";
import type { ConfigChanges, TextChange } from "./changes.ts";
import { withoutValue, withValue } from "./json5-text.ts";

/**
 * Writes a change while the overrides of these paths, and of what is below them, are removed.
 * They are put back if it fails.
 */
export async function withoutOverrides<Result>(
  layers: ConfigLayers,
  paths: readonly string[],
  write: () => Promise<Result>,
): Promise<Result> {
  const isHiding = (path: string) =>
    paths.some((edited) => path === edited || path.startsWith(`${edited}.`));
  const hiding = layers.overrides("set").filter(({ path }) => isHiding(path));
  for (const { path } of hiding) await layers.unset("set", path);
  try {
    return await write();
  } catch (error) {
    for (const { path, value, by } of hiding)
      await layers.set("set", path, JSON.stringify(value), by);
    throw error;
  }
}

export function createRoomEdits(changes: ConfigChanges, layers: ConfigLayers): ConfigFileEdits {
  async function write(path: string, change: TextChange, what: string): Promise<ConfigFileChange> {
    try {
      const { lines, token } = await changes.plan(change);
      const shown = lines.filter((line) => /^[+-]/u.test(line));
      return await withoutOverrides(layers, [path], async () => {
        if (lines.length === 0) return { path, lines: [], copy: null, applied: true };
        const { copy, applied } = await changes.write(change, token, what);
        return { path, lines: shown, copy: copy === null ? null : basename(copy), applied };
      });
    } catch (error) {
      // In a room the path of the file says nothing.
      if (error instanceof ConfigError)
        throw new ConfigError(error.problems, { cannot: "set that" }, error);
      throw error;
    }
  }

  return {
    async set(path, text, by) {
      const value = valueIn(text);
      assertMayOverride(overridePath(path), value);
      const change = (file: string) => withValue(file, stepsIn(file, path, value), value);
      return { ...(await write(path, change, `${path} changed by ${by}`)), value };
    },
    async unset(path, by) {
      assertMayOverride(overridePath(path), null);
      const overridden = layers.overrides("set").some((one) => one.path === path);
      const change = (file: string) => withoutValue(file, stepsIn(file, path, null));
      const done = await write(path, change, `${path} taken out by ${by}`);
      return done.lines.length === 0 && !overridden ? null : done;
    },
    async undo() {
      const last = await changes.last();
      if (last === null) return null;
      await changes.undo(last.copy, last.token);
      return { what: last.what };
    },
  };
}

/** JSON5, or else the text itself. */
function valueIn(text: string): unknown {
  try {
    return JSON5.parse(text) as unknown;
  } catch {
    return text;
  }
}

/**
 * The steps to a value in the text: a number where a list is.
 * @throws EarshotError EAR_CONFIG_INVALID when a list has no such entry.
 */
function stepsIn(text: string, path: string, value: unknown): readonly (string | number)[] {
  let there: unknown = withChatOverrides(parseJson5(text, "the config file"), [{ path, value }]);
  return overridePath(path).map((name) => {
    const isList = Array.isArray(there);
    if (Array.isArray(there)) there = there[Number(name)];
    else there = isPlain(there) ? there[name] : undefined;
    return isList ? Number(name) : name;
  });
}
