/**
 * Converts what discord.js throws, with the disposition that the outbox and the gateway act on. The
 * original error is dropped on purpose: it contains the whole request. Codes:
 * https://discord.com/developers/docs/topics/opcodes-and-status-codes.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { redactSecrets } from "../../../domain/redact-secrets.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { fetchNotSentCodes, UnsentError } from "../shared/unsent.ts";

/** `connect`: a refusal concerns the token. Every call may be repeated: sends carry a nonce. */
export type CallKind = "call" | "connect";

/** Discord understood the request and said no. */
export class DiscordRefusedError extends EarshotError {
  /** Discord's own number of the reason; null: it named none. */
  readonly reason: number | null;

  constructor(reason: number | null, message: string) {
    super("EAR_CHANNEL_REJECTED", message);
    this.reason = reason;
  }
}

const waitMsMax = 3_600_000;

/** @param token is redacted in case the platform repeats it. */
export function discordError(
  error: unknown,
  what: string,
  kind: CallKind,
  token: string,
): EarshotError {
  if (error instanceof EarshotError) return error;
  const failed = `Cannot ${what} at Discord`;
  const wait = waitOf(error);
  if (wait !== null) {
    const retryAfterMs = Math.min(waitMsMax, Math.max(1, Math.ceil(wait)));
    return new EarshotError("EAR_CHANNEL_RATE", `${failed}: it asks to wait ${retryAfterMs} ms`, {
      retryAfterMs,
    });
  }
  const status = field(error, "status");
  if (typeof status !== "number") {
    const why = failureName(error);
    const Kind = fetchNotSentCodes.has(why) ? UnsentError : EarshotError;
    return new Kind("EAR_CHANNEL_UNAVAILABLE", `${failed}: the request failed (${why})`);
  }
  const code = field(error, "code");
  const message = error instanceof Error ? oneLine(error.message, 200) : "";
  const answer = redactSecrets(
    [status, typeof code === "number" ? code : "", message].filter((part) => part !== "").join(" "),
    [token],
  );
  if (status === 401)
    return new EarshotError(
      "EAR_CHANNEL_AUTH",
      `${failed}: the bot token was refused (${answer}). Use the current one of the Developer Portal, under Bot`,
    );
  if (status >= 500 || kind === "connect")
    return new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: its server failed (${answer})`);
  return new DiscordRefusedError(
    typeof code === "number" ? code : null,
    `${failed}: it was refused (${answer})${status === 403 ? ". Give the bot the permission in this channel" : ""}`,
  );
}

/** Whether it says that the thing is not there or not for this bot. */
export const isRejected = (error: unknown): boolean =>
  error instanceof EarshotError && error.code === "EAR_CHANNEL_REJECTED";

/** discord.js's RateLimitError: ms to wait. */
function waitOf(error: unknown): number | null {
  const after = field(error, "retryAfter");
  if (typeof after !== "number" || field(error, "route") === undefined) return null;
  const reset = field(error, "timeToReset");
  return after > 0 ? after : typeof reset === "number" ? reset : 1_000;
}

function field(error: unknown, name: string): unknown {
  return typeof error === "object" && error !== null
    ? (error as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** A code or kind of failure, never a message. */
function failureName(error: unknown): string {
  const code = field(error, "code") ?? field(field(error, "cause"), "code");
  if (typeof code === "string") return code;
  return error instanceof Error ? error.name : "unknown";
}

const portal = "https://discord.com/developers/applications";

/** Why the gateway will not have the bot back; null: it may be tried again. */
export function refusalOf(closeCode: number): EarshotError | null {
  const failed = "Cannot log in to Discord";
  switch (closeCode) {
    case 4004:
      return new EarshotError(
        "EAR_CHANNEL_AUTH",
        `${failed}: the bot token was refused (4004). Use the current one of the Developer Portal, under Bot`,
      );
    case 4014:
      return new EarshotError(
        "EAR_CHANNEL_AUTH",
        `${failed}: the bot may not have the intent MESSAGE CONTENT (4014). Turn on "Message Content ` +
          `Intent" at ${portal} under Bot, or set messageContent to false`,
      );
    case 4013:
    case 4012:
    case 4010:
      return new EarshotError(
        "EAR_CHANNEL_CONFIG",
        `${failed}: it does not take this version of earshot (${closeCode}). Install a newer one`,
      );
    case 4011:
      return new EarshotError(
        "EAR_CHANNEL_CONFIG",
        `${failed}: the bot is in too many servers for one connection (4011). Run a bot of its own for some of them`,
      );
    default:
      return null;
  }
}
