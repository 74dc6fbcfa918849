/**
 * OpenAPI
 * =======
 * The description of the API for programs, at `/api/openapi.json`, generated from the declarations
 * that check the requests and type the answers.
 */
import { z } from "zod";
import { inboundSchema } from "../../domain/message.ts";
import { type Refusal, refusalStatus } from "../http/api-error.ts";
import type { Endpoint } from "../http/endpoint.ts";

type Json = Record<string, unknown>;

/** Schemas that JSON Schema cannot express (dates, custom checks) allow anything. */
const schemaOf = (schema: z.ZodType, io: "input" | "output"): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
};

/** `/api/rooms/:key` as `/api/rooms/{key}`. */
const templated = (path: string): string => path.replace(/:(\w+)/gu, "{$1}");

function parametersOf(schema: z.ZodObject | undefined, place: "path" | "query"): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, "input") as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...form }]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: form,
  }));
}

function bodyOf({ body, rawBody }: Endpoint): Json {
  if (body === undefined && rawBody === undefined) return {};
  const content =
    body === undefined
      ? { [rawBody ?? "*/*"]: {} }
      : { "application/json": { schema: schemaOf(body, "input") } };
  return { requestBody: { required: true, content } };
}

function contentOf(answer: Endpoint["answer"]): Json {
  if (!("contentType" in answer))
    return { "application/json": { schema: schemaOf(answer, "output") } };
  const { contentType, each } = answer;
  return { [contentType]: each === undefined ? {} : { schema: schemaOf(each, "output") } };
}

function operationOf(endpoint: Endpoint): Json {
  const { summary, params, query, answer } = endpoint;
  const done = { description: summary, content: contentOf(answer) };
  return {
    summary,
    parameters: [...parametersOf(params, "path"), ...parametersOf(query, "query")],
    ...bodyOf(endpoint),
    responses: responsesOf(done, ["token", ...(endpoint.refuses ?? [])]),
  };
}

function responsesOf(done: Json, refusals: readonly Refusal[]): Json {
  const error = { $ref: "#/components/responses/Error" };
  return {
    "200": done,
    ...Object.fromEntries(refusals.map((code) => [String(refusalStatus[code]), error])),
  };
}

/** Requests of platforms are checked by their channel, so only the path is declared. */
const hooks: Json = {
  post: {
    summary: "Receives signed requests of a platform; answers when they are durable",
    security: [],
    parameters: ["channel", "account"].map((name) => ({
      name,
      in: "path",
      required: true,
      schema: { type: "string" },
    })),
    requestBody: { required: true, content: { "application/json": {} } },
    responses: responsesOf({ description: "See the channel's page" }, [
      "signature",
      "bad-request",
      "not-found",
      "too-slow",
      "too-large",
      "wrong-type",
      "too-many",
    ]),
  },
};

const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** The description of this version's API. */
export function openApi(version: string, declared: readonly Endpoint[]): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of declared) {
    const path = templated(endpoint.path);
    paths[path] = { ...paths[path], [endpoint.method]: operationOf(endpoint) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "earshot", version },
    security: [{ token: [] }],
    paths: { ...paths, "/hooks/{channel}/{account}": hooks },
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Inbound: schemaOf(inboundSchema, "input") },
      responses: {
        Error: {
          description: "Why not",
          content: { "application/json": { schema: schemaOf(errorSchema, "output") } },
        },
      },
    },
  };
}
