/**
 * Every key of the config file
 * ============================
 * Read from the JSON Schema, which is generated from the schemas that the daemon parses with, so the list is
 * complete and accurate. Sections that may be overridden at more specific levels are listed at the top
 * level only.
 */
import { overrideFields } from "../conversation/overrides.ts";
import { roomFields } from "../daemon/rooms.ts";
import { configSchema } from "../daemon/schema.ts";
import { isPlain } from "../parse/overlay.ts";
import { defaultConfig } from "../parse/parse.ts";
import { jsonSchemaOf } from "./json-schema.ts";

type Json = Readonly<Record<string, unknown>>;

/** One key, as a row of the reference. */
export interface ConfigKey {
  /** `agents.list[].id`, `channels.<channel>.accounts.<account>.enabled`. */
  readonly path: string;
  readonly type: string;
  /** As written in the file; null: none. */
  readonly default: string | null;
  readonly required: boolean;
  readonly about: string;
}

/** Placeholders for names that the user chooses. */
const placeholders: Readonly<Record<string, string>> = {
  channels: "channel",
  accounts: "account",
  groups: "group",
  topics: "topic",
  byChannel: "channel",
  broadcast: "place",
  identityLinks: "person",
  conversations: "session key",
  allowFrom: "channel",
};

/** Upper bounds from here on are not worth printing. */
const boundMax = 31_536_000_000;

const objectOf = (value: unknown): Json => (isPlain(value) ? (value as Json) : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const grouped = (value: number): string => value.toLocaleString("en-US");
const code = (text: string): string => `\`${text}\``;

/** Every key, in the order of the schema. */
export function configKeys(schema: Json = jsonSchemaOf(configSchema)): readonly ConfigKey[] {
  const whole = objectOf(resolved(schema, objectOf(schema.$defs)));
  const sections = Object.entries(objectOf(whole.properties));
  return sections
    .filter(([name]) => name !== "$schema")
    .flatMap(([name, section]) => below(objectOf(section), name, false));
}

/** Inlines `$ref`s. */
function resolved(schema: unknown, defs: Json): unknown {
  if (Array.isArray(schema)) return schema.map((part) => resolved(part, defs));
  if (!isPlain(schema)) return schema;
  const { $ref, $defs: _, ...rest } = schema;
  const name = textOf($ref).split("/").at(-1) ?? "";
  if (Object.hasOwn(defs, name)) return { ...(resolved(defs[name], defs) as Json), ...rest };
  return Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, resolved(part, defs)]));
}

/** Fields of every level of a room are listed once, for the channel. */
const isOverride = (path: string, name: string) =>
  path !== "" &&
  (Object.hasOwn(overrideFields, name) ||
    (Object.hasOwn(roomFields, name) && /^(?:channels\..*\.\w+|conversations)\.</u.test(path)));

const optionsOf = ({ anyOf, oneOf }: Json): readonly Json[] =>
  [...listOf(anyOf), ...listOf(oneOf)].map(objectOf);

/** Accepts fields that another schema checks: a driver, a channel. */
const isOpen = ({ additionalProperties: any }: Json): boolean =>
  isPlain(any) && Object.keys(any).length === 0;

/** The rows of a value: its own, or those of its fields. */
function below(schema: Json, path: string, required: boolean): ConfigKey[] {
  const item = objectOf(schema.items);
  if (isPlain(item.properties))
    return [keyOf(schema, path, required), ...fieldsOf(item, `${path}[]`)];
  const [option, ...more] = optionsOf(schema).filter((part) => isPlain(part.properties));
  const isWhole = option !== undefined && more.length === 0 && !isOpen(option);
  if (/\.by[A-Z]\w*\.[^.]+$/u.test(path)) return [keyOf(schema, path, required)];
  if (isWhole) return [keyOf(schema, path, required), ...fieldsOf(option, path)];
  if (isPlain(schema.properties) || isPlain(schema.additionalProperties))
    return fieldsOf(schema, path);
  return [keyOf(schema, path, required)];
}

function fieldsOf(schema: Json, path: string): ConfigKey[] {
  const needed = new Set(listOf(schema.required));
  const own = Object.entries(objectOf(schema.properties))
    .filter(([name]) => !isOverride(path, name))
    .flatMap(([name, field]) => below(objectOf(field), `${path}.${name}`, needed.has(name)));
  const any = schema.additionalProperties;
  return isPlain(any) ? [...own, ...mapped(schema, objectOf(any), path)] : own;
}

/** A map with user-chosen names: the rows of its values. */
function mapped(schema: Json, value: Json, path: string): ConfigKey[] {
  const named = `${path}.<${placeholders[path.split(".").at(-1) ?? ""] ?? "name"}>`;
  const [first, ...more] = below(value, named, false);
  if (first === undefined) {
    const about = "Any section that may be overridden, and the settings of a room.";
    return [{ path: named, type: "object", default: null, required: false, about }];
  }
  if (first.path !== named || more.length > 0) return [first, ...more];
  if (isOpen(schema))
    return [{ ...first, type: "", about: "The channel's own fields: see the channel's page." }];
  return [{ ...first, about: first.about || withoutDefault(textOf(schema.description)) }];
}

function keyOf(schema: Json, path: string, required: boolean): ConfigKey {
  const needs = required && schema.default === undefined && !path.endsWith("[]");
  return {
    path,
    type: typeOf(schema, path),
    default: defaultOf(schema) ?? defaultAt(path),
    required: needs,
    about: withoutDefault(textOf(schema.description)),
  };
}

const defaultOf = ({ default: value }: Json): string | null =>
  value === undefined || JSON.stringify(value) === "{}" ? null : JSON.stringify(value);

/** The default from a parsed config: the JSON Schema omits defaults of transformed fields. */
function defaultAt(path: string): string | null {
  let value: unknown = defaultConfig;
  for (const name of path.split(".")) value = isPlain(value) ? value[name] : undefined;
  return value === undefined ? null : JSON.stringify(value);
}

const withoutDefault = (about: string): string =>
  about.replace(/ Default: .*\.$/u, "").replace(/ In (milliseconds|bytes)\.$/u, "");

/** Describes the accepted values. */
function typeOf(schema: Json, path: string): string {
  const name = path.split(".").at(-1) ?? "";
  if (schema.enum !== undefined) return values(listOf(schema.enum));
  if (schema.const !== undefined) return values([schema.const]);
  const choices = optionsOf(schema).map((part) => typeOf(part, path));
  if (choices.length > 0) return [...new Set(choices)].join(", ");
  switch (schema.type) {
    case "boolean":
      return "`true`, `false`";
    case "string":
      return "text";
    case "null":
      return "`null`";
    case "array":
      return listType(objectOf(schema.items), path);
    case "integer":
    case "number":
      return numberType(schema, name);
    default:
      return objectType(schema);
  }
}

function objectType(schema: Json): string {
  const names = Object.keys(objectOf(schema.properties));
  if (isOpen(schema)) names.push("…");
  return names.length === 0 ? "object" : code(`{ ${names.join(", ")} }`);
}

function listType(item: Json, path: string): string {
  if (item.enum !== undefined) return `list of ${values(listOf(item.enum))}`;
  return isPlain(item.properties) ? "list" : `list of ${plural(typeOf(item, path))}`;
}

const plural = (type: string) => (type === "text" ? "texts" : type);
const values = (all: readonly unknown[]) =>
  all.map((part) => code(JSON.stringify(part))).join(", ");

function numberType({ minimum, maximum }: Json, name: string): string {
  const unit = /Ms(Max)?$/u.test(name) ? "ms" : /Bytes(Max)?$/u.test(name) ? "bytes" : "";
  const least = typeof minimum === "number" ? minimum : 0;
  const most = typeof maximum === "number" && maximum < boundMax ? maximum : null;
  const range = most === null ? `from ${grouped(least)}` : `${grouped(least)} to ${grouped(most)}`;
  if (unit === "") return range;
  return least === 0 && most === null ? unit : `${unit}, ${range}`;
}
