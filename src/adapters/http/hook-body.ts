/**
 * JSON bodies of hooks
 * ====================
 * Parsed only after the bytes were verified. Invalid UTF-8 is refused instead of replaced: two ids
 * that differ in a broken byte must not become equal.
 */
import type { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";

/**
 * Parses the body by the schema chosen for it.
 * @throws EarshotError EAR_INBOUND_INVALID with the path that is wrong.
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
  throw invalid(`${path} is invalid: ${issue?.message ?? "not what was expected"}`);
}

/**
 * Parses JSON.
 * @throws EarshotError EAR_INBOUND_INVALID for invalid UTF-8 or JSON.
 */
export function hookJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw invalid("it is not JSON in UTF-8");
  }
}

const invalid = (why: string) =>
  new EarshotError("EAR_INBOUND_INVALID", `Cannot accept the body: ${why}`);
