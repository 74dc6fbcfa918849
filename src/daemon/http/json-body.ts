/**
 * Request bodies
 * ==============
 * A body must be uncompressed, small JSON, or it is refused before parsing: the type by header, the
 * size by counting the bytes that arrive, whatever the headers say. Compressed bodies are refused,
 * because a small one can expand to any size.
 */
import type { Context, MiddlewareHandler } from "hono";
import type { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { ApiRefusal, refuse } from "./api-error.ts";
import type { HttpEnv } from "./auth.ts";
import { createBodyBudget } from "./raw-body.ts";

/** Those who send them have the token: nobody's body is dropped for another's. */
const bodies = createBodyBudget(Number.POSITIVE_INFINITY);
const decoder = new TextDecoder();

/** The type of a JSON body. */
export const onlyJson: MiddlewareHandler<HttpEnv> = async (context, next) => {
  const { headers } = context.env.incoming;
  const encoding = headers["content-encoding"] ?? "identity";
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (encoding !== "identity")
    return refuse(context, "wrong-type", "Cannot read the body: it is compressed. Send it plain");
  if (type !== "application/json")
    return refuse(
      context,
      "wrong-type",
      "Cannot read the body: it has another type. Send `content-type: application/json`",
    );
  return next();
};

/**
 * Parses the body by the schema that fits it.
 * @throws ApiRefusal unless it is small and JSON, EarshotError EAR_INBOUND_INVALID naming the wrong
 * path.
 */
export async function parseBody<Parsed>(
  context: Context<HttpEnv>,
  schemaFor: (value: unknown) => z.ZodType<Parsed>,
): Promise<Parsed> {
  const { incoming, outgoing } = context.env;
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
