/**
 * Config differences and origins
 * ==============================
 * Both visit the leaves of parsed configs. Secret values never appear in a result.
 */

import { redacted } from "../../redact-secrets.ts";
import type { EarshotConfig } from "../daemon/schema.ts";
import { isPlain, pathText } from "./overlay.ts";
import { isSecretPath } from "./secrets.ts";

type Path = readonly PropertyKey[];

function* leaves(value: unknown, path: Path = []): Iterable<readonly [Path, unknown]> {
  const entries = Array.isArray(value)
    ? value.map((item, index) => [index, item] as const)
    : isPlain(value)
      ? Object.entries(value)
      : [];
  if (entries.length === 0) yield [path, value];
  for (const [key, item] of entries) yield* leaves(item, [...path, key]);
}

/** The distinct paths at which two configs differ, in order. */
export function changedPaths(before: EarshotConfig, after: EarshotConfig): string[] {
  const old = new Map([...leaves(before)].map(([path, value]) => [pathText(path), value]));
  const changed = new Set<string>();
  for (const [path, value] of leaves(after)) {
    const name = pathText(path);
    if (!old.has(name) || JSON.stringify(old.get(name)) !== JSON.stringify(value))
      changed.add(name);
    old.delete(name);
  }
  for (const name of old.keys()) changed.add(name);
  return [...changed];
}

export type ValueOrigin = "default" | "file" | "env" | "flag";
export interface ConfigValue {
  readonly path: string;
  readonly value: unknown;
  readonly origin: ValueOrigin;
  /** In the file, also where a flag or an override hides it. */
  readonly line?: number;
}

function rawAt(raw: unknown, path: Path): unknown {
  let value = raw;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) {
      // A string is short for an object with that `kind`.
      return step === "kind" && typeof value === "string" ? value : undefined;
    }
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}

/**
 * Every value of a config with its origin. `raw` is the file as read; `flags` override everything.
 */
export function configValues(
  config: EarshotConfig,
  raw: unknown,
  flags: Readonly<Record<string, unknown>> = {},
  lineOf: (path: readonly PropertyKey[]) => number | null = () => null,
): ConfigValue[] {
  return [...leaves(config)].map(([path, value]) => {
    const name = pathText(path);
    const written = rawAt(raw, path);
    const line = written === undefined ? null : lineOf(path);
    const place = { path: name, ...(line !== null && { line }) };
    if (Object.hasOwn(flags, name)) return { ...place, value: flags[name], origin: "flag" };
    const secret = isSecretPath(path) && typeof value === "string";
    const fromEnv = secret && typeof written === "string" && written.startsWith("${");
    return {
      ...place,
      value: secret ? (fromEnv ? written : redacted) : value,
      origin: fromEnv ? "env" : written === undefined ? "default" : "file",
    };
  });
}
