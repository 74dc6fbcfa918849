/**
 * The part of a value that an inspector sees: nothing, unless a projection names it. A field that
 * is added later stays hidden until a projection includes it, which is the safe default. Lists,
 * maps and strings are cut, so the result is small for any input.
 */
import { cut } from "../../domain/sanitize.ts";

/**
 * `plain`: numbers, booleans, and short strings of closed sets and ids. `text`: what a person or an
 * agent wrote or chose; only its length, unless the reader may see text.
 */
export type Projection =
  | "plain"
  | "text"
  | { readonly list: Projection }
  | { readonly map: Projection }
  | { readonly fields: Readonly<Record<string, Projection>> };

/** A projection for each visible field of `Value`. */
export type Projected<Value> = Readonly<Partial<Record<keyof Value & string, Projection>>>;

const plainUnitsMax = 256;
const textUnitsMax = 2_000;
const listMax = 32;

/** The visible part of a value; undefined: nothing. */
export function project(projection: Projection, value: unknown, withText: boolean): unknown {
  if (value === null || value === undefined) return value;
  if (projection === "plain") return plain(value);
  if (projection === "text") return shownText(value, withText);
  if ("list" in projection)
    return Array.isArray(value) ? listed(projection.list, value, withText) : undefined;
  if (typeof value !== "object") return typeof value === "boolean" ? value : undefined;
  if ("map" in projection) return mapped(projection.map, value, withText);
  return fieldsOf(projection.fields, value, withText);
}

export function fieldsOf(
  fields: Readonly<Record<string, Projection>>,
  value: object,
  withText: boolean,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const seen = project(
      fields[name] as Projection,
      (value as Record<string, unknown>)[name],
      withText,
    );
    if (seen !== undefined) shown[name] = seen;
  }
  return shown;
}

function plain(value: unknown): unknown {
  if (typeof value === "string") return cut(value, plainUnitsMax);
  return typeof value === "number" || typeof value === "boolean" ? value : undefined;
}

function shownText(value: unknown, withText: boolean): unknown {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return withText ? cut(text, textUnitsMax) : `(${text.length} characters, not shown)`;
}

function listed(projection: Projection, values: readonly unknown[], withText: boolean): unknown[] {
  const shown = values
    .slice(0, listMax)
    .map((value) => project(projection, value, withText) ?? null);
  const more = values.length - shown.length;
  return more === 0 ? shown : [...shown, `and ${more} more`];
}

function mapped(projection: Projection, value: object, withText: boolean): Record<string, unknown> {
  const entries = Object.entries(value);
  const shown = entries.slice(0, listMax).map(([name, value]) => {
    return [cut(name, plainUnitsMax), project(projection, value, withText) ?? null] as const;
  });
  const more = entries.length - shown.length;
  return Object.fromEntries(more === 0 ? shown : [...shown, ["…", `and ${more} more`]]);
}
