/**
 * Known keys
 * ==========
 * Walks a zod schema by a config path and tells which keys may stand there: for error messages, for
 * the origin of values, for completion.
 */
import type { z } from "zod";

type Schema = z.core.$ZodType;

/** The schema under defaults, options and transforms. */
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
  return bare(schema).flatMap((one) => {
    const { def } = (one as z.core.$ZodTypes)._zod;
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

/** The keys an object at `path` may have; none where the schema takes any key or no object. */
export function knownKeys(schema: Schema, path: readonly PropertyKey[]): string[] {
  let here = [schema];
  for (const name of path) here = here.flatMap((one) => step(one, name));
  return here.flatMap(bare).flatMap((one) => {
    const { def } = (one as z.core.$ZodTypes)._zod;
    return def.type === "object" ? Object.keys(def.shape) : [];
  });
}
