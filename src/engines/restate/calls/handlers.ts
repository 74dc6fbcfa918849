/** What the handlers of all virtual objects have in common. */
import type { ZodType } from "zod";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { oneLine } from "../../../domain/sanitize.ts";

/** Restate's SDK: its caller has loaded it, as it is an optional package. */
export type Sdk = typeof import("@restatedev/restate-sdk");

/** Restate stores the reason of a refusal. */
const reasonUnitsMax = 500;

/** The answer to a call that does not fit: it is not made again, as it stays wrong. */
export const refusal = (sdk: Sdk, why: string) =>
  new sdk.TerminalError(`Cannot take the call: ${oneLine(why, reasonUnitsMax)}`, {
    errorCode: 400,
  });

/** Reads what a handler is given. @throws TerminalError: it is of a wrong form. */
export function parsed<Output>(sdk: Sdk, schema: ZodType<Output>, input: unknown): Output {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [first] = result.error.issues;
  throw refusal(sdk, `${first?.path.map(String).join(".") || "its input"}: ${first?.message}`);
}

/**
 * Options of an object whose calls are short. One that no node answers is made until one does: after 70 attempts, a
 * minute, Restate would leave it until somebody resumes it, and with it all that wait behind it.
 */
export const shortCalls = {
  retryPolicy: {
    initialInterval: 50,
    exponentiationFactor: 2,
    maxInterval: 1_000,
    maxAttempts: engineLimits.attemptsMax,
  },
  // A node that stands still in the middle of a call must not keep the object from the others.
  inactivityTimeout: 1_000,
  abortTimeout: 2_000,
  journalRetention: 0,
  // Restate gives a key to each call from outside, and would keep its answer for a day.
  idempotencyRetention: 0,
} as const;
