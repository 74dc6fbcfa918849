/**
 * A route of the API declares its method, path, parameters, body and answer once, as zod schemas.
 * The declaration checks requests, types answers, and is the route's entry in the OpenAPI document. Handlers get parsed values and return the answer.
 */
import type { Context, Hono, MiddlewareHandler } from "hono";
import { z } from "zod";
import type { DeepReadonly } from "../api-types/schema.ts";
import { ApiRefusal, type Refusal } from "./api-error.ts";
import type { HttpEnv } from "./auth.ts";
import { onlyJson, parseBody } from "./json-body.ts";

/** An answer other than JSON. `each`: the form of one event, or of one line. */
export interface RawAnswer {
  readonly contentType: "text/event-stream" | "application/x-ndjson" | "application/octet-stream";
  readonly each?: z.ZodType;
}

type Fields = z.ZodObject;
/** Schema or nothing. */
type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
export interface Endpoint<
  Params extends Fields | undefined = Fields | undefined,
  Query extends Fields | undefined = Fields | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Answer extends z.ZodType | RawAnswer = z.ZodType | RawAnswer,
> {
  readonly method: "get" | "post" | "patch" | "delete";
  /** With `:name` for parameters. */
  readonly path: string;
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  /** A JSON body. */
  readonly body?: Body;
  /** Selects the member of `body` that fits, so that an error names the path inside it. */
  readonly bodyFor?: (value: unknown) => z.ZodType<Parsed<Body>>;
  /** Content type of a body that the handler reads itself. */
  readonly rawBody?: string;
  readonly answer: Answer;
  /** Refusals beyond the missing token. */
  readonly refuses?: readonly Refusal[];
}

interface Request<Params, Query, Body> {
  readonly context: Context<HttpEnv>;
  readonly params: Parsed<Params>;
  readonly query: Parsed<Query>;
  readonly body: Parsed<Body>;
}

type Answered<Answer> = Answer extends z.ZodType ? DeepReadonly<z.input<Answer>> : Response;

export interface Endpoints {
  readonly app: Hono<HttpEnv>;
  /** Everything declared so far. */
  readonly declared: readonly Endpoint[];
  add<
    Params extends Fields | undefined,
    Query extends Fields | undefined,
    Body extends z.ZodType | undefined,
    Answer extends z.ZodType | RawAnswer,
  >(
    endpoint: Endpoint<Params, Query, Body, Answer>,
    handle: (request: Request<Params, Query, Body>) => Answered<Answer> | Promise<Answered<Answer>>,
  ): void;
}

/**
 * @param guardStream is passed by answers that stay open
 * @param noCopy why conversations cannot be read here, for routes that refuse with `no-copy`; null: they can
 */
export function createEndpoints(
  app: Hono<HttpEnv>,
  guardStream: MiddlewareHandler<HttpEnv>,
  noCopy: () => string | null,
): Endpoints {
  const declared: Endpoint[] = [];
  return {
    app,
    declared,
    add(endpoint, handle) {
      declared.push(endpoint as unknown as Endpoint);
      const { method, path, params, query, body, bodyFor, answer } = endpoint;
      const readsAll = endpoint.refuses?.includes("no-copy") === true;
      const answerOf = async (context: Context<HttpEnv>): Promise<Response> => {
        const missing = readsAll ? noCopy() : null;
        if (missing !== null) throw new ApiRefusal("no-copy", missing);
        const result = await handle({
          context,
          params: fieldsOf(params, context.req.param(), "path") as never,
          query: fieldsOf(query, context.req.query(), "query") as never,
          body: (body === undefined
            ? undefined
            : await parseBody(context.env, bodyFor ?? (() => body))) as never,
        });
        return "contentType" in answer ? (result as Response) : context.json(result as object);
      };
      if ("contentType" in answer && answer.contentType === "text/event-stream")
        app.on(method, path, guardStream);
      if (body === undefined) app.on(method, path, answerOf);
      else app.on(method, path, onlyJson, answerOf);
    },
  };
}

/** @throws ApiRefusal that names the field. */
function fieldsOf(
  schema: Fields | undefined,
  values: Readonly<Record<string, string>>,
  place: "path" | "query",
): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const { path = [], message = "" } = parsed.error.issues[0] ?? {};
  throw new ApiRefusal(
    "bad-request",
    `Cannot read ${path.join(".") || "it"} of the ${place}: ${message}`,
  );
}

/** A whole number of a path or a query; larger ones count as `max`. */
export const wholeNumber = (max: number = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d{1,16}$/u, "a whole number is expected")
    .transform((text) => Math.min(Number(text), max));

/** Yes or no. Another word is refused: `redact=yes` must not answer what is not redacted. */
export const flag = z
  .enum(["1", "0", "true", "false"], "1 or 0 is expected")
  .transform((text) => text === "1" || text === "true");
