/**
 * Loads the modules listed in `plugins` of the config, in order. Plugins are code chosen by the
 * operator and run with the daemon's rights; their exports are validated all the same, so that a
 * broken one is reported by name at start.
 */
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { hookNames, type Plugin } from "../../domain/ports/index.ts";
import { parseJson5, readConfigText } from "./config-file.ts";
import { importDefault, importProblem, modulePath } from "./imports.ts";
import { asPlugin, scopedPlugin } from "./plugin-scope.ts";

const callable = z.custom<(...given: unknown[]) => unknown>(
  (value) => typeof value === "function",
  "expected a function",
);
const channelSchema = z.looseObject({
  id: z.string().min(1),
  open: callable,
  accountSchema: z.looseObject({ safeParse: callable }),
});
const commandWord = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/u, "lower-case letters, digits, - _");
const commandLine = z
  .string()
  .max(100)
  .regex(/^[^\n\r]*$/u, "one line");
const commandSchema = z.strictObject({
  help: commandLine.min(1),
  usage: commandLine.optional(),
  who: z.enum(["owner", "authorised"]).optional(),
  menu: z.boolean().optional(),
  run: callable,
});
const pluginSchema = z.strictObject({
  name: z.string().min(1).max(limits.labelShownUnitsMax),
  commands: z.record(commandWord, commandSchema).optional(),
  hooks: z.partialRecord(z.enum(hookNames), callable).optional(),
  channels: z.array(channelSchema).max(limits.pluginsMax).optional(),
});

/** Reads only `plugins` of the config file at `path`. */
export async function pluginsNamedIn(path: string): Promise<readonly string[]> {
  const named = z.looseObject({
    plugins: z.array(z.string().min(1).max(limits.idUnitsMax)).max(limits.pluginsMax),
  });
  try {
    const found = named.safeParse(parseJson5(await readConfigText(path), path));
    return found.success ? found.data.plugins : [];
  } catch {
    // Reading the whole file reports what is wrong with it.
    return [];
  }
}

/**
 * Loads plugins; relative paths start at `baseDir`.
 * @throws EarshotError EAR_PLUGIN with the place in the config and the fix.
 */
export async function loadPlugins(
  names: readonly string[],
  baseDir: string,
): Promise<readonly Plugin[]> {
  const plugins: Plugin[] = [];
  for (const [index, name] of names.entries()) {
    const plugin = await load(name, baseDir, `plugins[${index}]`);
    if (plugins.some((other) => other.name === plugin.name))
      throw refused(name, `plugins[${index}]`, `another plugin has the name "${plugin.name}"`);
    plugins.push(plugin);
  }
  return plugins;
}

async function load(name: string, baseDir: string, place: string): Promise<Plugin> {
  const path = modulePath(name, baseDir);
  let exported: unknown;
  try {
    exported = await asPlugin(name, () => importDefault(name, baseDir));
  } catch (cause) {
    const fix =
      path === null
        ? `Install it beside earshot (npm install ${name}), or use a path that begins with ./`
        : "Fix the file, or remove it from the list";
    throw new EarshotError(
      "EAR_PLUGIN",
      `Cannot load ${place} (${path ?? name}): ${importProblem(cause, path)}. ${fix}`,
      { cause },
    );
  }
  const checked = pluginSchema.safeParse(exported);
  if (checked.success) {
    const { name: own, commands } = checked.data;
    // The plugin's name is the prefix of its commands.
    if (commands === undefined || (own !== "skill" && commandWord.safeParse(own).success))
      return scopedPlugin(exported as Plugin);
    const why = `a plugin with commands needs a name of lower-case letters, digits, - _, and not "skill"`;
    throw refused(path ?? name, place, why);
  }
  const [issue] = checked.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  throw refused(
    path ?? name,
    place,
    `its default export is not a plugin (${where}${issue?.message})`,
  );
}

function refused(name: string, place: string, why: string): EarshotError {
  return new EarshotError(
    "EAR_PLUGIN",
    `Cannot use ${place} (${name}): ${why}. Export one made with definePlugin, or remove it from ` +
      "the list",
  );
}
