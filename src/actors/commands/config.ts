/**
 * Showing the config
 * ==================
 * `/config` for owners. Secrets are removed before the lookup, and only a config's own fields are
 * followed.
 */
import {
  type EarshotConfig,
  isPlain,
  ownValue,
  withoutSecrets,
} from "../../domain/config/index.ts";
import { cut } from "../../domain/sanitize.ts";

const shownUnitsMax = 3_000;

/** `show`: the list of sections, or one of them; `get`: the value at a path. */
export function configText(
  config: EarshotConfig,
  verb: string | undefined,
  path: string | undefined,
): string {
  const plain = withoutSecrets(config);
  if (path === undefined)
    return `Sections: ${Object.keys(plain).join(", ")}. One of them: /config ${verb} engagement`;
  const value = path.split(".").reduce<unknown>(below, plain);
  if (value === undefined) return "The config has no such key.";
  const text = JSON.stringify(value, null, 2);
  const shown = cut(text, shownUnitsMax);
  const rest = shown.length < text.length ? "\n…" : "";
  return `\`\`\`json\n${shown.replaceAll("`", "'")}${rest}\n\`\`\``;
}

function below(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^\d{1,4}$/.test(name) ? value[Number(name)] : undefined;
  return isPlain(value) ? ownValue(value, name) : undefined;
}
