/**
 * A problem names the place, what was expected there and, where possible, the fix: the nearest
 * known key, or the section a key belongs to. Secret values are never repeated.
 */
import type { z } from "zod";
import { EarshotError, type ErrorCode } from "../../errors.ts";
import { redacted } from "../../redact-secrets.ts";
import { expectedOf } from "./expected.ts";
import { nearest } from "./nearest.ts";
import { isPlain, pathText } from "./overlay.ts";
import { knownKeys } from "./schema-keys.ts";
import { isSecretName, isSecretPath, mapTexts } from "./secrets.ts";

export interface ConfigProblem {
  readonly code: ErrorCode;
  readonly path: readonly PropertyKey[];
  /** One line: the place, what was expected, the fix. */
  readonly message: string;
}

/** A value that is no good at its place, and why. */
export const wrong = (path: readonly PropertyKey[], reason: string): ConfigProblem => ({
  code: "EAR_CONFIG_INVALID",
  path,
  message: `${pathText(path)} is invalid: ${reason}`,
});

/**
 * How problems are written: `Cannot read <file>, line 12: <problem>`; several are listed below
 * `Cannot read <file>: 3 problems`, each with its line.
 */
export interface ProblemStyle {
  readonly cannot: string;
  /** Where a path is: `line 12`. */
  readonly locate?: ((path: readonly PropertyKey[]) => string) | undefined;
}

const problemsShownMax = 20;

/** A config that cannot be used, with one problem per line and the first problem's code. */
export class ConfigError extends EarshotError {
  public readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[], style: ProblemStyle, cause?: unknown) {
    super(problems[0]?.code ?? "EAR_CONFIG_INVALID", textOf(problems, style), { cause });
    this.problems = problems;
  }
}

function textOf(problems: readonly ConfigProblem[], { cannot, locate }: ProblemStyle): string {
  const [first] = problems;
  if (problems.length === 1 && first !== undefined) {
    const at = locate === undefined ? "" : `, ${locate(first.path)}`;
    return `Cannot ${cannot}${at}: ${first.message}`;
  }
  const lines = problems
    .slice(0, problemsShownMax)
    .map(({ message, path }) => `  ${locate === undefined ? "" : `${locate(path)}: `}${message}`);
  const more = problems.length - problemsShownMax;
  const rest = more > 0 ? [`  and ${more} more`] : [];
  return [`Cannot ${cannot}: ${problems.length} problems`, ...lines, ...rest].join("\n");
}

type Issue = z.core.$ZodIssue;
const shownUnitsMax = 60;

/** A value for a message: one line, short, printable. */
function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  const plain = json.replace(/[^\x20-\x7e]/gu, "?");
  return plain.length > shownUnitsMax ? `${plain.slice(0, shownUnitsMax)}…` : plain;
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = raw;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}

/** How well a union branch fits: the deeper its first issue, the more of it matched. */
function depthOf(branch: readonly Issue[]): number {
  const depths = branch.map((issue) =>
    issue.code === "unrecognized_keys" ? issue.path.length + 1 : issue.path.length,
  );
  return Math.max(0, ...depths);
}

/** The issues of the union branch that fits best; the issue itself if none does. */
function closest(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const branches = issue.errors as readonly (readonly Issue[])[];
  const nearest = branches.toSorted((a, b) => depthOf(b) - depthOf(a))[0];
  if (nearest === undefined || depthOf(nearest) === 0) return [issue];
  return nearest.flatMap((inner) =>
    closest({ ...inner, path: [...issue.path, ...inner.path] } as Issue),
  );
}

/** The section where an unknown key belongs, if exactly one knows it. */
function homeOf(schema: z.core.$ZodType, key: string): string | null {
  const homes = knownKeys(schema, []).filter((name) => knownKeys(schema, [name]).includes(key));
  return homes.length === 1 ? `${homes[0]}.${key}` : null;
}

function unknownKey(
  schema: z.core.$ZodType,
  base: readonly PropertyKey[],
  path: readonly PropertyKey[],
  key: string,
): ConfigProblem {
  const known = knownKeys(schema, path);
  const similar = nearest(key, known);
  const place = [...base, ...path];
  const home = place.length === 0 ? homeOf(schema, key) : null;
  const fix =
    similar !== null
      ? `. Did you mean "${similar}"?`
      : home !== null
        ? `. Did you mean "${home}"?`
        : known.length > 0
          ? `. Known: ${known.slice(0, 40).join(", ")}`
          : "";
  const what =
    place.length === 0
      ? `unknown section ${shown(key)}`
      : `unknown key ${shown(key)} in ${pathText(place)}`;
  return {
    code: "EAR_CONFIG_UNKNOWN_KEY",
    path: [...place, key],
    message: `${what}${fix}`,
  };
}

/** What was found at a path, without what is or may be a secret. */
function receivedAt(path: readonly PropertyKey[], value: unknown, issue: Issue): string {
  if (isSecretPath(path)) return "a secret";
  if (isPlain(value) && Object.keys(value).length > 3) return "an object";
  const wantsParts = issue.code === "invalid_type" && /object|record|array/u.test(issue.expected);
  // It is likely to be a token whose field was forgotten.
  if (typeof value === "string" && wantsParts) return "a text";
  return shown(mapTexts(value, (text, at) => (hasSecretName(at) ? redacted : text)));
}

/** Whether a field is named as secrets are, in whichever section it was put. */
const hasSecretName = (path: readonly PropertyKey[]): boolean =>
  path.some((step) => typeof step === "string" && isSecretName(step));

/** Converts zod's issues about `raw` to problems. `schema` is the schema used, at path `base`. */
export function problemsOf(
  error: z.core.$ZodError,
  raw: unknown,
  schema: z.core.$ZodType,
  base: readonly PropertyKey[] = [],
): ConfigProblem[] {
  return error.issues.flatMap(closest).flatMap((issue) => {
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => unknownKey(schema, base, issue.path, key));
    const path = [...base, ...issue.path];
    const value = valueAt(raw, issue.path);
    const place = pathText(path) || "the config";
    // A refinement finds a value that it wants missing as well; its message says what it wants.
    if (value === undefined)
      return [
        {
          code: "EAR_CONFIG_INVALID" as const,
          path,
          message: `${place} is missing: ${expectedOf(issue)}`,
        },
      ];
    const received = receivedAt(path, value, issue);
    const wantsText = issue.code === "invalid_type" && issue.expected === "string";
    const fix = wantsText && typeof value === "number" ? ". Put it in quotes" : "";
    return [
      {
        code: "EAR_CONFIG_INVALID" as const,
        path,
        message: `${place} is invalid: ${expectedOf(issue)}, received ${received}${fix}`,
      },
    ];
  });
}
