/**
 * What signal-cli refuses, with the disposition that the outbox and the gateway act on. The codes are
 * those of JSON-RPC 2.0 and signal-cli's own: -1 a mistake of the caller, -3 input or output failed, -4 an
 * identity that is not trusted, -5 a rate limit, -6 a captcha that was refused. What it says about single
 * recipients is in `data.response.results`. Its messages name people, so none is repeated here.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { notSentCodes } from "../shared/unsent.ts";
import type { WireResult } from "./wire.ts";

/**
 * `send`: a repeat is visible, so an unknown outcome is in doubt. `ask`: may be repeated.
 * `connect`: as `ask`, and a refusal concerns the account.
 */
export type CallKind = "send" | "ask" | "connect";

const waitSecondsMax = 3_600;
const waitSecondsDefault = 60;

const failed = (method: string) => `Cannot ${method} at signal-cli`;

function unknownOutcome(method: string, kind: CallKind, why: string): EarshotError {
  return kind === "send"
    ? new EarshotError(
        "EAR_SEND_IN_DOUBT",
        `${failed(method)}: no clear answer came, so it may have been sent (${why})`,
      )
    : new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed(method)}: it failed (${why})`);
}

const rateError = (method: string, asked: number | null | undefined) => {
  const seconds = Math.max(1, Math.min(asked ?? waitSecondsDefault, waitSecondsMax));
  return new EarshotError(
    "EAR_CHANNEL_RATE",
    `${failed(method)}: Signal asks to wait ${seconds} s`,
    { retryAfterMs: seconds * 1_000 },
  );
};

const refusal = (method: string, kind: CallKind, why: string) =>
  new EarshotError(
    kind === "connect" ? "EAR_CHANNEL_AUTH" : "EAR_CHANNEL_REJECTED",
    `${failed(method)}: ${why}`,
  );

/** A request that got no answer, or one that cannot be read. */
export function brokenCall(error: unknown, method: string, kind: CallKind): EarshotError {
  if (error instanceof EarshotError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "no answer";
  if (notSentCodes.has(code))
    return new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      `${failed(method)}: its daemon does not answer (${code}). Start signal-cli daemon --http`,
    );
  return unknownOutcome(method, kind, code);
}

/** An answer without JSON-RPC in it. */
export function statusError(
  status: number,
  retryAfter: string | undefined,
  method: string,
  kind: CallKind,
): EarshotError {
  const shown = `HTTP ${status}`;
  const asked = Number(retryAfter);
  if (status === 429) return rateError(method, Number.isFinite(asked) ? asked : null);
  if (status === 503)
    return new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed(method)}: it is down (${shown})`);
  if (status >= 400 && status < 500) return refusal(method, kind, `it was refused (${shown})`);
  return unknownOutcome(method, kind, shown);
}

const typesOf = (results: readonly WireResult[]) =>
  new Set(results.map(({ type }) => type ?? "UNKNOWN"));

/** What results say when nobody got the message; null: somebody did, or they say nothing. */
export function failureOf(
  results: readonly WireResult[],
  method: string,
  kind: CallKind,
): EarshotError | null {
  const types = typesOf(results);
  if (types.size === 0 || types.has("SUCCESS")) return null;
  if (types.has("RATE_LIMIT_FAILURE"))
    return rateError(
      method,
      Math.max(...results.map((result) => result.retryAfterSeconds ?? 0)) || null,
    );
  // The request was on its way to Signal: its server may have taken it.
  if (types.has("NETWORK_FAILURE")) return unknownOutcome(method, kind, "the network failed");
  if (types.has("IDENTITY_FAILURE"))
    return refusal(
      method,
      kind,
      "the safety number has changed and is not trusted. Check it, and run signal-cli trust",
    );
  if (types.has("UNREGISTERED_FAILURE"))
    return refusal(method, kind, "the recipient is not registered at Signal");
  return refusal(method, kind, "it could not be encrypted for the recipient");
}

/** An error of JSON-RPC. */
export function rpcError(
  code: number,
  results: readonly WireResult[],
  method: string,
  kind: CallKind,
): EarshotError {
  if (code === -5) {
    const asked = Math.max(0, ...results.map((result) => result.retryAfterSeconds ?? 0));
    return rateError(method, asked || null);
  }
  const known = failureOf(results, method, kind);
  if (known !== null) return known;
  switch (code) {
    case -1:
      return refusal(method, kind === "connect" ? "ask" : kind, "signal-cli refused it (-1)");
    case -4:
      return refusal(
        method,
        kind,
        "the safety number has changed and is not trusted. Check it, and run signal-cli trust",
      );
    case -6:
      return refusal(method, kind, "Signal refused a captcha (-6)");
    case -32_602:
      return refusal(method, kind, "the daemon does not know this account. Register or link it");
    case -32_700:
    case -32_600:
    case -32_601:
      return refusal(method, kind, `the daemon does not understand it (${code})`);
    default:
      return unknownOutcome(method, kind, String(code));
  }
}
