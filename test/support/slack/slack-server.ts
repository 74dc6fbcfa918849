/**
 * A Slack on loopback: the Web API (https://docs.slack.dev/apis/web-api), Socket Mode
 * (https://docs.slack.dev/apis/events-api/using-socket-mode) and uploads over a small workspace, with the
 * fault script. What is said while no socket is open is lost to the app, as is what an open one has not
 * acknowledged when it ends: the worst that Slack does.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { lookUntilTrue } from "../../../src/testing/look-until.ts";
import { breakAnswer, createFaultScript, type Fault, type FaultScript } from "../servers/faults.ts";
import { methods, SlackFailure } from "./slack-methods.ts";
import { type Sent, SlackWorkspace } from "./slack-workspace.ts";

type Args = Readonly<Record<string, unknown>>;

export const botToken = "xoxb-1111-2222-canary-bot-token-no-sink-may-show";
export const appToken = "xapp-1-A0EARSHOT-3333-canary-app-token-no-sink-may-show";

/** Of an envelope that is not acknowledged in time. */
const retryMs = 3_000;
const retriesMax = 3;

interface Call {
  readonly method: string;
  readonly args: Args;
  readonly at: number;
}

export class SlackServer {
  readonly workspace = new SlackWorkspace();
  readonly faults: FaultScript = createFaultScript();
  readonly calls: Call[] = [];
  /** Tokens that are let in; others are revoked. */
  tokens: readonly string[] = [botToken, appToken];
  /** Scopes of the bot token. */
  scopes = [
    ...["chat:write", "channels:history", "groups:history", "im:history", "mpim:history"],
    ...["channels:read", "groups:read", "im:read", "mpim:read", "users:read"],
    ...["reactions:read", "reactions:write", "files:read", "files:write"],
  ];
  /** Methods that need a scope which the token lacks: they name it. */
  readonly missing = new Map<string, string>();
  /** Refusals by name, of the next calls of a method. */
  readonly failures = new Map<string, string[]>();
  /** Payloads that were sent and how often. */
  readonly acknowledged: string[] = [];
  #port = 0;
  #server: Server | null = null;
  readonly #sockets = new Set<WebSocket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #wss: WebSocketServer | null = null;
  readonly #tickets = new Set<string>();
  #envelopes = 0;
  readonly #open = new Map<string, () => void>();

  constructor() {
    this.workspace.onSent = (sent) => this.send(sent);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get apiRoot(): string {
    return `${this.origin}/api/`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  called(method: string): readonly Args[] {
    return this.calls.filter((call) => call.method === method).map(({ args }) => args);
  }

  async up(): Promise<void> {
    const server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
    const wss = new WebSocketServer({ noServer: true });
    server.on("upgrade", (request, socket, head) => {
      const ticket = new URL(request.url ?? "", this.origin).searchParams.get("ticket") ?? "";
      if (!this.#tickets.delete(ticket)) {
        socket.destroy();
        return;
      }
      wss.handleUpgrade(request, socket, head, (opened) => this.#welcome(opened));
    });
    await new Promise<void>((done) => server.listen(this.#port, "127.0.0.1", done));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#wss = wss;
  }

  /** Cuts every connection and stops listening. The workspace stays. */
  async down(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const socket of this.#sockets) socket.terminate();
    this.#sockets.clear();
    this.#wss?.close();
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    await new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  }

  /** Asks the app to connect again, as Slack does about every hour. */
  refresh(): void {
    const message = { type: "disconnect", reason: "refresh_requested", debug_info: { host: "a1" } };
    for (const socket of this.#sockets) socket.send(JSON.stringify(message));
  }

  /** Breaks the sockets without a word. */
  breakSockets(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  /** Something that is no envelope, or a broken one. */
  raw(frame: string): void {
    for (const socket of this.#sockets) socket.send(frame);
  }

  #welcome(socket: WebSocket): void {
    const fault = this.faults.next("hello");
    this.#sockets.add(socket);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.workspace.changed();
    });
    socket.on("error", () => undefined);
    socket.on("message", (data) => {
      const { envelope_id: id } = JSON.parse(String(data)) as { envelope_id: string };
      this.#open.get(id)?.();
      this.acknowledged.push(id);
      this.workspace.changed();
    });
    if (fault?.kind === "hang") return;
    if (fault?.kind === "reset") {
      socket.terminate();
      return;
    }
    socket.send(
      JSON.stringify({
        type: "hello",
        num_connections: this.#sockets.size,
        debug_info: { host: "applink-1", build_number: 1, approximate_connection_time: 18_060 },
        connection_info: { app_id: "A0EARSHOT" },
      }),
    );
    this.workspace.changed();
  }

  /** Sends to one of the open sockets, and again while it is not acknowledged. */
  send({ type, payload }: Sent): void {
    const fault = this.faults.next("event");
    if (fault?.kind === "hang") return;
    const kind = type === "events_api" ? { retry_attempt: 0, retry_reason: "" } : {};
    this.#envelopes += 1;
    const envelope = {
      envelope_id: `envelope-${this.#envelopes}`,
      type,
      payload,
      accepts_response_payload: type !== "events_api",
      ...kind,
    };
    const wait = fault?.kind === "slow" ? fault.ms : 0;
    if (wait > 0) this.#later(() => this.#deliver(envelope, 0), wait);
    else this.#deliver(envelope, 0);
    if (fault?.kind === "duplicate") this.#deliver({ ...envelope, retry_attempt: 1 }, 1);
  }

  #later(work: () => void, ms: number): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }

  #deliver(envelope: { readonly envelope_id: string } & Args, attempt: number): void {
    const socket = [...this.#sockets].at(-1);
    if (socket === undefined) return;
    socket.send(JSON.stringify(envelope));
    if (attempt >= retriesMax) return;
    const again = { ...envelope, retry_attempt: attempt + 1, retry_reason: "timeout" };
    const timer = this.#later(() => this.#deliver(again, attempt + 1), retryMs);
    this.#open.set(envelope.envelope_id, () => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "", this.origin);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    if (pathname.startsWith("/upload/v1/")) return this.#upload(pathname, body, response);
    if (pathname.startsWith("/files-pri/")) return this.#download(pathname, token, response);
    const method = pathname.replace(/^\/api\//, "");
    const args = argsIn(body.toString());
    this.calls.push({ method, args, at: Date.now() });
    const fault = this.faults.next(method);
    if (fault?.kind === "slow") await new Promise((go) => setTimeout(go, fault.ms));
    const isUndone = fault !== null && (!("done" in fault) || fault.done !== true);
    if (fault !== null && isUndone && this.#broken(fault, request, response)) return;
    const answer = this.#answer(method, args, token);
    if (fault !== null && this.#broken(fault, request, response)) return;
    const headers = { "content-type": "application/json; charset=utf-8" };
    response.writeHead(200, { ...headers, "x-oauth-scopes": this.scopes.join(",") });
    response.end(JSON.stringify(answer));
    this.workspace.changed();
  }

  #broken(fault: Fault, request: IncomingMessage, response: ServerResponse): boolean {
    if (fault.kind !== "refuse") return breakAnswer(fault, request, response);
    const wait = fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) };
    const isNamed = fault.status === 429 || fault.status >= 500;
    const error = { 401: "invalid_auth", 429: "ratelimited" }[fault.status] ?? "restricted_action";
    response.writeHead(isNamed ? fault.status : 200, {
      ...wait,
      "content-type": "application/json",
    });
    response.end(JSON.stringify({ ok: false, error }));
    return true;
  }

  #answer(method: string, args: Args, token: string): Args {
    const isApp = method === "apps.connections.open";
    if (token === "") return { ok: false, error: "not_authed" };
    if (!this.tokens.includes(token)) return { ok: false, error: "invalid_auth" };
    if (token.startsWith("xapp-") !== isApp) return { ok: false, error: "not_allowed_token_type" };
    const needed = this.missing.get(method);
    if (needed !== undefined)
      return { ok: false, error: "missing_scope", needed, provided: this.scopes.join(",") };
    const failure = this.failures.get(method)?.shift();
    if (failure !== undefined) return { ok: false, error: failure };
    const perform = methods[method];
    if (perform === undefined) return { ok: false, error: "unknown_method" };
    try {
      const caller = {
        workspace: this.workspace,
        origin: this.origin,
        ticket: () => {
          const ticket = `ticket-${this.calls.length}`;
          this.#tickets.add(ticket);
          return ticket;
        },
      };
      return { ok: true, ...perform(args, caller) };
    } catch (error) {
      if (!(error instanceof SlackFailure)) throw error;
      return { ok: false, error: error.message, ...error.fields };
    }
  }

  #upload(path: string, data: Buffer, response: ServerResponse): void {
    const id = path.split("/").at(-1) ?? "";
    const file = this.workspace.files.get(id);
    if (file !== undefined) this.workspace.files.set(id, { ...file, data });
    response.writeHead(file === undefined ? 404 : 200).end(`OK - ${data.length}`);
  }

  /** Without a token that may read files, Slack shows its page to sign in. */
  #download(path: string, token: string, response: ServerResponse): void {
    const id = /-(F\w+)\//.exec(path)?.[1] ?? "";
    const file = this.workspace.files.get(id);
    if (token !== this.tokens[0] || !this.scopes.includes("files:read")) {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end("<!DOCTYPE html><html><title>Sign in</title></html>");
      return;
    }
    response.writeHead(file === undefined ? 404 : 200, { "content-type": file?.mimetype ?? "" });
    response.end(file?.data);
  }

  /** Resolves when `done` holds. @throws when it never does */
  until(done: () => boolean, what: string): Promise<void> {
    return lookUntilTrue(
      done,
      () => what,
      (look) => this.workspace.watch(look),
    );
  }
}

/** A form, whose lists and objects are JSON. */
function argsIn(body: string): Args {
  return Object.fromEntries(
    [...new URLSearchParams(body)].map(([name, value]) => {
      if (!/^[[{]/.test(value) || name === "text") return [name, value];
      try {
        return [name, JSON.parse(value) as unknown];
      } catch {
        return [name, value];
      }
    }),
  );
}

export async function startSlackServer(): Promise<SlackServer> {
  const server = new SlackServer();
  await server.up();
  return server;
}
