/** Settings that tuning found, in a config and in the text of its file. */
import JSON5 from "json5";
import { type EarshotConfig, isPlain, scenarioConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Edit } from "../../domain/quality/tuning-space.ts";
import { withValue } from "../config-edit/json5-text.ts";

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

/** The same value with keys in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
