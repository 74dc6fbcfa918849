/**
 * The config's schema in the form that editors understand, generated from the zod schemas the
 * daemon parses with. Known channels and drivers contribute their own options; others stay open,
 * because plugins may bring them.
 */
import { z } from "zod";
import type { AgentDriver, ChannelDefinition } from "../../ports/index.ts";
import { configSchema } from "../daemon/schema.ts";
import { isPlain } from "../parse/overlay.ts";
import { isSecretPath } from "../parse/secrets.ts";

type Json = Record<string, unknown>;

/** A zod schema as JSON Schema for input (defaulted fields are optional). */
export function jsonSchemaOf(schema: z.ZodType): Json {
  const made = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json;
  const { $schema: _dialect, ...rest } = made;
  return rest;
}

function at(schema: unknown, ...path: readonly string[]): Json {
  let value = schema;
  for (const step of path) value = isPlain(value) ? value[step] : undefined;
  return isPlain(value) ? (value as Json) : {};
}

const environment = {
  type: "string",
  pattern: "^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$",
  description: "The name of an environment variable that holds the secret.",
};

/** Secret strings may also be a reference to an environment variable. */
function withEnvironment(properties: Json): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => {
      const plain = isPlain(value) && value.type === "string" && value.pattern === undefined;
      const secret = isSecretPath(["channels", name]) && !plain;
      if (!secret && isPlain(value) && isPlain(value.properties))
        return [name, { ...value, properties: withEnvironment(value.properties) }];
      if (!secret) return [name, value];
      const { description } = value as Json;
      const either = { anyOf: [value, environment] };
      return [name, description === undefined ? either : { ...either, description }];
    }),
  );
}

function channelSchema(
  open: Json,
  channel: Pick<ChannelDefinition, "accountSchema" | "meta">,
): Json {
  const own = jsonSchemaOf(channel.accountSchema as z.ZodType);
  const accounts = at(open, "properties", "accounts");
  const account = at(accounts, "additionalProperties");
  const properties = { ...withEnvironment(at(own, "properties")), ...at(account, "properties") };
  const required = own.required === undefined ? {} : { required: own.required };
  const closed = { ...account, properties, ...required, additionalProperties: false };
  return {
    ...open,
    description: `${channel.meta.name}: ${channel.meta.description}.`,
    properties: {
      ...at(open, "properties"),
      accounts: { ...accounts, additionalProperties: closed },
    },
  };
}

function driverSchema(drivers: ReadonlyMap<string, Pick<AgentDriver, "configSchema">>): Json {
  const options = [...drivers].map(([kind, { configSchema: schema }]) => {
    const own = jsonSchemaOf(schema as z.ZodType);
    const properties = { ...withEnvironment(at(own, "properties")), kind: { const: kind } };
    return { ...own, properties, required: [...new Set(["kind", ...list(own.required)])] };
  });
  return { anyOf: [{ enum: [...drivers.keys(), "auto"] }, ...options] };
}

const driverHelp = "The driver, by name or as an object with `kind` and its options.";
const list = (value: unknown): readonly string[] => (Array.isArray(value) ? value : []);

export function configJsonSchema(known: {
  readonly channels: ReadonlyMap<string, Pick<ChannelDefinition, "accountSchema" | "meta">>;
  readonly drivers: ReadonlyMap<string, Pick<AgentDriver, "configSchema">>;
}): Json {
  const schema = jsonSchemaOf(configSchema);
  const driver = driverSchema(known.drivers);
  at(schema, "properties", "agents", "properties", "defaults", "properties").driver = {
    ...driver,
    description: driverHelp,
    default: { kind: "guide" },
  };
  at(schema, "properties", "agents", "properties", "list", "items", "properties").driver = {
    ...driver,
    description: driverHelp,
  };
  const channels = at(schema, "properties", "channels");
  const open = at(channels, "additionalProperties");
  channels.properties = Object.fromEntries(
    [...known.channels].map(([id, channel]) => [id, channelSchema(open, channel)]),
  );
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "earshot.schema.json",
    title: "earshot.json5",
    ...schema,
  };
}
