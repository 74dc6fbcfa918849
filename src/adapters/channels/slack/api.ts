/**
 * `@slack/web-api`, for the Slack client
 * ======================================
 * The only module that builds its `WebClient` and reads its errors. Each call has a client of its own,
 * which is cheap, so that each has its own signal: the library has none for one call. Nothing is retried
 * here, and nothing is logged by the library: what it would log has the text of rooms in it.
 *
 * Errors get the disposition that the outbox and the gateway act on. Their names:
 * https://docs.slack.dev/reference/methods/chat.postMessage#errors. What a server says is shown only
 * where it is such a name.
 */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import {
  type Logger,
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
} from "@slack/web-api";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { fetchNotSentCodes } from "../shared/unsent.ts";
import type { SlackAccountConfig } from "./config.ts";
import { type CallKind, SlackRefusal } from "./refusals.ts";

export interface SlackApi {
  /**
   * Calls a method of the Web API.
   * @throws EarshotError with the disposition that fits `kind`
   */
  call(
    method: string,
    args: Readonly<Record<string, unknown>>,
    options: { readonly kind: CallKind; readonly signal: AbortSignal },
  ): Promise<unknown>;
}

const nothing = () => undefined;

/** A log that keeps nothing. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  setName: nothing,
  getLevel: () => LogLevel.ERROR,
};

type Address = string | URL | Request;

/**
 * A request on a connection of its own, for sends: on one that the other side has just closed it would
 * be in doubt whether anything was sent.
 */
async function post(url: Address, init: RequestInit = {}, signal: AbortSignal): Promise<Response> {
  const { body, headers } = init;
  const open = String(url).startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const options = { method: "POST", headers: headers as Record<string, string>, agent: false };
    const request = open(String(url), { ...options, signal }, (answer) => {
      const { statusCode: status = 0, headers: given } = answer;
      const received = new Headers();
      for (const [name, value] of Object.entries(given)) received.set(name, String(value));
      const stream = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
      resolve(capped(new Response(stream, { status, headers: received })));
    });
    request.on("error", reject);
    request.end(typeof body === "string" ? body : undefined);
  });
}

/** What every client of the account has; `signal` ends its calls. */
export const clientOptions = ({ apiRoot }: SlackAccountConfig, signal: AbortSignal) => ({
  slackApiUrl: apiRoot,
  logger: silentLogger,
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
  allowAbsoluteUrls: false,
  fetch: async (url: Address, init?: RequestInit) =>
    capped(await fetch(url, { ...init, redirect: "error", signal })),
});

/** The same answer, which fails when it is larger than any of Slack's. */
function capped(response: Response): Response {
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      bytes += part.length;
      if (bytes > limits.platformAnswerBytesMax) controller.error(new Error("too large"));
      else controller.enqueue(part);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body?.pipeThrough(limit) ?? null, { status, statusText, headers });
}

export function openSlackApi(config: SlackAccountConfig): SlackApi {
  return {
    async call(method, args, { kind, signal }) {
      try {
        const options = clientOptions(config, signal);
        const once = {
          ...options,
          fetch: (url: Address, init?: RequestInit) => post(url, init, signal),
        };
        const client = new WebClient(config.botToken, kind === "send" ? once : options);
        return await client.apiCall(method, { ...args });
      } catch (error) {
        throw slackError(error, method, kind);
      }
    },
  };
}

const retryAfterSecondsMax = 3_600;
const retryAfterSecondsDefault = 5;

/** The token or the app is no longer valid (errors common to all methods). */
const authErrors: ReadonlySet<string> = new Set([
  ...["invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"],
  ...["org_login_required", "not_allowed_token_type", "user_removed_from_team", "team_disabled"],
  ...["two_factor_setup_required", "app_uninstalled", "invalid_app_id", "forbidden_team"],
]);
/** It was not done, and may be later. */
const laterErrors: ReadonlySet<string> = new Set([
  ...["service_unavailable", "request_timeout", "team_added_to_org", "connection_limit_reached"],
  ...["too_many_websockets"],
]);
/** "Some aspect of the operation may have succeeded before the error was raised." */
const halfDoneErrors: ReadonlySet<string> = new Set(["fatal_error", "internal_error"]);

/** Converts what a call of the library was rejected with. */
export function slackError(error: unknown, method: string, kind: CallKind): EarshotError {
  if (error instanceof EarshotError) return error;
  const failed = `Cannot ${method} at Slack`;
  if (error instanceof WebAPIRateLimitedError) return rateError(failed, error.retryAfter);
  if (error instanceof WebAPIPlatformError) return refusal(error, failed, kind);
  if (error instanceof WebAPIHTTPError) {
    if (error.statusCode === 401 || error.statusCode === 403)
      return new SlackRefusal(
        kind === "connect" ? "EAR_CHANNEL_AUTH" : "EAR_CHANNEL_REJECTED",
        `${failed}: it was refused (HTTP ${error.statusCode})`,
        `http_${error.statusCode}`,
      );
    const why = `its server failed (HTTP ${error.statusCode})`;
    // Only 503 says that nothing was done.
    if (kind === "send" && error.statusCode !== 503) return inDoubt(failed, why);
    return new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: ${why}`);
  }
  const cause = error instanceof WebAPIRequestError ? error.original : error;
  const why = failureName(cause);
  if (kind === "send" && !fetchNotSentCodes.has(why)) return inDoubt(failed, why);
  return new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: the request failed (${why})`);
}

const inDoubt = (failed: string, why: string) =>
  new EarshotError(
    "EAR_SEND_IN_DOUBT",
    `${failed}: no answer came, so it may have been sent (${why})`,
  );

function rateError(failed: string, retryAfter: number | undefined): EarshotError {
  const asked = retryAfter ?? retryAfterSecondsDefault;
  const seconds = Math.max(1, Math.min(asked, retryAfterSecondsMax));
  return new EarshotError("EAR_CHANNEL_RATE", `${failed}: it asks to wait ${seconds} s`, {
    retryAfterMs: seconds * 1_000,
  });
}

function refusal({ data }: WebAPIPlatformError, failed: string, kind: CallKind): EarshotError {
  const { error: name, response_metadata: metadata } = data;
  // An answer that is no JSON is put there as it is, a proxy's page for example.
  if (typeof name !== "string" || !/^[a-zA-Z_]{1,64}$/.test(name)) {
    const why = "the answer is not Slack's";
    return kind === "send"
      ? inDoubt(failed, why)
      : new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: ${why}`);
  }
  if (name === "ratelimited" || name === "rate_limited")
    return rateError(failed, metadata?.retryAfter);
  if (laterErrors.has(name) || (halfDoneErrors.has(name) && kind !== "send"))
    return new EarshotError("EAR_CHANNEL_UNAVAILABLE", `${failed}: its server failed (${name})`);
  if (halfDoneErrors.has(name)) return inDoubt(failed, name);
  if (authErrors.has(name))
    return new SlackRefusal(
      "EAR_CHANNEL_AUTH",
      `${failed}: the token was refused (${name}). Use the current one from the app's settings`,
      name,
    );
  if (name === "missing_scope") {
    const { needed } = data as { needed?: unknown };
    const scope =
      typeof needed === "string" && /^[a-z:_.,\- ]{1,200}$/.test(needed) ? needed : "unknown";
    return new SlackRefusal(
      kind === "connect" ? "EAR_CHANNEL_AUTH" : "EAR_CHANNEL_REJECTED",
      `${failed}: the scope ${scope} is missing. Add it under OAuth & Permissions and reinstall the app`,
      name,
    );
  }
  return new SlackRefusal(
    kind === "connect" ? "EAR_CHANNEL_AUTH" : "EAR_CHANNEL_REJECTED",
    `${failed}: it was refused (${name})`,
    name,
  );
}

/** A code or kind of failure, never a message: a failed fetch has its code in its cause. */
function failureName(cause: unknown): string {
  for (let at: unknown = cause, depth = 0; depth < 3; depth += 1) {
    if (typeof at !== "object" || at === null) break;
    if ("code" in at && typeof at.code === "string") return at.code;
    if (!("cause" in at) || at.cause === undefined)
      return at instanceof Error && depth === 0 ? at.name : "unknown";
    at = at.cause;
  }
  return "unknown";
}
