/**
 * What the answers change in the config file
 * ==========================================
 * Only the values that were answered are written; comments, layout and everything else stay. The
 * result is the same whatever the page shows, so the diff that was shown is what is written.
 */
import { createHash } from "node:crypto";
import { structuredPatch } from "diff";
import { parseJson5 } from "../../adapters/files/config-file.ts";
import { isPlain } from "../../domain/config/index.ts";
import type { ChannelDefinition } from "../../domain/ports/index.ts";
import { withoutSecrets } from "../config/excerpt.ts";
import { withValue } from "../config-edit/json5-text.ts";
import { keyVariableOf, type SetupAnswers, type SetupDriver } from "./answers.ts";

export interface SetupPlan {
  readonly text: string;
  /** To be stored before the text is written. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface PlanInput {
  readonly text: string;
  /** For error messages. */
  readonly path: string;
  readonly answers: SetupAnswers;
  readonly channels: ReadonlyMap<string, ChannelDefinition>;
  /** Whether a variable has a value, in the environment or among the stored secrets. */
  readonly has: (variable: string) => boolean;
}

export function planOf(input: PlanInput): SetupPlan {
  const { answers, path } = input;
  const secrets: Record<string, string> = {};
  const raw = parseJson5(input.text, path);
  const index = agentIndexOf(raw);
  const agent = at(raw, ["agents", "list", index]);
  const ofAgent = (name: string) => ["agents", "list", index, name];
  const edits: (readonly [path: readonly (string | number)[], value: unknown])[] = [
    [ofAgent("name"), answers.agent.name],
    [ofAgent("purpose"), answers.agent.purpose],
    [ofAgent("aliases"), answers.agent.aliases],
  ];
  if (answers.driver !== null) {
    const { driver, key } = withKey(answers.driver, answers.key, at(agent, ["driver"]), input.has);
    Object.assign(secrets, key);
    edits.push([ofAgent("driver"), driver]);
  }
  for (const [name, value] of accountEdits(input, secrets)) edits.push([name, value]);
  const changed = edits.filter(([name, value]) => !isSame(at(raw, name), value));
  const text = changed.reduce((now, [name, value]) => withValue(now, name, value), input.text);
  return { text, secrets };
}

/** A change that a person can check before it is written. */
export interface ShownDiff {
  /** Lines of a unified diff, without its head. */
  readonly lines: string[];
  /** Of the text that it starts from: a file that changed meanwhile is not written over. */
  readonly token: string;
}

/** Without the secrets that the file may have. */
export function diffOf(before: string, after: string): ShownDiff {
  const [old, fresh] = [withoutSecrets(before), withoutSecrets(after)];
  const { hunks } = structuredPatch("", "", old, fresh, "", "", { context: 3 });
  const lines = hunks.flatMap(({ oldStart, newStart, lines: own }) => [
    `@@ ${oldStart} ${newStart} @@`,
    // Not "No newline at end of file": that is no line of the file.
    ...own.filter((line) => !line.startsWith("\\")),
  ]);
  return { lines, token: tokenOf(before) };
}

export const tokenOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 32);

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other) ||
  // A purpose and aliases that nobody entered are not written.
  (one === undefined && (other === "" || (Array.isArray(other) && other.length === 0)));

/** The default agent of a config, or the first, or the one that is added. */
function agentIndexOf(raw: unknown): number {
  const list = at(raw, ["agents", "list"]);
  if (!Array.isArray(list)) return 0;
  return Math.max(
    0,
    list.findIndex((agent) => isPlain(agent) && agent.default === true),
  );
}

function at(raw: unknown, path: readonly (string | number)[]): unknown {
  let value = raw;
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isPlain(value) && Object.hasOwn(value, step)) value = value[String(step)];
    else return undefined;
  }
  return value;
}

/** The driver with the reference to its key: a new one, the one that it has, or one that is known. */
function withKey(
  driver: SetupDriver,
  pasted: string | undefined,
  before: unknown,
  has: (variable: string) => boolean,
): { readonly driver: object; readonly key: Readonly<Record<string, string>> } {
  if (driver.kind !== "model") {
    const { args, ...rest } = driver;
    return { driver: args.length === 0 ? rest : driver, key: {} };
  }
  const variable = keyVariableOf(driver.provider);
  const reference = `\${${variable}}`;
  if (pasted !== undefined)
    return { driver: { ...driver, apiKey: reference }, key: { [variable]: pasted } };
  const isSameServer =
    at(before, ["baseUrl"]) === driver.baseUrl &&
    (at(before, ["provider"]) ?? "openai-compatible") === driver.provider;
  const known = isSameServer ? at(before, ["apiKey"]) : undefined;
  if (known !== undefined) return { driver: { ...driver, apiKey: known }, key: {} };
  // A key for one compatible server is not sent to another.
  const isVendor = driver.provider !== "openai-compatible";
  return { driver: isVendor && has(variable) ? { ...driver, apiKey: reference } : driver, key: {} };
}

function* accountEdits(
  { answers: { channel }, channels }: PlanInput,
  secrets: Record<string, string>,
): Generator<readonly [readonly string[], string]> {
  if (channel === null) return;
  for (const { name, secret } of channels.get(channel.id)?.setup?.fields ?? []) {
    const entered = channel.fields[name];
    if (entered === undefined) continue;
    if (secret !== null) secrets[secret] = entered;
    yield [
      ["channels", channel.id, "accounts", "default", name],
      secret === null ? entered : `\${${secret}}`,
    ];
  }
}
