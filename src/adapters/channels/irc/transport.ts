/**
 * The socket below irc-framework, in place of its own: lines have a limit, text that is not UTF-8 is
 * read as Latin-1, what is sent can hold only one line, reading can pause, and a line that the library
 * cannot handle ends with a log line instead of an exception in a socket's callback.
 */
import { EventEmitter } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { IrcAccountConfig } from "./config.ts";
import { lineBytesMax } from "./wire.ts";

export interface TransportOptions {
  readonly config: IrcAccountConfig;
  /** Each line before the library gets it; false: it does not get it. */
  onLine(line: string): boolean;
  /** A line that nobody can handle. */
  onUnreadable(why: string): void;
  /** The cause, before the connection closes. */
  onError(code: string): void;
  onClose(): void;
}

/** What the channel uses of it. */
export interface Transport {
  pause(): void;
  resume(): void;
  destroy(): void;
}

export const portOf = ({ port, tls }: IrcAccountConfig): number => port ?? (tls ? 6_697 : 6_667);

/** The class that the library makes its transport of; `opened` gets each one. */
export function transportClass(
  options: TransportOptions,
  opened: (made: Transport) => void,
): new () => Transport {
  return class extends IrcTransport {
    constructor() {
      super(options);
      opened(this);
    }
  };
}

class IrcTransport extends EventEmitter implements Transport {
  readonly #options: TransportOptions;
  #socket: Socket | null = null;
  #buffered: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #skipping = false;

  constructor(options: TransportOptions) {
    super();
    this.#options = options;
  }

  connect(): void {
    const { config, onError } = this.#options;
    const { host } = config;
    const port = portOf(config);
    const socket = config.tls
      ? connectTls({
          host,
          port,
          rejectUnauthorized: config.verifyCertificate,
          ...(isIP(host) === 0 ? { servername: host } : {}),
        })
      : connect({ host, port });
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on(config.tls ? "secureConnect" : "connect", () => this.emit("open"));
    socket.on("data", (data) => this.#read(data));
    socket.on("error", (error) => onError((error as NodeJS.ErrnoException).code ?? error.name));
    socket.on("close", (hadError) => {
      this.#options.onClose();
      this.emit("close", hadError);
    });
  }

  writeLine(line: string, written?: () => void): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they would begin another command
    const one = line.replace(/[\r\n\u0000]+/g, " ");
    if (this.#socket?.writable === true) this.#socket.write(`${one}\r\n`, () => written?.());
    else if (written !== undefined) queueMicrotask(written);
  }

  close(now: boolean): void {
    if (now) this.destroy();
    else this.#socket?.end();
  }

  /** Called by the library. */
  disposeSocket(): void {
    this.destroy();
  }

  destroy(): void {
    this.#socket?.destroy();
  }

  setEncoding(): boolean {
    return true;
  }

  isConnected(): boolean {
    return this.#socket?.writable === true;
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  #read(data: Buffer): void {
    let rest = this.#buffered.length === 0 ? data : Buffer.concat([this.#buffered, data]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = rest.subarray(0, end);
      rest = rest.subarray(end + 1);
      if (this.#skipping) this.#skipping = false;
      else this.#take(line);
    }
    if (rest.length > lineBytesMax) {
      if (!this.#skipping) this.#options.onUnreadable(`over ${lineBytesMax} bytes`);
      this.#skipping = true;
      rest = Buffer.alloc(0);
    }
    this.#buffered = rest;
  }

  #take(bytes: Buffer): void {
    const line = decode(bytes).replace(/\r$/, "");
    if (line === "" || !this.#options.onLine(line)) return;
    try {
      this.emit("line", line);
    } catch (error) {
      this.#options.onUnreadable(error instanceof Error ? error.name : "unknown");
    }
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const utf8Broken = new TextDecoder("utf-8");

/** A character of several bytes, as one char for each of them. */
const wholeCharacter =
  /[\u00c2-\u00df][\u0080-\u00bf]|[\u00e0-\u00ef][\u0080-\u00bf]{2}|[\u00f0-\u00f4][\u0080-\u00bf]{3}/;

/**
 * Some clients still write Latin-1. Servers and clients cut a long line at a byte, within a character: a line
 * that has whole ones of several bytes is UTF-8, and what is left of the other ones becomes U+FFFD.
 */
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    const latin1 = bytes.toString("latin1");
    return wholeCharacter.test(latin1) ? utf8Broken.decode(bytes) : latin1;
  }
}
