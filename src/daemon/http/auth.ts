/**
 * Checks of every request
 * =======================
 * A request must have a known Host, no foreign Origin and a plain path, and for the API the current
 * bearer token of the token file. A token in the query is ignored, because addresses
 * end up in logs and histories.
 */
import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Context, MiddlewareHandler } from "hono";
import type { Clock } from "../../domain/ports/index.ts";
import { sameSecret, type TokenReader } from "../state/token.ts";
import { hostOf, type KnownHosts } from "./allowed-hosts.ts";
import { refuse } from "./api-error.ts";
import type { ClientAddresses } from "./client-address.ts";
import { onTokenChange } from "./token-watch.ts";

export interface HttpEnv {
  Bindings: HttpBindings;
}

/** Host, Origin and the form of the path. */
export function guardHost(known: () => KnownHosts): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const code = strange(context.env.incoming, known());
    return code === null ? next() : refuse(context, code, strangeTexts[code]);
  };
}

const strangeTexts = {
  "wrong-host": "Cannot answer: this server does not have that Host name",
  "bad-request": "Cannot answer: the path is not a plain path",
  "foreign-origin": "Cannot answer: the request comes from another site (wrong Origin)",
} as const;

/** Why a request is refused whatever it asks for, by Host, Origin and the form of its path; null: it is not. */
export function strange(
  incoming: IncomingMessage,
  known: KnownHosts,
): keyof typeof strangeTexts | null {
  const { headers, url } = incoming;
  if (!known.host(hostOf(incoming))) return "wrong-host";
  if (url === undefined || !url.startsWith("/") || url.startsWith("//")) return "bad-request";
  if (!known.origin(joined(headers.origin)) || headers["sec-fetch-site"] === "cross-site")
    return "foreign-origin";
  return null;
}

const joined = (header: string | string[] | undefined) =>
  Array.isArray(header) ? header.join(",") : header;

/** Whether the request carries the current token. */
export const hasToken = (context: Context, read: TokenReader): Promise<boolean> =>
  isToken(context.req.header("authorization"), read);

/** Whether an Authorization header is the current token. */
export async function isToken(header = "", read: TokenReader): Promise<boolean> {
  // Schemes are case-insensitive (RFC 9110, 11.1).
  if (!/^bearer /iu.test(header)) return false;
  const token = await read().catch(() => null);
  return token !== null && sameSecret(header.slice("Bearer ".length), token);
}

/** Requires the token. */
export function guardToken(read: TokenReader): MiddlewareHandler<HttpEnv> {
  return async (context, next) =>
    (await hasToken(context, read))
      ? next()
      : refuse(
          context,
          "token",
          "Cannot answer: the token is missing or wrong. Send `Authorization: Bearer <token>`; the token " +
            "is in the file `token` of the state directory",
        );
}

/**
 * Ends a stream when the token that opened it is no longer the current one.
 */
export function guardStreams(read: TokenReader, clock: Clock): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    await next();
    const { outgoing } = context.env;
    const type = context.res.headers.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream") || outgoing.destroyed) return;
    const off = onTokenChange(read, clock, () => {
      void hasToken(context, read).then((still) => still || outgoing.destroy());
    });
    outgoing.once("close", off);
  };
}

/** Requires the token, except from programs on this machine. */
export function guardLocalOrToken(
  read: TokenReader,
  clients: ClientAddresses,
): MiddlewareHandler<HttpEnv> {
  const token = guardToken(read);
  return async (context, next) =>
    clients.isHere(context.env.incoming) ? next() : token(context, next);
}
