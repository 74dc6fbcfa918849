/**
 * Administration
 * ==============
 * `/config set|unset`, `/debug` and `/restart`. A value set here overrides the config file, which
 * is never written; the daemon refuses values that could hand over control
 * (docs/reference/commands.md).
 */
import { EarshotError } from "../../domain/errors.ts";
import type { ConfigLayers, DaemonControl, LayerName } from "../../domain/ports/index.ts";
import { cut, oneLine } from "../../domain/sanitize.ts";
import { configText } from "./config.ts";
import type { CommandAbout, CommandPorts } from "./ports.ts";

const valueUnitsMax = 200;
const reasonUnitsMax = 600;
const elsewhere = "This earshot runs inside another program: that cannot be done from a room.";

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
  const [verb, path] = args;
  if (verb !== "set" && verb !== "unset") return configText(configs.current(), verb, path);
  return change(control, "set", args, about);
}

export async function debugCommand(
  { control }: CommandPorts,
  args: readonly string[],
  about: CommandAbout,
): Promise<string> {
  const [verb = "show"] = args;
  if (control === null) return elsewhere;
  if (verb !== "show") return change(control, "debug", args, about);
  const lines = (["set", "debug"] as const).flatMap((layer) =>
    overrideLines(control.layers, layer),
  );
  return lines.length === 0 ? "Nothing was said over the config file." : lines.join("\n");
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

async function change(
  control: DaemonControl | null,
  layer: LayerName,
  [verb, path, ...words]: readonly string[],
  about: CommandAbout,
): Promise<string> {
  if (control === null) return elsewhere;
  const { layers } = control;
  try {
    if (verb === "set") {
      const override = await layers.set(layer, path ?? "", words.join(" "), speakerOf(about));
      const duration = layer === "set" ? "It is kept, over the config file." : "Until a restart.";
      return `${code(override.path)} is now ${code(JSON.stringify(override.value))}. ${duration}`;
    }
    const gone = await layers.unset(layer, verb === "reset" ? undefined : path);
    if (gone.length === 0) return "Nothing of that was said in a room.";
    return `${gone.map((path) => code(path)).join(", ")}: as the config says again.`;
  } catch (error) {
    if (!(error instanceof EarshotError) || error.disposition === "retry") throw error;
    return `Nothing was changed. ${reasonText(error.message)}`;
  }
}

export async function restartText({ control, configs }: CommandPorts): Promise<string> {
  if (control?.restart == null) return elsewhere;
  const problem = await control.restart.problem();
  if (problem !== null) return `Not now: ${reasonText(problem)}`;
  const { driver } = configs.current().store;
  const lost = driver === "memory" ? " This store keeps nothing: sessions begin anew." : "";
  return `Restarting once what is under way has ended.${lost}`;
}
