/**
 * Loading plugins
 * ===============
 * The modules that `plugins` of the config names, in its order. They are code that whoever runs the
 * daemon has chosen, and run as the daemon itself; what they export is checked all the same, so that
 * a wrong one is told by its name at the start, and not by what it does later.
 */
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { hookNames, type Plugin } from "../../domain/ports/index.ts";
import { parseJson5, readConfigText } from "./config-file.ts";
import { importDefault, importProblem, modulePath } from "./imports.ts";

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

/** What the config file at `path` says in `plugins`, before anything else of it is looked at. */
export async function pluginsNamedIn(path: string): Promise<readonly string[]> {
  const named = z.looseObject({
    plugins: z.array(z.string().min(1).max(limits.idUnitsMax)).max(limits.pluginsMax),
  });
  try {
    const found = named.safeParse(parseJson5(await readConfigText(path), path));
    return found.success ? found.data.plugins : [];
  } catch {
    // Whoever reads the whole file says what is wrong with it.
    return [];
  }
}

/**
 * Loads plugins; `baseDir` is where relative paths start.
 * @throws EarshotError EAR_PLUGIN naming the place in the config and the fix.
 */
export async function loadPlugins(
  names: readonly string[],
  baseDir: string,
): Promise<readonly Plugin[]> {
  const plugins: Plugin[] = [];
  for (const [index, name] of names.entries()) {
    const plugin = await load(name, baseDir, `plugins[${index}]`);
    if (plugins.some((other) => other.name === plugin.name))
      throw refused(name, `plugins[${index}]`, `another plugin is called "${plugin.name}", too`);
    plugins.push(plugin);
  }
  return plugins;
}

async function load(name: string, baseDir: string, place: string): Promise<Plugin> {
  const path = modulePath(name, baseDir);
  let exported: unknown;
  try {
    exported = await importDefault(name, baseDir);
  } catch (cause) {
    const fix =
      path === null
        ? `install it beside earshot (npm install ${name}), or name a path that begins with ./`
        : "mend the file, or take it out of the list";
    throw new EarshotError(
      "EAR_PLUGIN",
      `Cannot load ${place} (${path ?? name}) as ${importProblem(cause, path)}: ${fix}`,
      { cause },
    );
  }
  const checked = pluginSchema.safeParse(exported);
  if (checked.success) {
    const { name: own, commands } = checked.data;
    // Its name stands in front of its commands.
    if (commands === undefined || (own !== "skill" && commandWord.safeParse(own).success))
      return exported as Plugin;
    const why = `the name of one with commands is lower-case letters, digits, - _, and not "skill"`;
    throw refused(path ?? name, place, why);
  }
  const [issue] = checked.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  throw refused(path ?? name, place, `its default export is no plugin (${where}${issue?.message})`);
}

function refused(name: string, place: string, why: string): EarshotError {
  return new EarshotError(
    "EAR_PLUGIN",
    `Cannot use ${place} (${name}) as ${why}: export one made with definePlugin, or take it out of ` +
      "the list",
  );
}
