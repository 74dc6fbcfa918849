/**
 * Merges one value over another: objects field by field, everything else (lists too) as a whole.
 * Only own keys are read, and names that reach an object's prototype are refused first, so a config
 * cannot pollute prototypes.
 */

/** Deeper nesting is refused; the schema needs less, and recursion must end. */
const depthMax = 40;
const forbidden: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

type Plain = Readonly<Record<string, unknown>>;

/** Whether a value is a plain object: not a list, not null. */
export function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A config path as people write it: `agents.list[0].name`. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$]*$/u.test(String(step)))
      text += text === "" ? String(step) : `.${String(step)}`;
    else text += `[${JSON.stringify(String(step))}]`;
  }
  return text;
}

/** The path of the first forbidden key, or null. */
export function unsafePath(
  value: unknown,
  path: readonly (string | number)[] = [],
): readonly (string | number)[] | null {
  if (typeof value !== "object" || value === null) return null;
  if (path.length > depthMax) return path;
  for (const key of Object.keys(value)) {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    if (forbidden.has(key)) return here;
    const below = unsafePath((value as Record<string, unknown>)[key], here);
    if (below !== null) return below;
  }
  return null;
}

/** Merges `over` into a copy of `base`. Undefined fields of `over` are ignored. */
export function overlay<Base>(base: Base, over: unknown): Base {
  if (over === undefined) return base;
  if (!isPlain(base) || !isPlain(over)) return over as Base;
  const result: Record<string, unknown> = { ...base };
  for (const key of Object.keys(over)) {
    if (forbidden.has(key)) continue;
    const below = Object.hasOwn(result, key) ? result[key] : undefined;
    result[key] = overlay<unknown>(below, over[key]);
  }
  return result as Base;
}
