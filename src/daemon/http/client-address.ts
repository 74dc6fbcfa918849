/**
 * Client addresses
 * ================
 * The address of a connection is a fact; headers about addresses are claims, trusted only from the
 * proxies that the config names. A request with such a header came through a proxy, so it is not
 * from a program on this machine, even if the connection is.
 */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** What of a request this room looks at. */
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
  /** Whether a program on this machine asks, not through a proxy. */
  isHere(request: From): boolean;
  /**
   * Whether a connection is taken at all: without TLS of our own only from here and from proxies.
   */
  admits(socket: Ends): boolean;
  /** Whether it comes from this machine's loopback or from a proxy of ours. */
  isTrusted(socket: Ends): boolean;
}

export interface ClientsOptions {
  /** Addresses and ranges. */
  readonly proxies: readonly string[];
  /** Nobody else may connect from beyond this machine. */
  readonly onlyProxies: boolean;
}

/** A chain longer than this is somebody's game. */
const hopsMax = 20;
const passedOn = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"] as const;

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
      // From the nearest on: what a proxy of ours has written is true, what it passed on is not.
      for (const hop of chain.slice(-hopsMax).reverse()) {
        if (!isProxy(address) || isIP(hop.trim()) === 0) break;
        address = plainAddress(hop.trim());
      }
      return address;
    },
    isHere: ({ headers, socket }) =>
      isLoopbackAddress(socket.remoteAddress) &&
      passedOn.every((name) => headers[name] === undefined),
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

/** An IPv4 address inside an IPv6 one is the IPv4 address. */
const plainAddress = (address = "") => (address.startsWith("::ffff:") ? address.slice(7) : address);

/** Whether the other end of a socket is this machine. */
export function isLoopbackAddress(address: string | undefined): boolean {
  const plain = plainAddress(address);
  return plain === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}
