/**
 * Every refusal has the form `{"error": {"code", "message"}}`, and one table maps codes to
 * statuses. Other errors are logged and answered without their text, which may contain a secret.
 */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { EarshotError, type ErrorCode } from "../../domain/errors.ts";
import type { Log } from "../../domain/ports/index.ts";

/** Refusals of the HTTP layer itself, and their status. */
export const refusalStatus = {
  "bad-request": 400,
  "bad-json": 400,
  token: 401,
  signature: 401,
  "foreign-origin": 403,
  "not-found": 404,
  "unknown-path": 404,
  "wrong-method": 405,
  conflict: 409,
  "no-copy": 409,
  "too-slow": 408,
  "too-large": 413,
  "wrong-type": 415,
  "wrong-host": 421,
  locked: 429,
  "too-many": 429,
  "not-ready": 503,
} as const;
export type Refusal = keyof typeof refusalStatus;

/** The status of errors of the runtime; others are 500. */
export const errorStatus: Partial<Record<ErrorCode, ContentfulStatusCode>> = {
  EAR_INBOUND_INVALID: 400,
  EAR_SCENARIO_INVALID: 400,
  EAR_CONFIG_INVALID: 400,
  EAR_CONFIG_UNKNOWN_KEY: 400,
  EAR_CONFIG_UNSAFE: 400,
  EAR_KEY_INVALID: 400,
  EAR_USAGE: 400,
  EAR_INGRESS_FULL: 503,
  EAR_STORE_FAILED: 503,
  EAR_STORE_FULL: 503,
  EAR_STORE_DAMAGED: 503,
  EAR_STATE_LOCKED: 503,
  EAR_HOST_LOST: 503,
  EAR_CHANNEL_UNAVAILABLE: 503,
};

/** Thrown by a handler to answer with a refusal. */
export class ApiRefusal extends Error {
  public override readonly name = "ApiRefusal";
  public readonly code: Refusal;

  constructor(code: Refusal, message: string) {
    super(message);
    this.code = code;
  }
}

const body = (code: string, message: string) => ({ error: { code, message } });

/** What is answered when something cannot be done. */
export interface Failure {
  readonly status: ContentfulStatusCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReturnType<typeof body>;
}

function refusal(code: Refusal, message: string): Failure {
  const headers: Readonly<Record<string, string>> =
    code === "token"
      ? { "www-authenticate": "Bearer" }
      : code === "not-ready"
        ? { "retry-after": "1" }
        : {};
  return { status: refusalStatus[code], headers, body: body(code, message) };
}

/** What is answered for whatever a handler threw. What is our own fault is logged. */
export function failureOf(error: unknown, log: Log): Failure {
  if (error instanceof ApiRefusal) return refusal(error.code, error.message);
  if (error instanceof EarshotError) {
    const status = errorStatus[error.code] ?? 500;
    if (status === 500) log("error", "api.failed", { error });
    const seconds = String(Math.ceil((error.retryAfterMs ?? 1_000) / 1_000));
    const headers: Record<string, string> = status === 503 ? { "retry-after": seconds } : {};
    return { status, headers, body: body(error.code, error.message) };
  }
  log("error", "api.failed", { error: error instanceof Error ? error : String(error) });
  const text = "Cannot answer: internal error. See the log";
  return { status: 500, headers: {}, body: body("internal", text) };
}

function say(context: Context, { status, headers, body: what }: Failure): Response {
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
  return context.json(what, status);
}

export const refuse = (context: Context, code: Refusal, message: string): Response =>
  say(context, refusal(code, message));

/** The answer to a request whose handler threw. */
export const answerError = (error: unknown, context: Context, log: Log): Response =>
  say(context, failureOf(error, log));
