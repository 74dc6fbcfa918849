/**
 * Lenses
 * ======
 * What of a value an inspector is shown: nothing, unless a lens names it. A field that somebody adds
 * tomorrow stays unseen until somebody decides about it, which is the safe way round. Lists, maps and
 * strings are cut, so what comes out is small whatever goes in.
 */
import { cut } from "../../domain/sanitize.ts";

/**
 * `plain`: numbers, yes and no, and short strings of closed sets and ids. `words`: what a person or
 * an agent said or chose; its length, unless the words are asked for.
 */
export type Projection =
  | "plain"
  | "words"
  | { readonly list: Projection }
  | { readonly map: Projection }
  | { readonly fields: Readonly<Record<string, Projection>> };

/** A lens for each field of `Value` that is shown. */
export type Projected<Value> = Readonly<Partial<Record<keyof Value & string, Projection>>>;

const plainUnitsMax = 256;
const wordsUnitsMax = 2_000;
const listMax = 32;

/** The part of a value that a lens lets through; undefined: nothing. */
export function through(lens: Projection, value: unknown, words: boolean): unknown {
  if (value === null || value === undefined) return value;
  if (lens === "plain") return plain(value);
  if (lens === "words") return spoken(value, words);
  if ("list" in lens) return Array.isArray(value) ? listed(lens.list, value, words) : undefined;
  if (typeof value !== "object") return undefined;
  if ("map" in lens) return mapped(lens.map, value, words);
  return fieldsOf(lens.fields, value, words);
}

/** The fields of a value that have a lens. */
export function fieldsOf(
  fields: Readonly<Record<string, Projection>>,
  value: object,
  words: boolean,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const seen = through(
      fields[name] as Projection,
      (value as Record<string, unknown>)[name],
      words,
    );
    if (seen !== undefined) shown[name] = seen;
  }
  return shown;
}

function plain(value: unknown): unknown {
  if (typeof value === "string") return cut(value, plainUnitsMax);
  return typeof value === "number" || typeof value === "boolean" ? value : undefined;
}

function spoken(value: unknown, words: boolean): unknown {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return words ? cut(text, wordsUnitsMax) : `(${text.length} characters, not shown)`;
}

function listed(lens: Projection, values: readonly unknown[], words: boolean): unknown[] {
  const shown = values.slice(0, listMax).map((one) => through(lens, one, words) ?? null);
  const more = values.length - shown.length;
  return more === 0 ? shown : [...shown, `and ${more} more`];
}

function mapped(lens: Projection, value: object, words: boolean): Record<string, unknown> {
  const entries = Object.entries(value);
  const shown = entries.slice(0, listMax).map(([name, one]) => {
    return [cut(name, plainUnitsMax), through(lens, one, words) ?? null] as const;
  });
  const more = entries.length - shown.length;
  return Object.fromEntries(more === 0 ? shown : [...shown, ["…", `and ${more} more`]]);
}
