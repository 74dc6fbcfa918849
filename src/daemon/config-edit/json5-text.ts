/** Changes values in the text of a config; comments and layout stay. */
import JSON5 from "json5";
import { defaultConfig, isPlain, overlay } from "../../domain/config/index.ts";
import { type Place, placesIn } from "./json5-places.ts";

type ConfigPath = readonly (string | number)[];

/** The text with one value changed or added; all else stays as it is. */
export function withValue(text: string, path: ConfigPath, after: unknown): string {
  let place: Place = placesIn(text);
  for (const [depth, step] of path.entries()) {
    const below = place.below?.get(step);
    if (below === undefined) return withMember(text, place, path.slice(depth), after);
    place = below;
  }
  return text.slice(0, place.start) + textOf(after) + text.slice(place.end);
}

/** The first member of an object that lacks it, on a line of its own if the others are. */
function withMember(text: string, { start, end, below }: Place, path: ConfigPath, after: unknown) {
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
function nested([step, ...rest]: ConfigPath, after: unknown): unknown {
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
