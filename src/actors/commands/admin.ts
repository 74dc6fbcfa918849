/**
 * Administration
 * ==============
 * `/config set|unset|undo` edits the config file, `/debug` overrides it in memory, `/restart`. The
 * daemon refuses values that could hand over control (docs/reference/commands.md).
 */
import { EarshotError } from "../../domain/errors.ts";
import type {
  ConfigFileChange,
  ConfigLayers,
  DaemonControl,
  LayerName,
} from "../../domain/ports/index.ts";
import { cut, oneLine } from "../../domain/sanitize.ts";
import { configText } from "./config.ts";
import type { CommandAbout, CommandPorts } from "./ports.ts";

const valueUnitsMax = 200;
const reasonUnitsMax = 600;
const diffLinesMax = 20;
const diffUnitsMax = 1_200;
const elsewhere =
  "This earshot runs inside another program, so this command is not available in a room.";

/** A reason with its marks escaped: names such as `__proto__` are not markup. */
const reasonText = (reason: string): string =>
  cut(reason, reasonUnitsMax)
    .replaceAll("`", "'")
    .replace(/[\\*_~]/gu, "\\$&");

/** The author in the form stored with an override. */
export const speakerOf = ({ asked }: CommandAbout): string =>
  oneLine(`${asked.route.channel}:${asked.author}`, 256);

const code = (text: string, units = valueUnitsMax) =>
  `\`${oneLine(text, units).replaceAll("`", "'")}\``;

export async function configCommand(
  { configs, control }: CommandPorts,
  args: readonly string[],
  about: CommandAbout,
): Promise<string> {
  const [verb, path = "", ...words] = args;
  if (verb !== "set" && verb !== "unset" && verb !== "undo")
    return configText(configs.current(), verb, args[1]);
  if (control === null) return elsewhere;
  const { file } = control;
  const by = speakerOf(about);
  return orRefusal(async () => {
    if (verb === "set") {
      const change = await file.set(path, words.join(" "), by);
      const same = `${code(path)} already has this value in the config file.`;
      return changeText(
        change,
        `${code(path)} is now ${code(JSON.stringify(change.value))}.`,
        same,
      );
    }
    if (verb === "unset") {
      const change = await file.unset(path, by);
      if (change === null) return `The config file does not set ${code(path)}.`;
      return changeText(change, `${code(path)} is no longer set.`, "The override is removed.");
    }
    const undone = await file.undo();
    if (undone === null) return "There is nothing to undo, or the config file has changed since.";
    return `Undone: ${code(undone.what)}.`;
  });
}

/** What changed in the file, as a diff, and how to undo it. */
function changeText(
  { lines, copy, applied }: ConfigFileChange,
  done: string,
  same: string,
): string {
  if (lines.length === 0) return same;
  const shown = lines.slice(0, diffLinesMax);
  const rest = lines.length > shown.length ? `\n… and ${lines.length - shown.length} more` : "";
  const text = cut(shown.join("\n"), diffUnitsMax).replaceAll("`", "'");
  const kept = copy === null ? "" : ` The previous file is ${code(copy)}.`;
  const late = applied ? "" : " It is not in force yet: `earshot needs` says why.";
  return `${done}${late}\n\`\`\`diff\n${text}${rest}\n\`\`\`\n/config undo reverts this.${kept}`;
}

/** The result, or the reason why nothing was changed. */
async function orRefusal(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EarshotError) || error.disposition === "retry") throw error;
    return `Nothing was changed. ${reasonText(error.message)}`;
  }
}

export async function debugCommand(
  { control }: CommandPorts,
  args: readonly string[],
  about: CommandAbout,
): Promise<string> {
  const [verb = "show"] = args;
  if (control === null) return elsewhere;
  if (verb !== "show") return debug(control, args, about);
  const lines = (["set", "debug"] as const).flatMap((layer) =>
    overrideLines(control.layers, layer),
  );
  return lines.length === 0 ? "There are no overrides of the config file." : lines.join("\n");
}

function overrideLines(layers: ConfigLayers, layer: LayerName): string[] {
  const duration = layer === "set" ? "kept" : "until a restart";
  return layers
    .overrides(layer)
    .map(
      ({ path, value, by }) =>
        `${code(path)} is ${code(JSON.stringify(value))}: ${by}, ${duration}`,
    );
}

async function debug(
  { layers }: DaemonControl,
  [verb, path, ...words]: readonly string[],
  about: CommandAbout,
): Promise<string> {
  return orRefusal(async () => {
    if (verb === "set") {
      const { value, ...set } = await layers.set(
        "debug",
        path ?? "",
        words.join(" "),
        speakerOf(about),
      );
      return `${code(set.path)} is now ${code(JSON.stringify(value))} until a restart.`;
    }
    const gone = await layers.unset("debug", verb === "reset" ? undefined : path);
    if (gone.length === 0) return "There is no such override.";
    return `Override removed: ${gone.map((path) => code(path)).join(", ")}.`;
  });
}

export async function restartText({ control, configs }: CommandPorts): Promise<string> {
  if (control?.restart == null) return elsewhere;
  const problem = await control.restart.problem();
  if (problem !== null) return `Not now: ${reasonText(problem)}`;
  const { driver } = configs.current().store;
  const lost =
    driver === "memory" ? " This store is in memory only: all sessions start fresh." : "";
  return `Restarting after the current work finishes.${lost}`;
}
