/**
 * What a hook was posted, as JSON
 * ===============================
 * Only after the bytes were verified. Bytes that are no UTF-8 are refused instead of being mended:
 * two ids that differ in a broken byte must not become one.
 */
import type { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";

/**
 * The body by the schema that fits it.
 * @throws EarshotError EAR_INBOUND_INVALID naming the path that is wrong.
 */
export function readHookBody<Parsed>(
  body: Uint8Array,
  schemaFor: (value: unknown) => z.ZodType<Parsed>,
): Parsed {
  const value = hookJson(body);
  const parsed = schemaFor(value).safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join(".") || "it";
  throw invalid(`${path} is wrong: ${issue?.message ?? "not what was expected"}`);
}

/** @throws EarshotError EAR_INBOUND_INVALID for what is no UTF-8 or no JSON. */
export function hookJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw invalid("it is no JSON in UTF-8");
  }
}

const invalid = (why: string) =>
  new EarshotError("EAR_INBOUND_INVALID", `Cannot take the body as ${why}`);
