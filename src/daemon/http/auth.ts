/**
 * Checks of every request
 * =======================
 * A request must have one of our Hosts, no foreign Origin and a plain path, and for the API the
 * bearer token that is in the token file now. A token in the query is ignored, because addresses
 * end up in logs and histories.
 */
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
    const { headers, url } = context.env.incoming;
    if (!known().host(hostOf(context.env.incoming)))
      return refuse(context, "wrong-host", "Cannot answer: this server does not go by that Host");
    if (url === undefined || !url.startsWith("/") || url.startsWith("//"))
      return refuse(context, "bad-request", "Cannot answer: the path is not a plain path");
    if (!known().origin(joined(headers.origin)) || headers["sec-fetch-site"] === "cross-site")
      return refuse(context, "foreign-origin", "Cannot answer: another site asks (wrong Origin)");
    return next();
  };
}

const joined = (header: string | string[] | undefined) =>
  Array.isArray(header) ? header.join(",") : header;

/** Whether the request carries the current token. */
export async function hasToken(context: Context, read: TokenReader): Promise<boolean> {
  const header = context.req.header("authorization") ?? "";
  // Schemes have no case (RFC 9110, 11.1).
  if (!/^bearer /iu.test(header)) return false;
  const token = await read().catch(() => null);
  return token !== null && sameSecret(header.slice("Bearer ".length), token);
}

/** Lets only bearers of the token on. */
export function guardToken(read: TokenReader): MiddlewareHandler<HttpEnv> {
  return async (context, next) =>
    (await hasToken(context, read))
      ? next()
      : refuse(
          context,
          "token",
          "Cannot answer without the token: send `Authorization: Bearer <token>`; the token stands in " +
            "the file `token` of the state directory",
        );
}

/**
 * Ends a stream once the token that opened it is not the current one any more: what is opened once
 * must not outlive the right to open it.
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

/** Lets programs of this machine on, and bearers of the token from elsewhere. */
export function guardLocalOrToken(
  read: TokenReader,
  clients: ClientAddresses,
): MiddlewareHandler<HttpEnv> {
  const token = guardToken(read);
  return async (context, next) =>
    clients.isHere(context.env.incoming) ? next() : token(context, next);
}
