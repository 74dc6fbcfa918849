/**
 * The reference
 * =============
 * Every key of the config file as tables of docs/reference/config.md, made from the JSON Schema
 * that editors use, which is made from the schemas that the daemon parses with: it can leave
 * nothing out and say nothing else. A section that may be said again for a more special place says
 * so once; its keys are listed where they stand at the top.
 */

import { overrideFields } from "../conversation/overrides.ts";
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
  /** As it would be written; null: there is none. */
  readonly default: string | null;
  readonly required: boolean;
  readonly about: string;
}

/** Where a section is explained, from the folder of the reference. */
const pages: Readonly<Record<string, string>> = {
  agents: "../agents/README.md",
  bindings: "../guide/routing.md",
  broadcast: "../guide/routing.md",
  channels: "../guide/access.md",
  access: "../guide/access.md",
  engagement: "../guide/engagement.md",
  context: "../guide/engagement.md",
  loopGuard: "../guide/engagement.md",
  messages: "../guide/turns.md",
  stream: "../guide/replies.md",
  typing: "../guide/replies.md",
  silent: "../guide/replies.md",
  media: "../guide/media.md",
  heartbeat: "../guide/heartbeat.md",
  plugins: "../guide/plugins.md",
  turn: "../guide/turns.md",
  session: "../guide/sessions.md",
  commands: "commands.md",
  errors: "../guide/turns.md",
  workers: "../operate/operating.md",
  server: "../operate/security.md",
  store: "../operate/operating.md",
  log: "../operate/operating.md",
};

/** What stands for the names that a person chooses. */
const chosen: Readonly<Record<string, string>> = {
  channels: "channel",
  accounts: "account",
  groups: "group",
  byChannel: "channel",
  broadcast: "place",
  identityLinks: "person",
  conversations: "session key",
  allowFrom: "channel",
};

/** A longest wait, or the largest number there is, is no bound worth telling. */
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

/** The schema with what it names put in its place; what is said again elsewhere is left named. */
function resolved(schema: unknown, defs: Json): unknown {
  if (Array.isArray(schema)) return schema.map((one) => resolved(one, defs));
  if (!isPlain(schema)) return schema;
  const { $ref, $defs: _, ...rest } = schema;
  const name = textOf($ref).split("/").at(-1) ?? "";
  if (Object.hasOwn(defs, name)) return { ...(resolved(defs[name], defs) as Json), ...rest };
  return Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, resolved(one, defs)]));
}

const isOverride = (path: string, name: string) =>
  path !== "" && Object.hasOwn(overrideFields, name);

const optionsOf = ({ anyOf, oneOf }: Json): readonly Json[] =>
  [...listOf(anyOf), ...listOf(oneOf)].map(objectOf);

/** Takes fields that somebody else checks: a driver, a channel. */
const isOpen = ({ additionalProperties: any }: Json): boolean =>
  isPlain(any) && Object.keys(any).length === 0;

/** The rows of a value: one, or those of the fields in it. */
function below(schema: Json, path: string, required: boolean): ConfigKey[] {
  const item = objectOf(schema.items);
  if (isPlain(item.properties))
    return [keyOf(schema, path, required), ...fieldsOf(item, `${path}[]`)];
  const [option, ...more] = optionsOf(schema).filter((one) => isPlain(one.properties));
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

/** A table of names that a person chooses: what stands under such a name. */
function mapped(schema: Json, value: Json, path: string): ConfigKey[] {
  const named = `${path}.<${chosen[path.split(".").at(-1) ?? ""] ?? "name"}>`;
  const [first, ...more] = below(value, named, false);
  if (first === undefined) {
    const about = "Any of the sections that may be said again.";
    return [{ path: named, type: "object", default: null, required: false, about }];
  }
  if (first.path !== named || more.length > 0) return [first, ...more];
  if (isOpen(schema))
    return [
      { ...first, type: "", about: "What its channel takes besides: see the channel's page." },
    ];
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

/** What a parsed config has there: the schema does not tell the default of what is transformed. */
function defaultAt(path: string): string | null {
  let value: unknown = defaultConfig;
  for (const name of path.split(".")) value = isPlain(value) ? value[name] : undefined;
  return value === undefined ? null : JSON.stringify(value);
}

const withoutDefault = (about: string): string =>
  about.replace(/ Default: .*\.$/u, "").replace(/ In (milliseconds|bytes)\.$/u, "");

/** What may be written there, in words. */
function typeOf(schema: Json, path: string): string {
  const name = path.split(".").at(-1) ?? "";
  if (schema.enum !== undefined) return values(listOf(schema.enum));
  if (schema.const !== undefined) return values([schema.const]);
  const choices = optionsOf(schema).map((one) => typeOf(one, path));
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
const values = (all: readonly unknown[]) => all.map((one) => code(JSON.stringify(one))).join(", ");

function numberType({ minimum, maximum }: Json, name: string): string {
  const unit = /Ms(Max)?$/u.test(name) ? "ms" : /Bytes(Max)?$/u.test(name) ? "bytes" : "";
  const least = typeof minimum === "number" ? minimum : 0;
  const most = typeof maximum === "number" && maximum < boundMax ? maximum : null;
  const range = most === null ? `from ${grouped(least)}` : `${grouped(least)} to ${grouped(most)}`;
  if (unit === "") return range;
  return least === 0 && most === null ? unit : `${unit}, ${range}`;
}

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function row({ path, type, default: value, required, about }: ConfigKey): string {
  const otherwise = required ? "required" : value === null ? "" : code(value);
  return `| ${[code(path), type, otherwise, about].map(cell).join(" | ")} |`;
}

/** The tables, a heading for each section. */
function tables(schema: Json): string {
  const keys = configKeys(schema);
  const sections = Object.entries(objectOf(schema.properties));
  return sections
    .filter(([name]) => name !== "$schema")
    .map(([name, section]) => {
      const about = textOf(objectOf(section).description);
      const page = pages[name];
      const more = page === undefined ? "" : ` More: [${page}](${page}).`;
      const also = Object.hasOwn(overrideFields, name)
        ? " May be said again for an agent, a channel, an account or a conversation."
        : "";
      const own = keys.filter(({ path }) => path.split(/[.[]/u)[0] === name);
      const head = ["| key | type | default | |", "|---|---|---|---|"];
      return [`### ${name}`, "", `${about}${also}${more}`, "", ...head, ...own.map(row)].join("\n");
    })
    .join("\n\n");
}

const begin = "<!-- made by `node scripts/schema.mjs` -->\n";
const end = "<!-- end -->";

/** docs/reference/config.md with the reference as the schema has it. */
export function withConfigReference(page: string): string {
  const schema = jsonSchemaOf(configSchema);
  const from = page.indexOf(begin) + begin.length;
  const to = page.indexOf(end, from);
  return `${page.slice(0, from)}\n${tables(schema)}\n\n${page.slice(to)}`;
}
