/**
 * Telegram errors
 * ===============
 * grammY's two error kinds as ours, with the disposition the outbox and the poll loop act on. The
 * original error is dropped on purpose: a failed fetch carries the URL, and the URL carries the
 * token.
 */
import { GrammyError, HttpError } from "grammy";
import { EarshotError } from "../../../domain/errors.ts";
import { redactSecrets } from "../../../domain/redact-secrets.ts";

/**
 * `send`: doing it twice shows, so an unknown end is in doubt. `ask`: may be repeated freely.
 * `connect`: as `ask`, and a refusal means the token.
 */
export type CallKind = "send" | "ask" | "connect";

const retryAfterSecondsMax = 3_600;

/** The request never left: nothing can have happened at the other end. */
const notSentCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** @param token is removed should the platform ever repeat it in a description. */
export function telegramError(
  error: unknown,
  method: string,
  kind: CallKind,
  token: string,
): EarshotError {
  if (error instanceof EarshotError) return error;
  const cannot = `Cannot ${method} at Telegram`;
  if (error instanceof GrammyError) return refusal(error, cannot, kind, token);
  const cause: unknown = error instanceof HttpError ? error.error : error;
  const why = failureName(cause);
  if (kind === "send" && !notSentCodes.has(why))
    return new EarshotError("EAR_SEND_IN_DOUBT", `${cannot} for sure as no answer came (${why})`);
  return new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${cannot} as the request failed (${why})`);
}

function refusal(error: GrammyError, cannot: string, kind: CallKind, token: string): EarshotError {
  const told = redactSecrets(`${error.error_code} ${error.description}`, [token]);
  switch (error.error_code) {
    case 429: {
      const seconds = Math.min(error.parameters.retry_after ?? 5, retryAfterSecondsMax);
      return new EarshotError("EAR_CHANNEL_RATE", `${cannot} as it asks to wait ${seconds} s`, {
        retryAfterMs: seconds * 1_000,
      });
    }
    case 401:
    case 404:
      return new EarshotError(
        "EAR_CHANNEL_AUTH",
        `${cannot} as the bot token was refused (${told}): take the current one from @BotFather`,
      );
    case 403:
      return new EarshotError(
        kind === "connect" ? "EAR_CHANNEL_AUTH" : "EAR_CHANNEL_REJECTED",
        `${cannot} as the bot may not do this here (${told})`,
      );
    case 409:
      return new EarshotError(
        "EAR_CHANNEL_UNAVAILABLE",
        `${cannot} as someone else receives this bot's updates (${told})`,
      );
    case 400: {
      const moved = error.parameters.migrate_to_chat_id;
      const why =
        moved === undefined
          ? `it was refused (${told})`
          : `the group became a supergroup: list it as ${moved} from now on`;
      return new EarshotError("EAR_CHANNEL_REJECTED", `${cannot} as ${why}`);
    }
    default:
      return error.error_code >= 500
        ? new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${cannot} as it failed there (${told})`)
        : new EarshotError("EAR_CHANNEL_REJECTED", `${cannot} as it was refused (${told})`);
  }
}

/** A code or kind of failure, never a message. */
function failureName(cause: unknown): string {
  if (typeof cause !== "object" || cause === null) return "unknown";
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  if ("type" in cause && typeof cause.type === "string") return cause.type;
  return cause instanceof Error ? cause.name : "unknown";
}
