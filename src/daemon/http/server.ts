/**
 * One listener for pages, API and sockets. Requests have a time limit and connections a maximum number, so slow
 * clients do not affect others.
 */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { hostOf, type KnownHosts } from "./allowed-hosts.ts";
import { limitBodyTime } from "./body-timeout.ts";
import type { ClientAddresses } from "./client-address.ts";
import type { TlsPair } from "./tls.ts";

const connectionsCountMax = 2_000;
/** From one remote address, so that one stranger cannot use all connections. */
const connectionsPerAddressMax = 200;
const headerBytesMax = 16_384;

export interface ServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Answers a request. */
  readonly answer: RequestListener;
  readonly known: () => KnownHosts;
  readonly clients: ClientAddresses;
  /** Speaks https with these. @default plain http */
  readonly tls?: TlsPair;
  /** Why sockets are refused now; null: they are accepted. */
  readonly problem: () => string | null;
  /** The handler of a WebSocket, by its path with the query; null: there is none. */
  readonly socketFor: (url: string) => Upgrade | null;
}

/** Accepts a socket whose Host and Origin have been checked. */
export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface HttpServer {
  readonly port: number;
  /** New connections get this certificate; those that are open keep theirs. */
  renew(tls: TlsPair): void;
  /** Accepts no new requests; closes idle connections and, after a moment, the others. */
  close(): Promise<void>;
}

const closeMsMax = 1_000;

/** @throws EarshotError EAR_PORT_TAKEN naming the port and how to choose another. */
export async function listen(options: ServerOptions): Promise<HttpServer> {
  const common = {
    headersTimeout: limits.bodyMsMax,
    // The time of a body is limited by `limitBodyTime`.
    requestTimeout: 0,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: headerBytesMax,
  };
  const server =
    options.tls === undefined
      ? createServer(common, options.answer)
      : createTlsServer(
          { ...common, ...options.tls, handshakeTimeout: limits.bodyMsMax },
          options.answer,
        );
  server.maxConnections = connectionsCountMax;
  // Before a byte is read, TLS or not.
  const admit = connectionCheck(options.clients);
  server.on("connection", admit);
  server.on("request", limitBodyTime);
  server.on("upgrade", (request, socket, head) => {
    const taken = upgradeFor(request, options);
    if (typeof taken === "function") return taken(request, socket, head);
    socket.end(`HTTP/1.1 ${taken}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(options, error)));
    server.listen({ host: options.host, port: options.port, exclusive: true }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    renew: (tls) => {
      if (options.tls !== undefined) (server as unknown as TlsServer).setSecureContext(tls);
    },
    close: () =>
      new Promise((resolve) => {
        const late = setTimeout(() => server.closeAllConnections(), closeMsMax);
        server.close(() => {
          clearTimeout(late);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

/** Accepts a connection, or closes it without an answer. */
function connectionCheck(clients: ClientAddresses): (socket: Socket) => void {
  const open = new Map<string, number>();
  return (socket) => {
    const { remoteAddress = "" } = socket;
    if (!clients.admits(socket)) return void socket.destroy();
    // Clients behind a proxy share its address; the proxy limits them.
    if (clients.isTrusted(socket)) return;
    const count = (open.get(remoteAddress) ?? 0) + 1;
    if (count > connectionsPerAddressMax) return void socket.destroy();
    open.set(remoteAddress, count);
    socket.once("close", () => {
      const left = (open.get(remoteAddress) ?? 1) - 1;
      if (left > 0) open.set(remoteAddress, left);
      else open.delete(remoteAddress);
    });
  };
}

/** The handler of a WebSocket request, or the status of its refusal. */
function upgradeFor(
  request: IncomingMessage,
  { known, problem, socketFor }: ServerOptions,
): Upgrade | string {
  const { headers, url = "" } = request;
  if (!known().host(hostOf(request))) return "421 Misdirected Request";
  if (!known().origin(headers.origin)) return "403 Forbidden";
  const upgrade = socketFor(url);
  if (upgrade === null) return "404 Not Found";
  return problem() === null ? upgrade : "503 Service Unavailable";
}

function cannotListen({ host, port }: ServerOptions, error: NodeJS.ErrnoException): EarshotError {
  const where = `${host}:${port}`;
  if (error.code === "EADDRINUSE")
    return new EarshotError(
      "EAR_PORT_TAKEN",
      `Cannot listen on ${where}: another program uses the port. Stop it, or choose another port with ` +
        "--port or PORT",
    );
  return new EarshotError(
    "EAR_PORT_TAKEN",
    `Cannot listen on ${where} (${error.code ?? "unknown"}): choose another with --port, or ` +
      "server.host in the config",
    { cause: error },
  );
}
