/**
 * Converts what matrix-js-sdk throws, with the disposition that the outbox and the gateway act on. The
 * original error is dropped on purpose: it names the request. Codes:
 * https://spec.matrix.org/v1.15/client-server-api/#common-error-codes.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { redactSecrets } from "../../../domain/redact-secrets.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { notSentCodes, UnsentError } from "../shared/unsent.ts";

/**
 * `connect`: a refusal concerns the account. `look`: about one thing, so a proxy's refusal is one of it, too:
 * some take no id with a slash. Every call may be repeated: sends carry an id.
 */
export type CallKind = "call" | "connect" | "look";

/** The homeserver understood the request and said no. */
export class MatrixRefusedError extends EarshotError {
  /** Such as M_FORBIDDEN; empty: it named none. */
  readonly errcode: string;

  constructor(errcode: string, message: string) {
    super("EAR_CHANNEL_REJECTED", message);
    this.errcode = errcode;
  }
}

const waitMsMax = 3_600_000;
const waitMsDefault = 5_000;

/** Codes that stay until a person changes something about the account. */
const loginCodes: ReadonlySet<string> = new Set([
  ...["M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED"],
]);

const advice: Readonly<Record<string, string>> = {
  M_FORBIDDEN: ". Let the bot write in this room",
  M_TOO_LARGE: ". The homeserver takes no message of this size",
};

/** @param token is redacted in case the homeserver repeats it. */
export function matrixError(
  error: unknown,
  what: string,
  kind: CallKind,
  token: string,
): EarshotError {
  if (error instanceof EarshotError && !error.code.startsWith("EAR_HTTP_")) return error;
  const failed = `Cannot ${what} at the Matrix homeserver`;
  const status = field(error, "httpStatus");
  if (typeof status !== "number") {
    const why = failureName(error);
    const Kind = notSentCodes.has(why) ? UnsentError : EarshotError;
    return new Kind("EAR_CHANNEL_UNAVAILABLE", `${failed}: the request failed (${why})`);
  }
  const errcode = String(field(error, "errcode") ?? "")
    .replace(/[^\w.]/g, "")
    .slice(0, 64);
  if (status === 429 || errcode === "M_LIMIT_EXCEEDED") {
    const retryAfterMs = waitOf(error);
    return new EarshotError("EAR_CHANNEL_RATE", `${failed}: it asks to wait ${retryAfterMs} ms`, {
      retryAfterMs,
    });
  }
  const said = oneLine(String(field(field(error, "data"), "error") ?? ""), 200);
  const answer = redactSecrets([status, errcode, said].filter((part) => part !== "").join(" "), [
    token,
  ]);
  if (loginCodes.has(errcode) || (status === 401 && errcode !== ""))
    return new EarshotError(
      "EAR_CHANNEL_AUTH",
      `${failed}: the access token was refused (${answer}). Log the bot in again, and use its new token`,
    );
  if (errcode === "" && kind === "connect" && status < 500)
    return new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      `${failed}: nothing of Matrix is at this address (${answer}). Use the one that the domain names ` +
        "in /.well-known/matrix/client",
    );
  const isRefusal = status >= 400 && status < 500 && (errcode !== "" || kind === "look");
  if (!isRefusal)
    return new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: it failed (${answer})`);
  return new MatrixRefusedError(
    errcode,
    `${failed}: it was refused (${answer})${advice[errcode] ?? ""}`,
  );
}

/** ms: what the answer asks for (its `retry_after_ms`, or the header Retry-After). */
function waitOf(error: unknown): number {
  const inBody = field(field(error, "data"), "retry_after_ms");
  const headers = field(error, "httpHeaders");
  const seconds = headers instanceof Headers ? Number(headers.get("retry-after")) : 0;
  const inHeader = Number.isFinite(seconds) ? seconds * 1_000 : 0;
  const asked = typeof inBody === "number" ? inBody : inHeader || waitMsDefault;
  return Math.min(waitMsMax, Math.max(1, Math.ceil(asked)));
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** A code or kind of failure, never a message of somebody else's. */
function failureName(error: unknown): string {
  // A redirect, or an answer that is too large.
  if (error instanceof EarshotError && error.code === "EAR_HTTP_REFUSED")
    return error.message.replace(/^[^:]*: /, "");
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; depth += 1) {
    const code = field(at, "code");
    if (typeof code === "string" && !code.startsWith("EAR_")) return code;
    at = at.cause;
  }
  return error instanceof Error ? error.name : "unknown";
}
