/**
 * Another site may resolve its own name to 127.0.0.1 and then call the daemon like its own page (DNS
 * rebinding), or open a WebSocket, which no same-origin rule prevents. So a request is answered
 * only if its Host is exactly one of the names of the server, and a browser's Origin must be one of
 * them, too. Names are compared as a whole, never by prefix or suffix.
 */
import type { IncomingMessage } from "node:http";
import { networkInterfaces } from "node:os";

export interface KnownHosts {
  /** Whether a Host header names this server. */
  host(header: string | undefined): boolean;
  /** Whether an Origin header is allowed, or absent, as in clients other than browsers. */
  origin(header: string | undefined): boolean;
}

const bracketed = (address: string) => (address.includes(":") ? `[${address}]` : address);
/** Every address of this machine. */
export const anyAddress: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
const loopback = ["127.0.0.1", "localhost", "[::1]"];

/** A listener. */
export interface Bound {
  readonly host: string;
  readonly port: number;
  readonly scheme: "http" | "https";
}

/** The names of a server with these listeners and this public address. */
export function knownHosts(bound: readonly Bound[], publicUrl: string | null = null): KnownHosts {
  const hosts = new Set<string>();
  const origins = new Set<string>();
  const add = (scheme: string, name: string) => {
    hosts.add(name);
    origins.add(`${scheme}://${name}`);
  };
  for (const { host, port, scheme } of bound)
    for (const name of namesOf(host)) {
      add(scheme, `${name}:${port}`);
      if (port === (scheme === "https" ? 443 : 80)) add(scheme, name);
    }
  if (publicUrl !== null) add("https", new URL(publicUrl).host);
  return {
    host: (header) => header !== undefined && hosts.has(header.toLowerCase()),
    origin: (header) => header === undefined || origins.has(header.toLowerCase()),
  };
}

function namesOf(host: string): ReadonlySet<string> {
  const names = new Set([bracketed(host), ...loopback]);
  if (anyAddress.has(host))
    for (const list of Object.values(networkInterfaces()))
      for (const { address } of list ?? []) names.add(bracketed(address));
  return names;
}

/**
 * The Host header. Undefined also if it occurs twice, because a proxy might use the other one.
 */
export function hostOf({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, "headers" | "rawHeaders">): string | undefined {
  let count = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count === 1 ? headers.host : undefined;
}
