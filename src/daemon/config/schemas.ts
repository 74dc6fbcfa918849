/**
 * Published schemas
 * =================
 * The files in schema/, as text: the config file, and a line of a scenario (with the inbound
 * message, the body of `POST /api/inbound`). They are generated from the schemas that the daemon
 * parses with; `npm run check` compares.
 */
import { configJsonSchema, jsonSchemaOf } from "../../domain/config/docs/json-schema.ts";
import { inboundSchema } from "../../domain/message.ts";
import { scenarioLineSchema } from "../../domain/scenario/scenario.ts";
import { createRegistry } from "./registry.ts";

const dialect = "https://json-schema.org/draft/2020-12/schema";
const text = (schema: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify(schema, null, 2)}\n`;

/** The JSON Schema of earshot.json5 with every built-in channel and driver. */
export function configSchemaText(): string {
  return text(configJsonSchema(createRegistry()));
}

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
    ["earshot.schema.json", configSchemaText()],
    ["scenario.schema.json", text(scenario)],
    ["inbound.schema.json", text(inbound)],
  ];
}
