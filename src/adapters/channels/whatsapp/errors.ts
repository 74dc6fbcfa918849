/**
 * Errors of the Graph API
 * =======================
 * With the disposition that the outbox and the gateway act on, by code:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 * What the server says in words is not repeated: it may hold a number or a token.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { notSentCodes } from "../shared/unsent.ts";
import type { WhatsAppProblem } from "./wire.ts";

/**
 * `send`: a repeat is visible, so an unknown outcome is in doubt. `ask`: may be repeated.
 * `connect`: as `ask`, and a refusal concerns the token.
 */
export type CallKind = "send" | "ask" | "connect";

/** Wait where no Retry-After says otherwise, ms. One person takes a message every 6 s. */
const rateMs: ReadonlyMap<number, number> = new Map([
  [4, 60_000],
  [80_007, 60_000],
  [130_429, 5_000],
  [131_056, 6_000],
  [133_016, 60_000],
]);
const retryAfterSecondsMax = 3_600;

const authCodes: ReadonlySet<number> = new Set([0, 190]);
const passingCodes: ReadonlySet<number> = new Set([1, 2, 131_000, 131_016, 131_057, 133_004]);
const isPermission = (code: number) => code === 3 || code === 10 || (code >= 200 && code <= 299);

/** What the code means for the owner. */
const meanings: ReadonlyMap<number, string> = new Map([
  [
    131_047,
    "more than 24 hours have passed since this person last wrote, and WhatsApp lets a business " +
      "write only within them. The person has to write first",
  ],
  [131_026, "this number cannot get it: it is not on WhatsApp, or has not accepted its terms"],
  [131_030, "this number is not among the recipients of a test number. Add it under API Setup"],
  [131_031, "the business account is locked. See the WhatsApp Manager"],
  [131_042, "the payment method of the business account has a problem. See the WhatsApp Manager"],
  [131_048, "too many people have blocked or reported this number. See its quality rating"],
  [131_049, "WhatsApp chose not to deliver it, to keep the person's trust in businesses"],
  [131_050, "this person does not want marketing messages of this business"],
  [131_051, "this kind of message is not supported"],
  [131_052, "the file that the person sent could not be fetched"],
  [131_053, "the file could not be taken: its type or size is not supported"],
  [133_010, "the phone number is not registered at the Cloud API"],
  [368, "the business account is blocked for a time because of its conduct"],
]);

/** A problem in words, with its code. */
export function problemText(problem: Pick<WhatsAppProblem, "code">): string {
  const { code } = problem;
  return `${meanings.get(code) ?? "it was refused"} (${code})`;
}

export interface Refusal {
  readonly status: number;
  /** Null: the answer is none of the Graph API. */
  readonly code: number | null;
  readonly isTransient: boolean;
  readonly retryAfter: string | undefined;
}

export function refusalError(refusal: Refusal, failed: string, kind: CallKind): EarshotError {
  const { status, code, retryAfter } = refusal;
  const waitMs = code === null ? undefined : rateMs.get(code);
  if (status === 429 || waitMs !== undefined) {
    const seconds = /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) : null;
    const retryAfterMs =
      seconds === null ? (waitMs ?? 5_000) : Math.min(seconds, retryAfterSecondsMax) * 1_000;
    return new EarshotError(
      "EAR_CHANNEL_RATE",
      `${failed}: it asks to wait ${retryAfterMs / 1_000} s (${code ?? status})`,
      { retryAfterMs },
    );
  }
  if ((code === null && status === 401) || (code !== null && authCodes.has(code)))
    return new EarshotError(
      "EAR_CHANNEL_AUTH",
      `${failed}: the access token has expired or was revoked (${code ?? status}). ` +
        "Create one of a system user that does not expire",
    );
  if (code === null)
    return kind === "send" && (status >= 500 || status < 400)
      ? inDoubt(failed, `HTTP ${status}`)
      : status >= 500 || status < 400
        ? new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: its server failed (${status})`)
        : new EarshotError("EAR_CHANNEL_REJECTED", `${failed}: it was refused (HTTP ${status})`);
  if (isPermission(code))
    return new EarshotError(
      kind === "connect" ? "EAR_CHANNEL_AUTH" : "EAR_CHANNEL_REJECTED",
      `${failed}: the access token may not do this (${code}). ` +
        "It needs whatsapp_business_messaging and the business account",
    );
  if (refusal.isTransient || passingCodes.has(code) || status >= 500)
    return new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: its server failed (${code})`);
  // An id that there is not, or that the token may not see (100, 33).
  if (kind === "connect")
    return new EarshotError(
      "EAR_CHANNEL_AUTH",
      `${failed}: there is no such phone number for this token (${code}). Check phoneNumberId`,
    );
  return new EarshotError("EAR_CHANNEL_REJECTED", `${failed}: ${problemText({ code })}`);
}

export const inDoubt = (failed: string, why: string) =>
  new EarshotError(
    "EAR_SEND_IN_DOUBT",
    `${failed}: no answer came, so it may have been sent (${why})`,
  );

/** An error of the HTTP client. */
export function networkError(error: unknown, failed: string, kind: CallKind): EarshotError {
  const cause = error instanceof EarshotError ? error.cause : error;
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  const why = typeof code === "string" ? code : "no answer";
  if (kind === "send" && !notSentCodes.has(why)) return inDoubt(failed, why);
  return new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: the request failed (${why})`);
}
