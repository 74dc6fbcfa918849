/** Changes values in the text of a config; comments and layout stay. */
import JSON5 from "json5";
import { defaultConfig, isPlain, overlay } from "../../domain/config/index.ts";
import { gap, type Place, placesIn } from "./json5-places.ts";

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

/**
 * The text without one value; comments stay, also those beside it. The same text if there is no such
 * value.
 */
export function withoutValue(text: string, path: ConfigPath): string {
  let place: Place = placesIn(text);
  for (const step of path) {
    const below = place.below?.get(step);
    if (below === undefined) return text;
    place = below;
  }
  if (path.length === 0) return text;
  const comma = commaBehind(text, place.end);
  const kept = comma === null ? "" : text.slice(place.end, comma);
  const before = text.slice(0, place.from);
  const after = kept.trim() === "" ? "" : kept;
  const rest = text.slice(comma === null ? place.end : comma + 1);
  const [, blank] = /^([^\S\n]*\n)/u.exec(rest) ?? [];
  const line = /(?:^|\n)([^\S\n]*)$/u.exec(before);
  // Alone on its line: the line goes.
  if (after === "" && line !== null && blank !== undefined)
    return before.slice(0, before.length - (line[1]?.length ?? 0)) + rest.slice(blank.length);
  if (comma !== null) return before + after + rest.replace(/^[^\S\n]+/u, "");
  // The last one: what is before it keeps no comma for nothing.
  return before.replace(/,[^\S\n]*$/u, "") + after + rest;
}

/** The comma that ends a member; null: it is the last one. */
function commaBehind(text: string, end: number): number | null {
  gap.lastIndex = end;
  const [found = ""] = gap.exec(text) ?? [];
  const at = end + found.length;
  return text[at] === "," ? at : null;
}

/** The text with one more item at the end of a list. */
export function withItem(text: string, path: ConfigPath, after: unknown): string {
  let place: Place = placesIn(text);
  for (const step of path) {
    const below = place.below?.get(step);
    if (below === undefined) return withValue(text, path, [after]);
    place = below;
  }
  const last = [...(place.below?.values() ?? [])].at(-1);
  if (last === undefined) return withValue(text, path, [after]);
  const [, indent] = /\n([^\S\n]*)$/u.exec(text.slice(0, last.from)) ?? [];
  const item = indent === undefined ? ` ${textOf(after)}` : `\n${indent}${textOf(after)}`;
  return `${text.slice(0, last.end)},${item}${text.slice(last.end)}`;
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
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(", ")}]`;
  if (!isPlain(value)) return JSON5.stringify(value, { quote: '"' });
  if (Object.keys(value).length === 0) return "{}";
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${keyOf(key)}: ${textOf(one)}`)
    .join(", ")} }`;
}

/** In quotes where it has to be. */
export const keyOf = (key: string) => (/^[A-Za-z_$][\w$]*$/u.test(key) ? key : JSON.stringify(key));
