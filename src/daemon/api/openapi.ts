/**
 * OpenAPI
 * =======
 * The API described for programs, at `/api/openapi.json`. The form of a message is made from the
 * schema that checks it, so the two cannot drift apart; the rest is one line a route.
 */
import { z } from "zod";
import { decisions } from "../../domain/decision.ts";
import { inboundSchema } from "../../domain/message.ts";
import { roomStates } from "../api-types/rooms.ts";
import { claimSchema, revokeSchema } from "./routes/access.ts";
import { inspectWishSchema } from "./routes/inspect.ts";
import { lookSchema } from "./routes/rooms.ts";
import { sessionPatchSchema } from "./routes/sessions.ts";

type Json = Record<string, unknown>;

const text = (
  name: string,
  where: "path" | "query",
  description: string,
  values?: readonly string[],
) => ({
  name,
  in: where,
  description,
  required: where === "path",
  schema: values === undefined ? { type: "string" } : { type: "string", enum: values },
});

const answers = (description: string, ...also: number[]): Json => {
  const error = { $ref: "#/components/responses/Error" };
  return Object.fromEntries([
    ["200", { description, content: { "application/json": { schema: { type: "object" } } } }],
    ...[401, ...also].map((status) => [String(status), error]),
  ]) as Json;
};

const get = (summary: string, parameters: Json[] = [], ...also: number[]): Json => ({
  get: { summary, parameters, responses: answers(summary, ...also) },
});
const post = (summary: string, parameters: Json[], body: Json | null, ...also: number[]): Json => ({
  post: {
    summary,
    parameters,
    ...(body === null
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
    responses: answers(summary, ...also),
  },
});

const stream = (summary: string): Json => ({
  get: {
    summary: `${summary}, as server-sent events`,
    responses: { "200": { description: "frames", content: { "text/event-stream": {} } } },
  },
});

/** A question of What-if: fields are texts unless they say otherwise. */
const tries = (summary: string, fields: Readonly<Record<string, Json>>): Json => {
  const properties = Object.entries(fields).map(([name, type]) => [
    name,
    { type: "string", ...type },
  ]);
  const body = { type: "object", required: Object.keys(fields) };
  return post(summary, [], { ...body, properties: Object.fromEntries(properties) }, 400, 413, 415);
};

const inbound = { $ref: "#/components/schemas/Inbound" };
const sessionKey = text("key", "path", "session key, percent-encoded");
const sessionNames = [sessionKey, text("id", "query", "an archived one by its id")];
const uploadId = text("id", "path", "as the upload was answered");
const rowOfJournal = text("seq", "path", "number of the journal row");
const paths: Json = {
  "/api/inbound": post(
    "Takes one message or an array; answers when they are durable",
    [text("wait", "query", "wait for the decisions", ["decision"])],
    { oneOf: [inbound, { type: "array", items: inbound }] },
    400,
    413,
    415,
    503,
  ),
  "/api/events": {
    get: {
      summary: "What happens, as server-sent events",
      parameters: [
        text("key", "query", "only this conversation"),
        text("decision", "query", "only these decisions", decisions),
        text("deltas", "query", "with running texts", ["1"]),
      ],
      responses: { "200": { description: "lines", content: { "text/event-stream": {} } } },
    },
  },
  "/api/record": {
    get: {
      summary: "A part of the journal as a scenario, JSON Lines",
      parameters: [
        text("since", "query", "ms since the epoch; required"),
        text("until", "query", "ms since the epoch"),
        text("conversation", "query", "only this conversation"),
        text("channel", "query", "only what was said on this channel"),
        text("redact", "query", "words, names and numbers replaced", ["1"]),
      ],
      responses: { "200": { description: "lines", content: { "application/x-ndjson": {} } } },
    },
  },
  "/api/rooms": get(
    "Rooms as they stand, those heard last first",
    [
      text("find", "query", "words of a name, person, rule or key"),
      text("state", "query", "only rooms at this", roomStates),
      text("from", "query", "the `next` of the page before"),
      text("limit", "query", "at most so many"),
    ],
    400,
  ),
  "/api/rooms/live": stream("The rooms somebody looks at and then what changes in them"),
  "/api/rooms/live/{view}": post(
    "Looks at other rooms",
    [text("view", "path", "the `view` that the stream told first")],
    z.toJSONSchema(lookSchema, { io: "input" }) as Json,
    ...[400, 404, 413, 415],
  ),
  "/api/rooms/{key}": get("One room: how it stands, and its newest lines", [sessionKey], 400, 404),
  "/api/rooms/{key}/history": get(
    "Other lines of one room",
    [
      sessionKey,
      text("before", "query", "the `before` of the page that has newer ones"),
      text("after", "query", "the `upTo` of the page that has older ones"),
      text("limit", "query", "at most so many lines of talk"),
    ],
    400,
    404,
  ),
  "/api/rooms/{key}/live": stream("One room, and then what is new in it"),
  "/api/what-if/recordings": post(
    "Reads a part of the journal, to try rules on",
    [],
    {
      type: "object",
      required: ["since", "name"],
      properties: {
        since: { type: "integer" },
        until: { type: "integer" },
        conversation: { type: "string" },
        name: { type: "string" },
      },
    },
    400,
  ),
  "/api/what-if/files": {
    post: {
      summary: "Takes a scenario to try rules on",
      parameters: [text("name", "query", "as the page shows it")],
      requestBody: { required: true, content: { "application/jsonl": {} } },
      responses: answers("The recording", 400, 413, 415),
    },
  },
  "/api/what-if/run": tries("Tries rules on a recording", { rules: {}, recording: {} }),
  "/api/what-if/ladders": tries("Both ladders of one message", {
    rules: {},
    recording: {},
    n: { type: "integer" },
  }),
  "/api/what-if/apply": tries("Puts rules over the config", { rules: {} }),
  "/api/what-if/undo": tries("Takes back what was applied last", { undo: {} }),
  "/api/webchat/uploads": {
    post: {
      summary: "Keeps a file for a message of the webchat; the body is the file",
      parameters: [text("name", "query", "as it is shown")],
      requestBody: { required: true, content: { "*/*": {} } },
      responses: answers("`{id, kind, mime, bytes, name}`", 400, 408, 413, 415, 429, 503),
    },
  },
  "/api/webchat/uploads/{id}": {
    get: {
      summary: "The bytes of a file that was given; a download unless it is a plain picture",
      parameters: [uploadId],
      responses: {
        "200": { description: "bytes", content: { "application/octet-stream": {} } },
        "404": { $ref: "#/components/responses/Error" },
      },
    },
    delete: {
      summary: "Takes back a file that was not sent",
      parameters: [uploadId],
      responses: answers("It is gone", 404),
    },
  },
  "/api/inspect/tickets": post(
    "Gives an address of /inspect/ws that opens one socket within a minute",
    [],
    z.toJSONSchema(inspectWishSchema, { io: "input" }) as Json,
    ...[400, 413, 415],
  ),
  "/api/status": get("How the daemon is"),
  "/api/health": get("What needs a person, and how everything is"),
  "/api/health/live": stream("The same, again after each change"),
  "/api/channels": get("Channels, what they can do, and their connections"),
  "/api/conversations": get("Conversations by key", [
    text("after", "query", "the `next` of the page before"),
    text("limit", "query", "at most so many"),
  ]),
  "/api/sessions": get("Sessions in the order they were made, and what each agent used", [
    text("agent", "query", "only this agent's"),
    text("all", "query", "archived ones, too", ["1"]),
    text("after", "query", "the `next` of the page before"),
    text("limit", "query", "at most so many"),
  ]),
  "/api/sessions/{key}": {
    ...get("A session, its last lines, and the archived ones of its key", sessionNames, 400, 404),
    patch: {
      summary: "Changes how the agent works in the session in use",
      parameters: [sessionKey],
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: z.toJSONSchema(sessionPatchSchema, { io: "input" }) },
        },
      },
      responses: answers("The session as it is now", 400, 413, 415, 503),
    },
  },
  "/api/sessions/{key}/transcript": {
    get: {
      summary: "The whole transcript, JSON Lines",
      parameters: sessionNames,
      responses: { "200": { description: "lines", content: { "application/x-ndjson": {} } } },
    },
  },
  "/api/sessions/{key}/reset": post(
    "Archives the session in use and begins the next",
    [sessionKey],
    null,
    404,
    503,
  ),
  "/api/sessions/{key}/compact": post(
    "Sums up what was said so far; `outcome` is done, busy or empty",
    [sessionKey],
    null,
    404,
    503,
  ),
  "/api/why/{messageId}": get(
    "The whole ladder for one message",
    [
      text("messageId", "path", "the platform's id of the message"),
      text("seq", "query", "only this row of the journal"),
    ],
    404,
  ),
  "/api/commands": get("The table of commands, for help while somebody types", []),
  "/api/simulate": post(
    "Runs a scenario and explains it",
    [],
    {
      type: "object",
      required: ["lines"],
      properties: {
        lines: { type: "array", items: { type: "object" } },
        explain: { type: "array", items: { type: "string" } },
      },
    },
    400,
    413,
    415,
  ),
  "/api/channels/{channel}/{account}/retry": post(
    "Opens a halted account once more",
    [text("channel", "path", "channel id"), text("account", "path", "account name")],
    null,
    404,
  ),
  "/api/quarantine": get("Events that were set aside"),
  "/api/quarantine/{seq}/retry": post(
    "Gives an event in quarantine to its conversation once more",
    [rowOfJournal],
    null,
    400,
    404,
  ),
  "/api/quarantine/{seq}/drop": post("Takes an event off the list", [rowOfJournal], null, 400, 404),
  "/api/outbox": get("Reply parts by state", [text("state", "query", "states, by commas")]),
  "/api/outbox/{id}/resend": post(
    "Sends a part again",
    [text("id", "path", "turn id, colon, index")],
    null,
    404,
  ),
  "/api/outbox/{id}/drop": post(
    "Gives a part up",
    [text("id", "path", "turn id, colon, index")],
    null,
    404,
  ),
  "/api/pairings": get("Strangers who wait, people who were let in, and locks after wrong codes"),
  "/api/pairings/{code}/approve": post(
    "Lets in whoever was told the code; `owner`: it made them the owner",
    [text("code", "path", "eight letters")],
    null,
    404,
    429,
    503,
  ),
  "/api/pairings/revoke": post(
    "Takes back a waiting code, or what somebody was given",
    [],
    z.toJSONSchema(revokeSchema, { io: "input" }) as Json,
    ...[400, 404, 413, 415, 503],
  ),
  "/api/claims": {
    ...get("Claim codes that are open, by their labels"),
    ...post(
      "Makes a claim code; it is in this answer only",
      [],
      z.toJSONSchema(claimSchema, { io: "input" }) as Json,
      ...[400, 413, 415, 503],
    ),
  },
  "/api/claims/{label}/revoke": post(
    "Makes a claim code worthless",
    [text("label", "path", "as listed")],
    null,
    404,
    503,
  ),
  "/hooks/{channel}/{account}": {
    post: {
      summary: "What a platform posts, signed; answers when it is durable",
      security: [],
      parameters: [
        text("channel", "path", "channel id"),
        text("account", "path", "account id, percent-encoded"),
      ],
      requestBody: { required: true, content: { "application/json": { schema: {} } } },
      responses: answers("As the channel's page says", 400, 404, 408, 413, 415, 429, 503),
    },
  },
  "/api/outbound": get("What the webhook channel sent", [
    text("channel", "query", "webhook", ["webhook"]),
    text("account", "query", "only this account"),
  ]),
};

/** The description of this version's API. */
export function openApi(version: string): Json {
  return {
    openapi: "3.1.0",
    info: { title: "earshot", version },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Inbound: z.toJSONSchema(inboundSchema, { io: "input" }) },
      responses: {
        Error: {
          description: "Why not",
          content: {
            "application/json": {
              schema: {
                type: "object",
                properties: {
                  error: {
                    type: "object",
                    properties: { code: { type: "string" }, message: { type: "string" } },
                  },
                },
              },
            },
          },
        },
      },
    },
  };
}
