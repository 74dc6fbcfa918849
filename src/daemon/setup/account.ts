/**
 * What was entered for an account of a channel
 * ============================================
 * Makes the values of the account's config of it, by what the channel says of its fields. A field that
 * is not asked for is dropped, whatever was entered in it before.
 */
import { isPlain, overlay } from "../../domain/config/index.ts";
import type { ChannelSetup, SetupField } from "../../domain/ports/index.ts";

/** A value that was entered, by its place in the account. */
export interface EnteredValue {
  readonly path: readonly string[];
  readonly value: unknown;
  /** The variable that it is stored under; null: it is no secret. */
  readonly variable: string | null;
}

export interface EnteredAccount {
  /** The text of each field, by its name; an empty one is none. */
  readonly fields: Readonly<Record<string, string>>;
  readonly accountId: string;
  /** The account as it is configured; undefined: it is new. */
  readonly before: unknown;
}

export function enteredValues(setup: ChannelSetup, entered: EnteredAccount): EnteredValue[] {
  const { fields, accountId } = entered;
  return fieldsAsked(setup, entered).flatMap((field): EnteredValue[] => {
    const text = fields[field.name]?.trim() ?? "";
    if (text === "") return [];
    const variable = field.secret === null ? null : variableOf(field.secret, accountId);
    return [{ path: field.name.split("."), value: writtenAs(field, text), variable }];
  });
}

/** The account with what was entered, secrets as they are: to be tried. */
export function accountToTry(
  setup: ChannelSetup,
  entered: EnteredAccount,
): Readonly<Record<string, unknown>> {
  const before = isPlain(entered.before) ? entered.before : {};
  return enteredValues(setup, entered).reduce<Record<string, unknown>>(
    (account, { path, value }) => overlay(account, nestedIn(path, value)) as typeof account,
    before,
  );
}

/** The fields whose condition is met, in order. */
export function fieldsAsked(
  { fields: all }: ChannelSetup,
  { fields, before }: Pick<EnteredAccount, "fields" | "before">,
): SetupField[] {
  const textOf = (name: string): string => {
    const field = all.find((one) => one.name === name);
    const configured = valueAt(before, name.split("."));
    return fields[name] ?? (configured === undefined ? field?.initial : String(configured)) ?? "";
  };
  return all.filter(({ when }) => when === undefined || textOf(when.field) === when.is);
}

/** A new account as it is written: its secrets by their variables. */
export const accountWritten = (values: readonly EnteredValue[]): unknown =>
  values.reduce<unknown>(
    (account, entered) => overlay(account, nestedIn(...writtenIn(entered))),
    {},
  );

/** The path of a value, and what the file has there. */
export const writtenIn = ({ path, value, variable }: EnteredValue) =>
  [path, variable === null ? value : `\${${variable}}`] as const;

const nestedIn = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((below, step) => ({ [step]: below }), value);

/** The first account has the plain name, each other one its own. */
export const variableOf = (secret: string, accountId: string): string =>
  accountId === "default"
    ? secret
    : `${secret}_${accountId.toUpperCase().replaceAll(/[^A-Z0-9]/gu, "_")}`;

function valueAt(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return value;
  return isPlain(value) && Object.hasOwn(value, step) ? valueAt(value[step], rest) : undefined;
}

/** A number that is none stays a text: the schema of the account says what is wrong with it. */
function writtenAs({ type = "text" }: SetupField, text: string): unknown {
  if (type === "flag") return /^(?:true|yes|y|on)$/iu.test(text);
  if (type === "number") return Number.isNaN(Number(text)) ? text : Number(text);
  if (type !== "list") return text;
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}
