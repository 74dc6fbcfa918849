/**
 * Requests that are answered without the framework
 * ================================================
 * A program that posts line after line, and a probe that asks every second, need none of what the
 * framework makes for each request; and where nobody opens a page it is not even loaded, which a start
 * and the memory of an idle daemon notice. So a request with exactly one of the addresses here is
 * answered at once, if it passes the checks that every request must pass. Any other is handed on
 * untouched: another spelling of the address, a header that comes twice, a body without a length. So is
 * what the checks refuse, so there is one place that words refusals.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { z } from "zod";
import { limits } from "../../domain/limits.ts";
import type { Log } from "../../domain/ports/index.ts";
import type { TokenReader } from "../state/token.ts";
import type { KnownHosts } from "./allowed-hosts.ts";
import { failureOf } from "./api-error.ts";
import { isToken, strange } from "./auth.ts";
import { notJson, parseBody } from "./json-body.ts";
import { securityHeaders } from "./page-headers.ts";

/** What is answered to a request without a body. */
export interface Probed {
  readonly status: 200 | 503;
  readonly body: object;
}

/** JSON that a program posts with the token. */
export interface Post<Body = unknown> {
  /** The schema that fits a body, so that an error names the path inside it. */
  readonly bodyFor: (value: unknown) => z.ZodType<Body>;
  readonly answer: (body: Body) => Promise<object>;
}

export interface DirectOptions {
  readonly known: () => KnownHosts;
  readonly readToken: TokenReader;
  readonly log: Log;
  /** GET requests that need no token, by their whole address, the query included. */
  readonly probes: ReadonlyMap<string, () => Probed>;
  /** The same for POST requests, which need it. */
  readonly posts: ReadonlyMap<string, Post>;
  /** A request was answered. */
  readonly count: (route: "page" | "api", status: number) => void;
  /** Answers every other request. */
  readonly others: RequestListener;
}

const jsonHeaders: readonly string[] = [
  ...Object.entries(securityHeaders).flat(),
  "content-type",
  "application/json",
];
const apiHeaders: readonly string[] = [...jsonHeaders, "cache-control", "no-store"];

/** The listener of a server. */
export function answerDirectly(options: DirectOptions): RequestListener {
  const { known, readToken, log, probes, posts, count, others } = options;

  async function take(post: Post, incoming: IncomingMessage, outgoing: ServerResponse) {
    if (!(await isToken(incoming.headers.authorization, readToken)))
      return others(incoming, outgoing);
    try {
      const body = await parseBody({ incoming, outgoing }, post.bodyFor);
      send(outgoing, 200, apiHeaders, await post.answer(body));
    } catch (error) {
      const { status, headers, body } = failureOf(error, log);
      send(outgoing, status, [...apiHeaders, ...Object.entries(headers).flat()], body);
    }
    count("api", outgoing.statusCode);
  }

  return (incoming, outgoing) => {
    const { method, url = "" } = incoming;
    if (method === "POST") {
      const post = posts.get(url);
      if (post !== undefined && isShort(incoming) && isPlain(incoming, known()))
        return void take(post, incoming, outgoing);
    } else if (method === "GET") {
      const probe = probes.get(url);
      if (probe !== undefined && hasNoBody(incoming) && isPlain(incoming, known())) {
        const { status, body } = probe();
        send(outgoing, status, jsonHeaders, body);
        return count("page", status);
      }
    }
    others(incoming, outgoing);
  };
}

/**
 * Answers with what `load` gives, which is loaded at the first request. When it cannot be loaded, the
 * request is answered with an error, and the next one tries again.
 */
export function onFirstRequest(load: () => Promise<RequestListener>, log: Log): RequestListener {
  let loaded: RequestListener | null = null;
  let loading: Promise<RequestListener> | null = null;
  return (incoming, outgoing) => {
    if (loaded !== null) return loaded(incoming, outgoing);
    loading ??= load();
    loading.then(
      (listener) => {
        loaded = listener;
        listener(incoming, outgoing);
      },
      (error: unknown) => {
        loading = null;
        const { status, body } = failureOf(error, log);
        outgoing.setHeader("connection", "close");
        send(outgoing, status, jsonHeaders, body);
      },
    );
  };
}

/** Every header comes once, and nothing about it is refused. */
function isPlain(incoming: IncomingMessage, known: KnownHosts): boolean {
  const { headers, rawHeaders } = incoming;
  return rawHeaders.length === 2 * Object.keys(headers).length && strange(incoming, known) === null;
}

/** A JSON body of a declared length that is read whole. */
function isShort(incoming: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": coding } = incoming.headers;
  if (length === undefined || coding !== undefined) return false;
  return Number(length) <= limits.bodyBytesMax && notJson(incoming) === null;
}

/** Without a length or a coding there is no body (RFC 9112, 6.3). */
const hasNoBody = ({ headers }: IncomingMessage) =>
  headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;

function send(
  outgoing: ServerResponse,
  status: number,
  headers: readonly string[],
  body: object,
): void {
  const text = JSON.stringify(body);
  outgoing.writeHead(status, [...headers, "content-length", String(Buffer.byteLength(text))]);
  outgoing.end(text);
}
