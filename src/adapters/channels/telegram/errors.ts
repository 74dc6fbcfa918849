/**
 * Converts grammY's two kinds of errors, with the disposition that the outbox and the poll loop act
 * on. The original error is dropped on purpose: a failed fetch contains the URL, and the URL
 * contains the token.
 */
import type { GrammyError, HttpError } from "grammy";
import { EarshotError } from "../../../domain/errors.ts";
import { redactSecrets } from "../../../domain/redact-secrets.ts";
import { notSentCodes } from "../shared/unsent.ts";
import { GroupMigratedError, TopicGoneError } from "./chats.ts";

/**
 * `send`: a repeat is visible, so an unknown outcome is in doubt. `ask`: may be repeated.
 * `connect`: as `ask`, and a refusal concerns the token.
 */
export type CallKind = "send" | "ask" | "connect";

const retryAfterSecondsMax = 3_600;

/**
 * Converts an error.
 * @param token is redacted in case the platform repeats it.
 */
export function telegramError(
  error: unknown,
  method: string,
  kind: CallKind,
  token: string,
): EarshotError {
  if (error instanceof EarshotError) return error;
  const failed = `Cannot ${method} at Telegram`;
  if (isNamed<GrammyError>(error, "GrammyError")) return refusal(error, failed, kind, token);
  const cause: unknown = isNamed<HttpError>(error, "HttpError") ? error.error : error;
  const why = failureName(cause);
  if (kind === "send" && !notSentCodes.has(why))
    return new EarshotError(
      "EAR_SEND_IN_DOUBT",
      `${failed}: no answer came, so it may have been sent (${why})`,
    );
  return new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: the request failed (${why})`);
}

function refusal(error: GrammyError, failed: string, kind: CallKind, token: string): EarshotError {
  const answer = redactSecrets(`${error.error_code} ${error.description}`, [token]);
  switch (error.error_code) {
    case 429: {
      const seconds = Math.min(error.parameters.retry_after ?? 5, retryAfterSecondsMax);
      return new EarshotError("EAR_CHANNEL_RATE", `${failed}: it asks to wait ${seconds} s`, {
        retryAfterMs: seconds * 1_000,
      });
    }
    case 401:
    case 404:
      return new EarshotError(
        "EAR_CHANNEL_AUTH",
        `${failed}: the bot token was refused (${answer}). Use the current one from @BotFather`,
      );
    case 403:
      return new EarshotError(
        kind === "connect" ? "EAR_CHANNEL_AUTH" : "EAR_CHANNEL_REJECTED",
        `${failed}: the bot may not do this here (${answer})`,
      );
    case 409:
      return new EarshotError(
        "EAR_CHANNEL_UNAVAILABLE",
        `${failed}: another program receives this bot's updates (${answer})`,
      );
    case 400: {
      const moved = error.parameters.migrate_to_chat_id;
      if (moved !== undefined)
        return new GroupMigratedError(`${failed}: the group became the supergroup ${moved}`, moved);
      const refused = `${failed}: it was refused (${answer})`;
      return /message thread not found/i.test(error.description)
        ? new TopicGoneError(refused)
        : new EarshotError("EAR_CHANNEL_REJECTED", refused);
    }
    default:
      return error.error_code >= 500
        ? new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: its server failed (${answer})`)
        : new EarshotError("EAR_CHANNEL_REJECTED", `${failed}: it was refused (${answer})`);
  }
}

/** By name: a bot that earshot was added to brings a grammY of its own, with classes of its own. */
const isNamed = <Kind extends Error>(error: unknown, name: string): error is Kind =>
  error instanceof Error && error.name === name;

/** A code or kind of failure, never a message. */
function failureName(cause: unknown): string {
  if (typeof cause !== "object" || cause === null) return "unknown";
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  if ("type" in cause && typeof cause.type === "string") return cause.type;
  return cause instanceof Error ? cause.name : "unknown";
}
