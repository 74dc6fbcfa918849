/**
 * Request bodies
 * ==============
 * A body must be uncompressed, small JSON, or it is refused before parsing: the type by header, the
 * size by counting the bytes that arrive, whatever the headers say. Compressed bodies are refused,
 * because a small one can expand to any size.
 */
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { ApiRefusal, refuse } from "./api-error.ts";
import type { HttpEnv } from "./auth.ts";

/** Size and type of a JSON body. */
export const jsonBody: [MiddlewareHandler<HttpEnv>, MiddlewareHandler<HttpEnv>] = [
  async (context, next) => {
    const encoding = context.req.header("content-encoding") ?? "identity";
    const type = (context.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
    if (encoding !== "identity")
      return refuse(context, "wrong-type", "Cannot read the body: it is compressed. Send it plain");
    if (type !== "application/json")
      return refuse(
        context,
        "wrong-type",
        "Cannot read the body: it has another type. Send `content-type: application/json`",
      );
    return next();
  },
  bodyLimit({
    maxSize: limits.bodyBytesMax,
    onError: (context) => {
      context.header("connection", "close");
      return refuse(
        context,
        "too-large",
        `Cannot read the body: it is over ${limits.bodyBytesMax} bytes`,
      );
    },
  }),
];

/**
 * Parses the body by the schema that fits it.
 * @throws ApiRefusal unless it is JSON, EarshotError EAR_INBOUND_INVALID naming the wrong path.
 */
export async function parseBody<Parsed>(
  context: Context,
  schemaFor: (value: unknown) => z.ZodType<Parsed>,
): Promise<Parsed> {
  let value: unknown;
  try {
    value = JSON.parse(await context.req.text());
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
