/**
 * A Discord on loopback: the HTTP API (https://discord.com/developers/docs/reference) and the gateway over a
 * small world, with the fault script. Errors, limits and rate limits have the documented form
 * (.../topics/opcodes-and-status-codes, .../topics/rate-limits).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
// Loaded here, so that no test spends its time on that: it is large.
import "discord.js";
import { lookUntilTrue } from "../../../src/testing/look-until.ts";
import { breakAnswer, createFaultScript, type FaultScript } from "../servers/faults.ts";
import { DiscordGateway } from "./discord-gateway.ts";
import { type Call, type Part, Refusal, routes } from "./discord-routes.ts";
import { DiscordWorld } from "./discord-world.ts";

export const sampleToken = "NDI0MjQyNDI0Mg.canary.token-that-no-sink-may-show";

export class DiscordServer {
  readonly world = new DiscordWorld();
  readonly gateway = new DiscordGateway(this.world);
  readonly faults: FaultScript = createFaultScript();
  readonly calls: Call[] = [];
  /** The nonces of the past minutes, and their messages. */
  readonly nonces = new Map<string, string>();
  /** Logins per 5 s. */
  concurrency = 16;
  loginsLeft = 1_000;
  #port = 0;
  #server: Server | null = null;

  constructor() {
    this.token = sampleToken;
  }

  /** The only token that is let in. */
  get token(): string {
    return this.gateway.token;
  }

  set token(token: string) {
    this.gateway.token = token;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get apiRoot(): string {
    return `${this.origin}/api`;
  }

  called(name: string): readonly Call[] {
    return this.calls.filter((call) => call.name === name);
  }

  async up(): Promise<void> {
    const server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
    server.on("upgrade", (request, socket, head) => this.gateway.upgrade(request, socket, head));
    await new Promise<void>((done) => server.listen(this.#port, "127.0.0.1", done));
    this.#port = (server.address() as AddressInfo).port;
    this.gateway.url = `ws://127.0.0.1:${this.#port}`;
    this.#server = server;
  }

  /** Cuts every connection and stops listening. The world and its sessions stay. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    this.gateway.cut();
    if (server === null) return;
    await new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  }

  /** Resolves when `done` holds. @throws when it never does */
  until(done: () => boolean, what: string): Promise<void> {
    return lookUntilTrue(
      done,
      () => what,
      (look) => this.world.watch(look),
    );
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", this.origin);
    if (url.pathname.startsWith("/files/")) {
      response.writeHead(200, { "content-type": "image/png" }).end("file");
      return;
    }
    const path = url.pathname.replace(/^\/api\/v10/, "");
    const parts = await readParts(request);
    const isCallback = path.startsWith("/interactions/");
    if (!isCallback && request.headers.authorization !== `Bot ${this.token}`)
      return answer(response, 401, { message: "401: Unauthorized", code: 0 });
    const route = routes.find(
      ({ method, path: pattern }) => method === request.method && pattern.test(path),
    );
    if (route === undefined) return answer(response, 404, { message: "404: Not Found", code: 0 });
    const args = (route.path.exec(path) ?? []).slice(1).map((arg) => decodeURIComponent(arg));
    const call: Call = {
      name: route.name,
      args,
      ...parts,
      query: url.searchParams,
      at: Date.now(),
    };
    this.calls.push(call);
    const fault = this.faults.next(route.name);
    try {
      if (fault?.kind === "refuse") return refuse(response, fault.status, fault.retryAfter);
      if (fault?.kind === "slow") await new Promise((done) => setTimeout(done, fault.ms));
      const undone = fault !== null && (!("done" in fault) || fault.done !== true);
      if (fault !== null && undone && breakAnswer(fault, request, response)) return;
      const result = route.run(this, call);
      if (fault !== null && breakAnswer(fault, request, response)) return;
      answer(response, result === undefined ? 204 : 200, result);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answer(response, error.status, { message: error.message, code: error.code });
    } finally {
      this.world.changed();
    }
  }
}

function refuse(response: ServerResponse, status: number, retryAfter = 1): void {
  if (status !== 429) {
    answer(response, status, { message: "scripted", code: 50_035 });
    return;
  }
  response.setHeader("retry-after", String(retryAfter));
  response.setHeader("x-ratelimit-scope", "shared");
  answer(response, 429, {
    message: "The resource is being rate limited.",
    retry_after: retryAfter,
    global: false,
  });
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  if (status === 204) response.writeHead(204).end();
  else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** A JSON body, or the parts of a form (docs: Reference, Uploading Files). */
async function readParts(
  request: IncomingMessage,
): Promise<{ body: Record<string, never>; files: readonly Part[] }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (bytes.length === 0) return { body: {}, files: [] };
  if (!type.startsWith("multipart/form-data"))
    return { body: JSON.parse(bytes.toString()), files: [] };
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  const files: Part[] = [];
  for (const [, value] of form)
    if (typeof value !== "string")
      files.push({ name: value.name, type: value.type, bytes: value.size });
  return { body: JSON.parse(String(form.get("payload_json") ?? "{}")), files };
}

export async function startDiscordServer(): Promise<DiscordServer> {
  const server = new DiscordServer();
  await server.up();
  return server;
}
