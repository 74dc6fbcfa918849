/**
 * What the answers change in the config file
 * ==========================================
 * Only the values that were answered are written; comments, layout and everything else stay. The
 * result is the same whatever the page shows, so the diff that was shown is what is written.
 */
import { parseJson5 } from "../../adapters/files/config-file.ts";
import { isPlain } from "../../domain/config/index.ts";
import type { ChannelDefinition } from "../../domain/ports/index.ts";
import { withValue } from "../config-edit/json5-text.ts";
import { accountWritten, enteredValues, writtenIn } from "./account.ts";
import {
  type ChannelAnswers,
  keyVariableOf,
  type SetupAnswers,
  type SetupDriver,
} from "./answers.ts";

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
  const edits: ConfigEdit[] = [
    [ofAgent("name"), answers.agent.name],
    [ofAgent("purpose"), answers.agent.purpose],
    [ofAgent("aliases"), answers.agent.aliases],
  ];
  if (answers.driver !== null) {
    const { driver, key } = withKey(answers.driver, answers.key, at(agent, ["driver"]), input.has);
    Object.assign(secrets, key);
    edits.push([ofAgent("driver"), driver]);
  }
  if (answers.channel !== null)
    edits.push(...accountEdits(answers.channel, input.channels, raw, secrets));
  return { text: withEdits(input.text, raw, edits), secrets };
}

/** What the answers about one account change, and nothing else. */
export function accountPlanOf({
  text,
  path,
  channels,
  answers,
}: Pick<PlanInput, "text" | "path" | "channels"> & {
  readonly answers: ChannelAnswers;
}): SetupPlan {
  const secrets: Record<string, string> = {};
  const raw = parseJson5(text, path);
  const edits = accountEdits(answers, channels, raw, secrets);
  return { text: withEdits(text, raw, edits), secrets };
}

type ConfigEdit = readonly [path: readonly (string | number)[], value: unknown];

const withEdits = (text: string, raw: unknown, edits: readonly ConfigEdit[]): string =>
  edits
    .filter(([name, value]) => !isSame(at(raw, name), value))
    .reduce((now, [name, value]) => withValue(now, name, value), text);

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

/** Field by field in an account that is there; a new one at once, its fields in their order. */
function accountEdits(
  channel: ChannelAnswers,
  channels: PlanInput["channels"],
  raw: unknown,
  secrets: Record<string, string>,
): ConfigEdit[] {
  const setup = channels.get(channel.id)?.setup;
  if (setup === undefined) return [];
  const place = ["channels", channel.id, "accounts", channel.account];
  const before = at(raw, place);
  const { fields, account: accountId } = channel;
  const values = enteredValues(setup, { fields, accountId, before });
  for (const { variable, value } of values)
    if (variable !== null) secrets[variable] = String(value);
  if (before === undefined) return [[place, accountWritten(values)]];
  return values.map((entered) => {
    const [path, value] = writtenIn(entered);
    return [[...place, ...path], value];
  });
}
