/**
 * Client addresses
 * ================
 * The address of a connection is a fact; headers about addresses are claims, trusted only from the
 * proxies that the config names. A request with such a header came through a proxy, so it is not
 * from a program on this machine, even if the connection is.
 */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** The parts of a request used here. */
type From = Pick<IncomingMessage, "headers"> & {
  readonly socket: { readonly remoteAddress?: string | undefined };
};

interface Ends {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
}

export interface ClientAddresses {
  /** The address of the client, as far as it can be known. */
  address(request: From): string;
  /** Whether the request comes from a program on this machine, not through a proxy. */
  isHere(request: From): boolean;
  /**
   * Whether a connection is accepted. Without TLS: only from this machine and from proxies.
   */
  admits(socket: Ends): boolean;
  /** Whether it comes from this machine's loopback or from a configured proxy. */
  isTrusted(socket: Ends): boolean;
}

export interface ClientsOptions {
  /** Addresses and ranges. */
  readonly proxies: readonly string[];
  /** Other machines may connect only through a proxy. */
  readonly onlyProxies: boolean;
}

/** A longer chain is an attack. */
const hopsMax = 20;
const forwardingHeaders = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-real-ip",
  "via",
] as const;

export function createClientAddresses({ proxies, onlyProxies }: ClientsOptions): ClientAddresses {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [net = "", prefix] = proxy.split("/");
    const family = familyOf(net);
    if (prefix === undefined) trusted.addAddress(net, family);
    else trusted.addSubnet(net, Number(prefix), family);
  }
  const isProxy = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, familyOf(address));
  return {
    address({ headers, socket }) {
      let address = plainAddress(socket.remoteAddress);
      const header = headers["x-forwarded-for"];
      const chain = (Array.isArray(header) ? header.join(",") : (header ?? "")).split(",");
      // From the nearest hop: an entry written by a configured proxy is trusted, the others are not.
      for (const hop of chain.slice(-hopsMax).reverse()) {
        if (!isProxy(address) || isIP(hop.trim()) === 0) break;
        address = plainAddress(hop.trim());
      }
      return address;
    },
    isHere: ({ headers, socket }) =>
      isLoopbackAddress(socket.remoteAddress) &&
      forwardingHeaders.every((name) => headers[name] === undefined),
    isTrusted: ({ remoteAddress }) =>
      isLoopbackAddress(remoteAddress) || isProxy(plainAddress(remoteAddress)),
    admits({ remoteAddress, localAddress }) {
      if (!onlyProxies || isLoopbackAddress(remoteAddress)) return true;
      const address = plainAddress(remoteAddress);
      const isOurs = address !== "" && address === plainAddress(localAddress);
      return isOurs || isProxy(address);
    },
  };
}

const familyOf = (address: string) => (address.includes(":") ? "ipv6" : "ipv4");

/** An IPv4-mapped IPv6 address as IPv4. */
const plainAddress = (address = "") => (address.startsWith("::ffff:") ? address.slice(7) : address);

/** Whether the other end of a socket is this machine. */
export function isLoopbackAddress(address: string | undefined): boolean {
  const plain = plainAddress(address);
  return plain === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}
