/**
 * Secrets are recognised by the name of their field, so third-party drivers and channels are
 * covered as well: any string under `channels`, `agents`, `media`, `engagement` or `conversations` whose field name ends in one of
 * the words below, ignoring case, dashes and underscores. Only such a field may be `${NAME}`, and
 * its value is never printed, journalled or sent to a thread that does not need it.
 */
import { redacted } from "../../redact-secrets.ts";
import { isPlain } from "./overlay.ts";

const secretSuffixes = [
  "token",
  "secret",
  "password",
  "passphrase",
  "apikey",
  "privatekey",
  "accesskey",
];
const secretSections: ReadonlySet<string> = new Set([
  ...["channels", "agents", "media", "engagement", "conversations"],
]);

/** Whether the field at this path holds a secret. The silent token is not a secret. */
export function isSecretPath(path: readonly PropertyKey[]): boolean {
  if (path.length < 2 || !secretSections.has(String(path[0]))) return false;
  return path.at(-2) !== "silent" && isSecretName(String(path.at(-1)));
}

/** Whether a field of this name may hold a secret. */
export function isSecretName(field: string): boolean {
  const name = field.toLowerCase().replaceAll(/[_-]/gu, "");
  return secretSuffixes.some((word) => name.endsWith(word));
}

/** A copy with `change` applied to every string and its path. Errors of `change` are thrown. */
export function mapTexts(
  value: unknown,
  change: (text: string, path: readonly PropertyKey[]) => unknown,
  path: readonly PropertyKey[] = [],
): unknown {
  if (typeof value === "string") return change(value, path);
  if (Array.isArray(value))
    return value.map((item, index) => mapTexts(item, change, [...path, index]));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, change, [...path, key])]),
  );
}

/** A copy without secrets, for journals, pages and hosts. */
export function withoutSecrets<Config>(config: Config): Config {
  return mapTexts(config, (text, path) => (isSecretPath(path) ? redacted : text)) as Config;
}

/** All secret values, longest first, for sinks that redact them. */
export function secretValues(config: unknown): string[] {
  const found = new Set<string>();
  mapTexts(config, (text, path) => {
    if (isSecretPath(path) && text.length >= 6 && text !== redacted) found.add(text);
    return text;
  });
  return [...found].sort((a, b) => b.length - a.length);
}
