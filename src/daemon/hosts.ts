/**
 * Names we answer to
 * ==================
 * A page of some other site may resolve its own name to 127.0.0.1 and then talk to us as if it were
 * ours (DNS rebinding), or open a WebSocket to us, which no same-origin rule stops. So a request is
 * answered only if its Host is one of the exact names we were bound for, and a browser's Origin
 * must be one of them, too. Names are compared whole: nothing is decided by how a name begins or
 * ends.
 */
import { networkInterfaces } from "node:os";

export interface KnownHosts {
  /** Whether a Host header names us. */
  host(header: string | undefined): boolean;
  /** Whether an Origin header is ours, or absent as with any client that is no browser. */
  origin(header: string | undefined): boolean;
}

const bracketed = (address: string) => (address.includes(":") ? `[${address}]` : address);
const anyAddress = new Set(["0.0.0.0", "::"]);
const loopback = ["127.0.0.1", "localhost", "[::1]"];

/** The names of a server that listens on `host` and `port`. */
export function knownHosts(host: string, port: number): KnownHosts {
  const names = new Set([bracketed(host), ...loopback]);
  if (anyAddress.has(host))
    for (const list of Object.values(networkInterfaces()))
      for (const { address } of list ?? []) names.add(bracketed(address));
  const hosts = new Set([...names].map((name) => `${name}:${port}`));
  if (port === 80) for (const name of names) hosts.add(name);
  const origins = new Set([...hosts].map((name) => `http://${name}`));
  return {
    host: (header) => header !== undefined && hosts.has(header.toLowerCase()),
    origin: (header) => header === undefined || origins.has(header.toLowerCase()),
  };
}

/** Whether the other end of a socket is this machine. */
export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith("::ffff:") ? address.slice(7) : address;
  return plain === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}
