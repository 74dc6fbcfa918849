/**
 * The files in schema/, as text: the config file, and a line of a scenario with the inbound message
 * (the body of `POST /api/inbound`). They are made from the schemas that the daemon parses with.
 */
import { createRegistry } from "../../src/daemon/config/registry.ts";
import { configJsonSchema, jsonSchemaOf } from "../../src/domain/config/docs/json-schema.ts";
import { inboundSchema } from "../../src/domain/message.ts";
import { scenarioLineSchema } from "../../src/domain/scenario/scenario.ts";

const dialect = "https://json-schema.org/draft/2020-12/schema";
const text = (schema: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify(schema, null, 2)}\n`;

/** File names in schema/ and their contents. */
export function schemaFiles(): readonly (readonly [name: string, text: string])[] {
  const scenario = {
    $schema: dialect,
    $id: "scenario.schema.json",
    title: "A line of a scenario",
    ...jsonSchemaOf(scenarioLineSchema),
  };
  const inbound = {
    $schema: dialect,
    $id: "inbound.schema.json",
    title: "An inbound message",
    ...jsonSchemaOf(inboundSchema),
  };
  return [
    ["earshot.schema.json", text(configJsonSchema(createRegistry()))],
    ["scenario.schema.json", text(scenario)],
    ["inbound.schema.json", text(inbound)],
  ];
}
