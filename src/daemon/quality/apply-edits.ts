/** Settings that tuning found, in a config and in the text of its file. */
import JSON5 from "json5";
import {
  defaultConfig,
  type EarshotConfig,
  isPlain,
  overlay,
  scenarioConfig,
} from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Edit } from "../../domain/quality/tuning-space.ts";
import { type Place, placesIn } from "./json5-places.ts";

type Path = Edit["path"];

/** The config with other settings. */
export function configWith(config: EarshotConfig, edits: readonly Edit[]): EarshotConfig {
  return edits.reduce(
    (changed, { path, after }) => valueWith(changed, path, after) as EarshotConfig,
    config,
  );
}

function valueWith(value: unknown, [step, ...rest]: Path, after: unknown): unknown {
  if (step === undefined) return after;
  if (typeof step === "number" && Array.isArray(value))
    return value.map((item, index) => (index === step ? valueWith(item, rest, after) : item));
  const fields = isPlain(value) ? value : {};
  return { ...fields, [step]: valueWith(fields[step], rest, after) };
}

/**
 * The text of a config file with other settings; comments and layout stay.
 * @throws EarshotError EAR_CONFIG_SYNTAX when it would not say what is meant.
 */
export function textWith(text: string, edits: readonly Edit[]): string {
  const changed = edits.reduce((before, { path, after }) => withValue(before, path, after), text);
  const wanted = configWith(scenarioConfig({}, JSON5.parse(text)), edits);
  const written = scenarioConfig({}, JSON5.parse(changed));
  if (JSON.stringify(sorted(wanted)) !== JSON.stringify(sorted(written)))
    throw new EarshotError(
      "EAR_CONFIG_SYNTAX",
      "Cannot change the config file: its form is not understood. Set the keys by hand",
    );
  return changed;
}

/** The text with one value changed or added; all else stays as it is. */
export function withValue(text: string, path: Path, after: unknown): string {
  let place: Place = placesIn(text);
  for (const [depth, step] of path.entries()) {
    const below = place.below?.get(step);
    if (below === undefined) return withMember(text, place, path.slice(depth), after);
    place = below;
  }
  return text.slice(0, place.start) + textOf(after) + text.slice(place.end);
}

/** The first member of an object that lacks it, on a line of its own if the others are. */
function withMember(text: string, { start, end, below }: Place, path: Path, after: unknown) {
  const [step, ...rest] = path;
  const value = textOf(nested(rest, after));
  const member = typeof step === "number" ? value : `${keyOf(step ?? "")}: ${value}`;
  const inside = text.slice(start + 1, end - 1);
  const [, indent] = /^[^\S\n]*\n([^\S\n]*)(?=\S)/u.exec(inside) ?? [];
  const isEmpty = below === null || below.size === 0;
  const added =
    indent === undefined || isEmpty ? ` ${member}${isEmpty ? " " : ","}` : `\n${indent}${member},`;
  return text.slice(0, start + 1) + added + text.slice(start + 1);
}

/** What is not there yet; an agent is the one that answers without a list. */
function nested([step, ...rest]: Path, after: unknown): unknown {
  if (step === undefined) return after;
  const value = nested(rest, after);
  if (typeof step !== "number") return { [step]: value };
  return [overlay<unknown>(defaultConfig.agents.list[0], value)];
}

/** A value on one line, as people write it. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(", ")}]`;
  if (!isPlain(value)) return JSON5.stringify(value, { quote: '"' });
  if (Object.keys(value).length === 0) return "{}";
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${keyOf(key)}: ${textOf(one)}`)
    .join(", ")} }`;
}

/** In quotes where it has to be. */
const keyOf = (key: string) => (/^[A-Za-z_$][\w$]*$/u.test(key) ? key : JSON.stringify(key));

/** The same value with keys in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
