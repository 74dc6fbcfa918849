/**
 * What a schema expected at a place, in words that complete "expected …": zod's own messages name
 * types as a program does. A message that a schema gives itself stays as it is.
 */
import type { z } from "zod";

type Issue = z.core.$ZodIssue;

const types: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** `"a", "b" or "c"`. */
function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => JSON.stringify(value) ?? String(value));
  const last = shown.pop() ?? "";
  return shown.length === 0 ? last : `${shown.join(", ")} or ${last}`;
}

const units: Readonly<Record<string, string>> = { string: "character", array: "entry" };

/** "at most 5", "at least 1 character". */
function bound(word: string, size: number | bigint, origin: string): string {
  const unit = units[origin];
  if (unit === undefined) return `${word} ${size}`;
  const plural = unit === "entry" ? "entries" : `${unit}s`;
  return `${word} ${size} ${Number(size) === 1 ? unit : plural}`;
}

/** What would have been right, for `expected …`; null: the issue has a sentence of its own. */
function wanted(issue: Issue): string | null {
  switch (issue.code) {
    case "invalid_type":
      return types[issue.expected] ?? null;
    case "invalid_value":
      return oneOf(issue.values);
    case "too_big":
      return bound(
        issue.inclusive === false ? "less than" : "at most",
        issue.maximum,
        issue.origin,
      );
    case "too_small":
      return bound(
        issue.inclusive === false ? "more than" : "at least",
        issue.minimum,
        issue.origin,
      );
    case "invalid_format":
      return issue.format === "url" ? "a URL such as https://example.com" : null;
    default:
      return null;
  }
}

/** Messages that zod made, as against those of the schema. */
const made = /^(?:Invalid |Too (?:big|small): |Unrecognized )/u;

/** What was expected, as a part of a sentence: `expected "a" or "b"`. */
export function expectedOf(issue: Issue): string {
  if (issue.code === "invalid_union") {
    const parts = issue.errors.flatMap(([first]) =>
      first === undefined ? [] : [expectedOf(first as Issue).replace(/^expected /u, "")],
    );
    if (parts.length > 0) return `expected ${[...new Set(parts)].join(", or ")}`;
  }
  if (issue.code === "invalid_key" || issue.code === "invalid_element")
    return issue.issues.map((inner) => expectedOf(inner as Issue)).join(", ");
  if (!made.test(issue.message)) return issue.message;
  const kinds = /^Invalid discriminator value\. Expected (.*)$/u.exec(issue.message)?.[1];
  if (kinds !== undefined)
    return `expected ${oneOf([...kinds.matchAll(/'([^']*)'/gu)].map(([, kind]) => kind))}`;
  const want = wanted(issue);
  if (want !== null) return `expected ${want}`;
  return issue.message
    .replace(/^Invalid (input|option|string|key): ?/u, "")
    .replace(/, received .*$/u, "");
}
