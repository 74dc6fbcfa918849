/**
 * The guarded HTTP client
 * =======================
 * Fetches every address that a room, a model or a platform's response may have chosen. Only http
 * and https, no credentials in the URL, no private, loopback, link-local or otherwise special
 * address. The name is resolved once, every resolved address is checked, and the socket connects to
 * a checked one, so a name cannot change between check and connect. Redirects pass the same checks.
 * Bytes and time are bounded while streaming; a declared length is not trusted.
 *
 * Endpoints configured by the operator may be private: their origins are listed in `allowPrivate`.
 * Connections to them may be kept for the next request, which saves the handshakes of TCP and TLS.
 */
import { lookup } from "node:dns/promises";
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";
import { isIP } from "node:net";
import { Readable } from "node:stream";
import { EarshotError } from "../../domain/errors.ts";
import { deadline } from "./deadline.ts";
import { isPublicAddress } from "./private-addresses.ts";

export interface HttpClientOptions {
  /** Origins (`http://127.0.0.1:8080`) that may lie in a private range. */
  readonly allowPrivate?: readonly string[];
  /**
   * Keeps connections to those origins for a moment. Only for requests that may arrive twice: one that
   * finds its connection closed is sent again on a new one. @default false
   */
  readonly keep?: boolean;
  /** Resolves a name to all its addresses. @default the system's resolver */
  readonly resolve?: (hostname: string) => Promise<readonly { address: string; family: number }[]>;
}

export interface HttpRequest {
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
  /** Time for the whole exchange, including the body, ms. */
  readonly msMax: number;
  /** Size of the response's body. */
  readonly bytesMax: number;
  /** Only GET follows redirects. @default 5 */
  readonly redirectsMax?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

export interface HttpStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
  /** Discards the unread rest. Without it the connection may stay open until `msMax`. */
  close(): void;
}

export interface HttpClient {
  /**
   * Fetches a whole response.
   * @throws EarshotError EAR_HTTP_REFUSED for a refused address, redirect or size; EAR_HTTP_FAILED
   * for network failures, whose cause has the system's code. A status of 400 or more is a response,
   * not an error.
   */
  fetch(url: string, request: HttpRequest): Promise<HttpAnswer>;
  /** As `fetch`, for large bodies; a status other than 2xx is EAR_HTTP_FAILED. */
  stream(url: string, request: HttpRequest): Promise<ReadableStream<Uint8Array>>;
  /** As `fetch`, with a streamed body, whatever the status. */
  open(url: string, request: HttpRequest): Promise<HttpStream>;
}

/** Shorter than the time for which servers keep a connection, so that few are found closed; ms. */
const keptMsMax = 2_000;
const keptCountMax = 64;

const systemResolve = (hostname: string) => lookup(hostname, { all: true, verbatim: true });

const refused = (why: string) =>
  new EarshotError("EAR_HTTP_REFUSED", `Cannot fetch an address: ${why}`);

export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const allowed = new Set(options.allowPrivate ?? []);
  const resolve = options.resolve ?? systemResolve;
  const kept = { keepAlive: true, timeout: keptMsMax, maxFreeSockets: keptCountMax };
  const agents = options.keep === true ? [new Agent(kept), new TlsAgent(kept)] : null;
  // Another origin gets a new socket each time: a reused one may have been checked for another name.
  const agentFor = ({ origin, protocol }: URL): Agent | false =>
    (allowed.has(origin) && agents?.[protocol === "https:" ? 1 : 0]) || false;

  const follow = async (raw: string, request: HttpRequest, stop: AbortSignal) => {
    let url = parseUrl(raw);
    for (let hops = 0; ; hops += 1) {
      const address = await pin(url, allowed, resolve);
      const answer = await exchange(url, address, request, stop, agentFor(url));
      const status = answer.statusCode ?? 0;
      const location = answer.headers.location;
      const redirect = [301, 302, 303, 307, 308].includes(status) && location !== undefined;
      if (!redirect || (request.method ?? "GET") !== "GET") return answer;
      answer.destroy();
      if (hops >= (request.redirectsMax ?? 5)) throw refused("it redirects too often");
      url = parseUrl(location, url);
    }
  };

  return {
    async fetch(url, request) {
      const limit = deadline(request.signal, request.msMax);
      try {
        const answer = await follow(url, request, limit.signal);
        const parts: Uint8Array[] = [];
        for await (const part of capped(answer, request.bytesMax)) parts.push(part);
        const { statusCode: status = 0, headers } = answer;
        return { status, headers, body: Buffer.concat(parts) };
      } finally {
        limit.done();
      }
    },
    async stream(url, request) {
      const limit = deadline(request.signal, request.msMax);
      try {
        const answer = await follow(url, request, limit.signal);
        const status = answer.statusCode ?? 0;
        if (status < 200 || status > 299) {
          answer.destroy();
          throw new EarshotError(
            "EAR_HTTP_FAILED",
            `Cannot fetch an address: it answered ${status}`,
          );
        }
        const body = Readable.from(capped(answer, request.bytesMax), { objectMode: false });
        body.once("close", limit.done);
        return Readable.toWeb(body) as ReadableStream<Uint8Array>;
      } catch (error) {
        limit.done();
        throw error;
      }
    },
    async open(url, request) {
      const limit = deadline(request.signal, request.msMax);
      try {
        const answer = await follow(url, request, limit.signal);
        const { statusCode: status = 0, headers } = answer;
        const close = () => {
          limit.done();
          answer.destroy();
        };
        return { status, headers, body: capped(answer, request.bytesMax), close };
      } catch (error) {
        limit.done();
        throw error;
      }
    },
  };
}

function parseUrl(raw: string, base?: URL): URL {
  if (!URL.canParse(raw, base?.href)) throw refused("it is not a URL");
  const url = new URL(raw, base);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refused("only http and https are fetched");
  if (url.username !== "" || url.password !== "") throw refused("it holds credentials");
  return url;
}

/**
 * One checked address of the URL's host. A single private address among several refuses them all.
 */
async function pin(
  url: URL,
  allowed: ReadonlySet<string>,
  resolve: NonNullable<HttpClientOptions["resolve"]>,
): Promise<{ address: string; family: number }> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  // Resolvers differ on it, but its meaning is fixed (RFC 6761).
  if (/(^|\.)localhost\.?$/.test(host) && !allowed.has(url.origin))
    throw refused("it leads to a private place");
  let found: readonly { address: string; family: number }[];
  try {
    found = family === 0 ? await resolve(host) : [{ address: host, family }];
  } catch (cause) {
    throw new EarshotError(
      "EAR_HTTP_FAILED",
      "Cannot fetch an address: its name does not resolve",
      { cause },
    );
  }
  const [first] = found;
  if (first === undefined)
    throw new EarshotError("EAR_HTTP_FAILED", "Cannot fetch an address: its name has no addresses");
  if (!allowed.has(url.origin) && !found.every(({ address }) => isPublicAddress(address)))
    throw refused("it leads to a private place");
  return first;
}

function exchange(
  url: URL,
  address: { address: string; family: number },
  request: HttpRequest,
  stop: AbortSignal,
  agent: Agent | false,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const sent: ClientRequest = send(url, {
      method: request.method ?? "GET",
      headers: { "accept-encoding": "identity", ...request.headers },
      signal: stop,
      agent,
      lookup: (_name, { all }, done) =>
        all === true ? done(null, [address]) : done(null, address.address, address.family),
    });
    sent.on("response", resolve);
    sent.on("error", (error: NodeJS.ErrnoException) => {
      const wasClosed = sent.reusedSocket && error.code === "ECONNRESET";
      if (wasClosed && !stop.aborted) resolve(exchange(url, address, request, stop, false));
      else reject(failure(error));
    });
    sent.end(request.body);
  });
}

async function* capped(answer: IncomingMessage, bytesMax: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > bytesMax) throw refused(`it is larger than ${bytesMax} bytes`);
      yield part;
    }
    if (!answer.complete) throw new Error("the connection ended in the middle of the answer");
  } catch (error) {
    throw failure(error);
  } finally {
    answer.destroy();
  }
}

function failure(error: unknown): EarshotError {
  if (error instanceof EarshotError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return new EarshotError(
    "EAR_HTTP_FAILED",
    `Cannot fetch an address: the connection failed (${code})`,
    { cause: error },
  );
}
