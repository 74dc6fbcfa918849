/**
 * A server for the pages
 * ======================
 * Serves the built pages under the daemon's content policy and speaks the webchat protocol, with
 * faults on order: cut the line, keep quiet. The journal is an array; `n` is its index. The room
 * simulator behind it is the real one.
 */
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { type WebSocket, WebSocketServer } from "ws";
import {
  type ClientFrame,
  clientFrameSchema,
  closeCodes,
  type ServerFrame,
} from "../../../src/adapters/channels/webchat/protocol.ts";
import type { NeedsAnswer } from "../../../src/daemon/api-types/needs.ts";
import { securityHeaders } from "../../../src/daemon/http/page-headers.ts";
import { simulate } from "../../../src/daemon/replay/simulate.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const nothingNeeded: NeedsAnswer = { needs: [], more: 0 };

const config = { agents: { list: [{ id: "main", name: "Scout" }] } };

export interface PagesServer {
  readonly token: string;
  /** The address of the Chat page, with the token. */
  readonly address: string;
  readonly origin: string;
  /** Messages taken, in order. */
  readonly taken: readonly { readonly id: string; readonly text: string }[];
  /** How many `message` frames came, doubles included. */
  readonly heard: () => number;
  /** Sends a frame to every page. */
  readonly push: (frame: ServerFrame) => void;
  /** Cuts every line. With `refuse`, new ones are cut too until `mend`. */
  readonly cut: (options?: { readonly refuse?: boolean }) => void;
  readonly recover: () => void;
  /** From now on messages are taken but the page gets no answer. */
  readonly mute: (on: boolean) => void;
  readonly close: () => Promise<void>;
}

class Chat {
  readonly token = "test-token";
  readonly taken: { id: string; text: string }[] = [];
  readonly pages = new Set<WebSocket>();
  frames: ServerFrame[] = [];
  heard = 0;
  refusing = false;
  muted = false;
  private n = 0;

  /** A frame with a place in the journal; everyone gets it now, latecomers on hello. */
  record(make: (n: number) => ServerFrame): void {
    this.n += 1;
    const frame = make(this.n);
    this.frames.push(frame);
    this.push(frame);
  }

  push(frame: ServerFrame): void {
    if (this.muted) return;
    for (const page of this.pages) page.send(JSON.stringify(frame));
  }

  hello(page: WebSocket, frame: Extract<ClientFrame, { type: "hello" }>): void {
    const say = (one: ServerFrame) => page.send(JSON.stringify(one));
    if (frame.token !== this.token) {
      page.close(closeCodes.badToken, "badToken");
      return;
    }
    this.pages.add(page);
    say({ type: "ready", agent: { id: "main", name: "Scout" }, n: this.n });
    for (const one of this.frames) if (!("n" in one) || one.n > frame.after) say(one);
  }

  message({ id, text }: Extract<ClientFrame, { type: "message" }>): void {
    this.heard += 1;
    if (this.taken.some((one) => one.id === id)) return;
    this.taken.push({ id, text });
    this.record((n) => ({ type: "taken", id, n, at: Date.now(), text }));
    const decided: ServerFrame = { type: "decided", id, decision: "engage", rule: "dm" };
    this.frames.push(decided);
    this.push(decided);
    this.answer(id, `You said: ${text}`);
  }

  private answer(replyTo: string, text: string): void {
    const turnId = `turn-${this.n}`;
    this.push({ type: "turn", turnId, state: "start" });
    this.push({ type: "delta", turnId, text: text.slice(0, 6) });
    const id = `${turnId}:0`;
    this.record((n) => ({ type: "said", n, id, text, replyTo, at: Date.now(), turnId }));
    this.push({ type: "turn", turnId, state: "end", outcome: "replied" });
  }
}

/** Serves the pages of a folder on a free port of this machine. */
export async function startPagesServer(pages: string): Promise<PagesServer> {
  const chat = new Chat();
  const http = createServer((request, response) => serve(chat, pages, request, response));
  const sockets = new WebSocketServer({ server: http, path: "/ws" });
  sockets.on("connection", (page) => {
    if (chat.refusing) return page.terminate();
    page.on("message", (data) => {
      const frame = clientFrameSchema.parse(JSON.parse(String(data)));
      if (frame.type === "hello") chat.hello(page, frame);
      else chat.message(frame);
    });
    page.on("close", () => chat.pages.delete(page));
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    token: chat.token,
    origin,
    address: `${origin}/chat#token=${chat.token}`,
    taken: chat.taken,
    heard: () => chat.heard,
    push: (frame) => chat.push(frame),
    cut: ({ refuse = false } = {}) => {
      chat.refusing = refuse;
      for (const page of sockets.clients) page.terminate();
    },
    recover: () => {
      chat.refusing = false;
    },
    mute: (on) => {
      chat.muted = on;
    },
    close: () => stop(http, sockets),
  };
}

async function stop(http: Server, sockets: WebSocketServer): Promise<void> {
  for (const page of sockets.clients) page.terminate();
  http.closeAllConnections();
  await new Promise((done) => http.close(done));
}

function serve(
  chat: Chat,
  pages: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const path = new URL(request.url ?? "/", "http://x").pathname;
  if (path.startsWith("/api/")) {
    void api(chat, path, request, response);
    return;
  }
  const isPage =
    ["/", "/chat", "/replay", "/health", "/setup", "/settings"].includes(path) ||
    path.startsWith("/room/");
  const file = join(pages, isPage ? "index.html" : path);
  if (!file.startsWith(pages) || !existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  const type = types[extname(file)] ?? "application/octet-stream";
  response.writeHead(200, { ...securityHeaders, "content-type": type }).end(readFileSync(file));
}

async function api(
  chat: Chat,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const json = (status: number, body: unknown) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (request.headers.authorization !== `Bearer ${chat.token}`)
    return void json(401, { error: { code: "token", message: "Cannot answer without the token" } });
  if (path === "/api/needs") return void json(200, nothingNeeded);
  if (path !== "/api/simulate")
    return void json(404, { error: { code: "not-found", message: "None of this id was heard" } });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString());
  const { lines, explain } = body as { lines: unknown[]; explain: string[] };
  try {
    json(200, await simulate(lines, { config, explain }));
  } catch (error) {
    json(400, { error: { code: "EAR_SCENARIO_INVALID", message: String(error) } });
  }
}
