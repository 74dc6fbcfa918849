/**
 * The socket below @xmpp/client, in place of its own: a character may lie in two packets, reading can
 * pause, certificates are checked as the config says, and a stanza has a limit. The server of a domain
 * is where the config says, else where DNS says (RFC 6120, section 3.2, and XEP-0368 for TLS from the
 * first byte), else at the domain itself.
 */
import { resolveSrv } from "node:dns/promises";
import { EventEmitter } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { StringDecoder } from "node:string_decoder";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import type { XmppAccountConfig } from "./config.ts";
import { domainOf } from "./names.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly isDirectTls: boolean;
}

/** The addresses to try, in order. */
export async function addressesOf(config: XmppAccountConfig): Promise<readonly Address[]> {
  const { host, port, tls, jid } = config;
  const isDirectTls = tls === "direct";
  const usual = isDirectTls ? 5_223 : 5_222;
  if (host !== undefined) return [{ host, port: port ?? usual, isDirectTls }];
  const domain = domainOf(jid);
  const found = await lookUp(`_${isDirectTls ? "xmpps" : "xmpp"}-client._tcp.${domain}`);
  const known = found.map((one) => ({ host: one.name, port: port ?? one.port, isDirectTls }));
  return known.length > 0 ? known : [{ host: domain, port: port ?? usual, isDirectTls }];
}

async function lookUp(name: string) {
  try {
    const found = await resolveSrv(name);
    // A single dot: the service is decidedly not available (RFC 2782); the domain itself is tried.
    const usable = found.filter((one) => one.name !== "" && one.name !== ".");
    return usable.sort((a, b) => a.priority - b.priority || b.weight - a.weight);
  } catch {
    return [];
  }
}

export interface TransportOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly isDirectTls: boolean;
  readonly verifyCertificate: boolean;
  /** The name that the certificate must have. */
  readonly domain: string;
  /** Something came; false: it goes no further. */
  onData(bytes: number): boolean;
}

/** The class that the library makes its socket of; `opened` gets each one. */
export function socketClass(
  options: TransportOptions,
  opened: (made: XmppSocket) => void,
): new () => XmppSocket {
  return class extends XmppSocket {
    constructor() {
      super(options);
      opened(this);
    }
  };
}

export class XmppSocket extends EventEmitter {
  /** Read by the library: whether passwords may be sent. */
  secure = false;
  readonly #options: TransportOptions;
  #socket: Socket | null = null;

  constructor(options: TransportOptions) {
    super();
    this.#options = options;
  }

  connect(): void {
    const { host, port, isDirectTls } = this.#options;
    if (isDirectTls) {
      this.secure = true;
      const socket = connectTls({ host, port, ALPNProtocols: ["xmpp-client"], ...this.#tls() });
      this.#use(socket);
      socket.on("secureConnect", () => this.emit("connect"));
    } else {
      const socket = connect({ host, port });
      this.#use(socket);
      socket.on("connect", () => this.emit("connect"));
    }
    this.#socket?.setNoDelay(true);
  }

  /** Begins TLS on the open connection (RFC 6120, section 5). Rejects when that fails. */
  upgrade(): Promise<void> {
    const plain = this.#socket;
    if (plain === null) return Promise.reject(new Error("there is no socket"));
    plain.removeAllListeners();
    return new Promise((resolve, reject) => {
      const socket = connectTls({ socket: plain, ...this.#tls() });
      this.#use(socket);
      socket.on("error", reject);
      socket.on("secureConnect", () => {
        this.secure = true;
        resolve();
      });
    });
  }

  write(text: string, written?: (error?: Error | null) => void): void {
    if (this.#socket?.writable === true) this.#socket.write(text, written);
    else written?.(new Error("the connection is closed"));
  }

  end(): void {
    this.#socket?.end();
  }

  destroy(): void {
    this.#socket?.destroy();
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  #tls(): ConnectionOptions {
    const { domain, verifyCertificate } = this.#options;
    return {
      rejectUnauthorized: verifyCertificate,
      ...(isIP(domain) === 0 ? { servername: domain } : {}),
    };
  }

  #use(socket: Socket): void {
    const decoder = new StringDecoder("utf8");
    this.#socket = socket;
    socket.on("data", (data: Buffer) => {
      if (this.#options.onData(data.length)) this.emit("data", decoder.write(data));
    });
    socket.on("error", (error) => {
      // Without a listener it would be thrown.
      if (this.listenerCount("error") > 0) this.emit("error", error);
    });
    socket.on("close", (hadError) => this.emit("close", hadError));
  }
}
