/**
 * Request bodies
 * ==============
 * A body must be uncompressed, small JSON, or it is refused before parsing: the type by header, the
 * size by counting the bytes that arrive, whatever the headers say. Compressed bodies are refused,
 * because a small one can expand to any size.
 */
import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { MiddlewareHandler } from "hono";
import type { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { ApiRefusal, refuse } from "./api-error.ts";
import type { HttpEnv } from "./auth.ts";
import { createBodyBudget } from "./raw-body.ts";

/** Those who send them have the token: nobody's body is dropped for another's. */
const bodies = createBodyBudget(Number.POSITIVE_INFINITY);
const decoder = new TextDecoder();
const json = "application/json";

/** The type of a JSON body. */
export const onlyJson: MiddlewareHandler<HttpEnv> = async (context, next) => {
  const why = notJson(context.env.incoming);
  return why === null ? next() : refuse(context, "wrong-type", `Cannot read the body: ${why}`);
};

/** Why a body is not read, by what its headers say; null: it is. */
export function notJson({ headers }: IncomingMessage): string | null {
  if ((headers["content-encoding"] ?? "identity") !== "identity")
    return "it is compressed. Send it plain";
  const { "content-type": type = "" } = headers;
  if (type !== json && type.split(";")[0]?.trim().toLowerCase() !== json)
    return `it has another type. Send \`content-type: ${json}\``;
  return null;
}

/**
 * Parses the body by the schema that fits it.
 * @throws ApiRefusal unless it is small and JSON, EarshotError EAR_INBOUND_INVALID naming the wrong
 * path.
 */
export async function parseBody<Parsed>(
  { incoming, outgoing }: Pick<HttpBindings, "incoming" | "outgoing">,
  schemaFor: (value: unknown) => z.ZodType<Parsed>,
): Promise<Parsed> {
  const bytes = await bodies.read(incoming, limits.bodyBytesMax).catch((error: unknown) => {
    // An unread body must not keep the connection open.
    outgoing.setHeader("connection", "close");
    throw error;
  });
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch {
    throw new ApiRefusal("bad-json", "Cannot read the body: it is not JSON");
  }
  const parsed = schemaFor(value).safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = issue?.path.join(".") || "the body";
  throw new EarshotError(
    "EAR_INBOUND_INVALID",
    `Cannot accept the body: ${path} is invalid: ${issue?.message ?? "unexpected value"}`,
  );
}
