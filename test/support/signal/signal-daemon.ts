/**
 * signal-cli's daemon with `--http`, on loopback
 * ==============================================
 * Written from signal-cli-jsonrpc(5) (endpoints, JSON-RPC, receive notifications, ids of events),
 * signal-cli(1) (commands and their options; daemon and its receive modes) and the JSON that `receive`
 * prints. Comments on the stream every 15 s are sent at once on connecting, too. It is for several
 * accounts (multi-account mode) and knows one.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { lookUntilTrue } from "../../../src/testing/look-until.ts";
import { breakAnswer, createFaultScript } from "../servers/faults.ts";
import { Loopback } from "../servers/loopback.ts";
import { type Params, RpcFailure, SignalRooms } from "./signal-rooms.ts";

const keptMax = 1_000;

interface Kept {
  readonly count: number;
  readonly data: string;
}

export interface SignalDaemonOptions {
  /** Events have ids and are kept, as in current versions. @default true */
  readonly hasIds?: boolean;
  /** What a proxy in front of it asks for. @default nothing */
  readonly token?: string;
}

export class SignalDaemon {
  readonly rooms: SignalRooms;
  readonly faults = createFaultScript();
  /** Headers of each connection to the stream. */
  readonly connects: IncomingMessage["headers"][] = [];
  readonly requests: { readonly method: string; readonly params: Params }[] = [];
  isRegistered = true;
  readonly #options: SignalDaemonOptions;
  #started = Date.now();
  #count = 0;
  #kept: Kept[] = [];
  readonly #clients = new Set<ServerResponse>();
  readonly #watchers = new Set<() => void>();
  readonly #server = new Loopback((request, response) => this.#serve(request, response));

  constructor(options: SignalDaemonOptions = {}) {
    this.#options = options;
    this.rooms = new SignalRooms((envelope) => this.receive({ envelope }));
  }

  get url(): string {
    return this.#server.url;
  }

  up(): Promise<void> {
    return this.#server.up();
  }

  /** Nobody can connect any more; the daemon itself goes on and receives. */
  down(): Promise<void> {
    return this.#server.down();
  }

  /** Another process: what was kept is gone, and ids begin again. */
  restart(): void {
    this.#kept = [];
    this.#count = 0;
    this.#started += 1;
    this.cut();
  }

  /** Breaks the connections to the stream. */
  cut(): void {
    for (const client of this.#clients) client.destroy();
  }

  /** Writes to the stream as it is. */
  raw(text: string): void {
    for (const client of this.#clients) client.write(text);
  }

  /** An event of `receive`; `account` is added. */
  receive(params: object): void {
    const fault = this.faults.next("event");
    const data = JSON.stringify({ account: this.rooms.account, ...params });
    const add = () => {
      this.#count += 1;
      const event = { count: this.#count, data };
      if (this.#options.hasIds !== false) this.#kept = [...this.#kept, event].slice(-keptMax);
      return event;
    };
    const events = [add(), ...(fault?.kind === "duplicate" ? [add()] : [])];
    if (fault?.kind !== "reset") for (const event of events) this.raw(this.#frame(event));
    this.#changed();
  }

  /** Resolves when something is so. */
  until(done: () => boolean, what: string): Promise<void> {
    return lookUntilTrue(
      done,
      () => what,
      (look) => {
        this.#watchers.add(look);
        return () => this.#watchers.delete(look);
      },
    );
  }

  #changed(): void {
    for (const look of [...this.#watchers]) look();
  }

  #frame({ count, data }: Kept): string {
    const id = this.#options.hasIds === false ? "" : `id:${this.#started}-${count}\n`;
    return `${id}event:receive\ndata:${data}\n\n`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    const { token } = this.#options;
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    if (pathname === "/api/v1/check") response.writeHead(200).end();
    else if (pathname === "/api/v1/events") this.#stream(request, response, searchParams);
    else if (pathname === "/api/v1/rpc") await this.#rpc(request, response);
    else response.writeHead(404).end();
  }

  #stream(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): void {
    const fault = this.faults.next("events");
    if (fault !== null && breakAnswer(fault, request, response)) return;
    if (fault?.kind === "refuse") {
      response.writeHead(fault.status).end();
      return;
    }
    const account = query.get("account");
    if (request.method !== "GET") response.writeHead(405).end();
    else if (account && !this.#knows(account)) response.writeHead(400).end();
    else {
      this.connects.push(request.headers);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(":\n");
      this.#clients.add(response);
      response.on("close", () => this.#clients.delete(response));
      const last = request.headers["last-event-id"];
      if (last !== undefined) {
        const [run, count] = String(last).split("-");
        const from = run === String(this.#started) ? Number(count) : 0;
        for (const event of this.#kept) if (event.count > from) response.write(this.#frame(event));
      }
    }
    this.#changed();
  }

  #knows(account: string): boolean {
    return this.isRegistered && [this.rooms.account, this.rooms.aci].includes(account);
  }

  async #rpc(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    if (!String(request.headers["content-type"]).startsWith("application/json")) {
      response.writeHead(415).end();
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const {
      method,
      params = {},
      id,
    } = JSON.parse(Buffer.concat(parts).toString()) as {
      method?: string;
      params?: Params;
      id?: string;
    };
    this.requests.push({ method: method ?? "", params });
    const fault = this.faults.next(method ?? "");
    const undone = fault !== null && !("done" in fault && fault.done === true);
    if (fault !== null && undone && breakAnswer(fault, request, response)) return;
    const answer = (content: object) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", ...content, id: id ?? null }));
    };
    try {
      if (fault?.kind === "refuse") {
        if (fault.status === 429) throw limited(fault.retryAfter);
        if (fault.status !== 400) {
          response.writeHead(fault.status).end();
          return;
        }
        throw new RpcFailure(-1, "Failed to send message");
      }
      if (fault?.kind === "slow") await new Promise((go) => setTimeout(go, fault.ms));
      if (method === undefined) throw new RpcFailure(-32_600, "method field must be set");
      const { account, ...given } = params;
      if (typeof account !== "string")
        throw new RpcFailure(-32_602, "Method requires valid account parameter");
      if (!this.#knows(account)) throw new RpcFailure(-32_602, "Specified account does not exist");
      const result = this.rooms.perform(method, given);
      this.#changed();
      if (fault !== null && breakAnswer(fault, request, response)) return;
      answer({ result });
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      answer({ error: { code: error.code, message: error.message, data: error.data } });
    }
  }
}

/** A rate limit, with what Signal says about each recipient. */
function limited(seconds: number | undefined): RpcFailure {
  const results = [{ type: "RATE_LIMIT_FAILURE", token: "t", retryAfterSeconds: seconds ?? null }];
  const data = { response: { timestamp: 1, results } };
  return new RpcFailure(-5, "Failed to send message due to rate limiting", data);
}

export async function startSignalDaemon(options: SignalDaemonOptions = {}): Promise<SignalDaemon> {
  const daemon = new SignalDaemon(options);
  await daemon.up();
  return daemon;
}
