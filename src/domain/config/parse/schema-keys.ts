/**
 * Known keys
 * ==========
 * Finds the keys that a zod schema allows at a config path: for error messages, the origin of
 * values and completion.
 */
import type { z } from "zod";

type Schema = z.core.$ZodType;

/** Unwraps defaults, optionals and transforms; one schema per branch of a union. */
function bare(schema: Schema): Schema[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "default":
    case "prefault":
    case "optional":
    case "nullable":
    case "readonly":
    case "catch":
    case "nonoptional":
      return bare(def.innerType);
    case "pipe":
      return bare(def.in);
    case "lazy":
      return bare(def.getter());
    case "union":
      return def.options.flatMap(bare);
    default:
      return [schema];
  }
}

function step(schema: Schema, name: PropertyKey): Schema[] {
  return bare(schema).flatMap((branch) => {
    const { def } = (branch as z.core.$ZodTypes)._zod;
    if (def.type === "object") {
      const shape = def.shape as Record<string, Schema>;
      if (Object.hasOwn(shape, name)) return [shape[String(name)] as Schema];
      return def.catchall === undefined ? [] : [def.catchall];
    }
    if (def.type === "record") return [def.valueType];
    if (def.type === "array") return [def.element];
    return [];
  });
}

/** The keys an object at `path` may have; none where any key is allowed or no object is. */
export function knownKeys(schema: Schema, path: readonly PropertyKey[]): string[] {
  let here = [schema];
  for (const name of path) here = here.flatMap((branch) => step(branch, name));
  return here.flatMap(bare).flatMap((branch) => {
    const { def } = (branch as z.core.$ZodTypes)._zod;
    return def.type === "object" ? Object.keys(def.shape) : [];
  });
}
