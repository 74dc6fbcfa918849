/**
 * The house in a room
 * ===================
 * What `/config set|unset`, `/debug` and `/restart` do. A value said here lies over the config
 * file, which is never written; the daemon refuses what could hand the house over
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

/** A reason as it is: names such as `__proto__` are no marks in it. */
const reasonText = (reason: string): string =>
  cut(reason, reasonUnitsMax)
    .replaceAll("`", "'")
    .replace(/[\\*_~]/gu, "\\$&");

/** Who says it, as origins name him. */
export const speakerOf = ({ asked }: CommandAbout): string =>
  oneLine(`${asked.route.channel}:${asked.author}`, 256);

const code = (text: string, units = valueUnitsMax) =>
  `\`${oneLine(text, units).replaceAll("`", "'")}\``;

/** `/config`. */
export async function configCommand(
  { configs, control: house }: CommandPorts,
  args: readonly string[],
  about: CommandAbout,
): Promise<string> {
  const [verb, path] = args;
  if (verb !== "set" && verb !== "unset") return configText(configs.current(), verb, path);
  return change(house, "set", args, about);
}

/** `/debug`. */
export async function debugCommand(
  { control: house }: CommandPorts,
  args: readonly string[],
  about: CommandAbout,
): Promise<string> {
  const [verb = "show"] = args;
  if (house === null) return elsewhere;
  if (verb !== "show") return change(house, "debug", args, about);
  const said = (["set", "debug"] as const).flatMap((layer) => overrideLines(house.layers, layer));
  return said.length === 0 ? "Nothing was said over the config file." : said.join("\n");
}

function overrideLines(layers: ConfigLayers, layer: LayerName): string[] {
  const kept = layer === "set" ? "kept" : "until a restart";
  return layers
    .overrides(layer)
    .map(
      ({ path, value, by }) => `${code(path)} is ${code(JSON.stringify(value))}: ${by}, ${kept}`,
    );
}

async function change(
  house: DaemonControl | null,
  layer: LayerName,
  [verb, path, ...words]: readonly string[],
  about: CommandAbout,
): Promise<string> {
  if (house === null) return elsewhere;
  const { layers } = house;
  try {
    if (verb === "set") {
      const said = await layers.set(layer, path ?? "", words.join(" "), speakerOf(about));
      const kept = layer === "set" ? "It is kept, over the config file." : "Until a restart.";
      return `${code(said.path)} is now ${code(JSON.stringify(said.value))}. ${kept}`;
    }
    const gone = await layers.unset(layer, verb === "reset" ? undefined : path);
    if (gone.length === 0) return "Nothing of that was said in a room.";
    return `${gone.map((path) => code(path)).join(", ")}: as the config says again.`;
  } catch (error) {
    if (!(error instanceof EarshotError) || error.disposition === "retry") throw error;
    return `Nothing was changed. ${reasonText(error.message)}`;
  }
}

/** `/restart`. */
export async function restartText({ control: house, configs }: CommandPorts): Promise<string> {
  if (house?.restart == null) return elsewhere;
  const problem = await house.restart.problem();
  if (problem !== null) return `Not now: ${reasonText(problem)}`;
  const { driver } = configs.current().store;
  const lost = driver === "memory" ? " This store keeps nothing: sessions begin anew." : "";
  return `Restarting once what is under way has ended.${lost}`;
}
