/**
 * A Cloud API on loopback
 * =======================
 * The Graph API of one business phone number, and Meta's posts to its callback, as
 * https://developers.facebook.com/documentation/business-messaging/whatsapp describes them: messages/send-messages,
 * messages/reaction-messages, messages/contextual-replies, messages/interactive-list-messages,
 * typing-indicators, business-phone-numbers/media, support/error-codes, webhooks/create-webhook-endpoint,
 * webhooks/reference/messages. Posts come in order and are repeated until they are answered with 200.
 */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { breakAnswer, createFaultScript } from "../servers/faults.ts";

export const accessToken = "EAAtesttokenofasystemuser0123456789";
export const appSecret = "0123456789abcdef0123456789abcdef";
export const verifyToken = "a-verify-token-of-ours";
export const phoneNumberId = "106540352242922";
export const ownNumber = "15550783881";

type Fields = Readonly<Record<string, unknown>>;

export interface SentMessage {
  readonly id: string;
  readonly body: Fields & { readonly type?: string; readonly to?: string };
}

/** Codes of refusals, by HTTP status. */
const codes: Readonly<Record<number, number>> = { 400: 131009, 401: 190, 429: 130429, 500: 131000 };
const repeatMs = 50;

export class WhatsAppServer {
  readonly faults = createFaultScript();
  readonly sent: SentMessage[] = [];
  /** Read marks, with and without typing. */
  readonly reads: Fields[] = [];
  readonly files = new Map<string, { readonly mime: string; readonly data: Buffer }>();
  readonly answers: number[] = [];
  token = accessToken;
  callback: string | null = null;
  /** The next post comes twice. */
  twice = false;
  #server: Server | null = null;
  #port = 0;
  #count = 0;
  readonly #queue: string[] = [];
  #posting: Promise<void> | null = null;
  #ended = false;

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get apiRoot(): string {
    return `${this.origin}/v23.0`;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  wamid(): string {
    this.#count += 1;
    return `wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQ${String(this.#count).padStart(8, "0")}A=`;
  }

  async up(): Promise<void> {
    const server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((done) => server.listen(this.#port, "127.0.0.1", done));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#pump();
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    await new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.down();
    await this.#posting;
  }

  /** Posts a value of the field `messages`. */
  post(value: Fields): void {
    const metadata = { display_phone_number: ownNumber, phone_number_id: phoneNumberId };
    const change = { value: { messaging_product: "whatsapp", metadata, ...value } };
    const entry = [{ id: "102290129340398", changes: [{ ...change, field: "messages" }] }];
    this.raw(JSON.stringify({ object: "whatsapp_business_account", entry }));
  }

  raw(body: string): void {
    this.#queue.push(body);
    if (this.twice) this.#queue.push(`${body} `);
    this.twice = false;
    this.#pump();
  }

  #pump(): void {
    this.#posting ??= this.#work().finally(() => {
      this.#posting = null;
    });
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0 && !this.#ended && this.#server !== null) {
      const body = this.#queue[0] as string;
      const status = await this.#deliver(body);
      this.answers.push(status);
      if (status === 200) this.#queue.shift();
      else await new Promise((go) => setTimeout(go, repeatMs));
    }
  }

  async #deliver(body: string): Promise<number> {
    if (this.callback === null) return 0;
    const mac = createHmac("sha256", appSecret).update(body).digest("hex");
    const headers = {
      "content-type": "application/json",
      "x-hub-signature-256": `sha256=${mac}`,
      connection: "close",
    };
    try {
      const answer = await fetch(this.callback, { method: "POST", headers, body });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 0;
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const path = (request.url ?? "").replace(/^\/v23\.0\//, "").replace(/\?.*$/, "");
    const method = path.includes("/") ? (path.split("/")[1] as string) : "get";
    const answer = (status: number, json: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(json));
    };
    const refuse = (status: number, code: number, headers: Record<string, string> = {}) =>
      answer(
        status,
        {
          error: {
            message: `(#${code}) refused for ${request.headers.authorization}`,
            type: "OAuthException",
            code,
            error_data: { messaging_product: "whatsapp", details: "refused" },
            fbtrace_id: "AYv7d",
          },
        },
        headers,
      );
    if (request.headers.authorization !== `Bearer ${this.token}`) {
      refuse(401, 190);
      return;
    }
    const fault = this.faults.next(method);
    if (fault?.kind === "refuse") {
      const after = fault.retryAfter;
      const headers = after === undefined ? {} : { "retry-after": String(after) };
      refuse(fault.status, codes[fault.status] ?? fault.status, headers);
      return;
    }
    const isDone = fault === null || ("done" in fault && fault.done === true);
    const reply = isDone ? this.#answer(path, body) : { status: 200, json: {} };
    if (fault !== null && breakAnswer(fault, request, response)) return;
    if ("data" in reply) {
      response.writeHead(200, { "content-type": reply.mime });
      response.end(reply.data);
    } else if (reply.status === 200) answer(200, reply.json);
    else refuse(reply.status, reply.json as number);
  }

  #answer(
    path: string,
    body: Buffer,
  ):
    | { readonly status: number; readonly json: unknown }
    | { readonly mime: string; readonly data: Buffer } {
    if (path === phoneNumberId) {
      const number = { display_phone_number: "+1 555-078-3881", verified_name: "Scout" };
      return { status: 200, json: { id: phoneNumberId, ...number } };
    }
    if (path === `${phoneNumberId}/media`) {
      const id = `88${this.files.size + 1}`;
      const mime = /name="type"\r\n\r\n([^\r]+)/.exec(body.toString("latin1"))?.[1] ?? "";
      this.files.set(id, { mime, data: body });
      return { status: 200, json: { id } };
    }
    if (path === `${phoneNumberId}/messages`) return this.#message(JSON.parse(String(body)));
    const [, download] = /^\/?download\/(\w+)$/.exec(path) ?? [];
    const file = this.files.get(download ?? path);
    if (file === undefined) return { status: 400, json: 100 };
    if (download !== undefined) return file;
    const url = `${this.origin}/download/${path}`;
    return { status: 200, json: { url, mime_type: file.mime, id: path } };
  }

  #message(body: Record<string, unknown>): { readonly status: number; readonly json: unknown } {
    if (body.messaging_product !== "whatsapp") return { status: 400, json: 100 };
    if (body.status === "read") {
      this.reads.push(body);
      return { status: 200, json: { success: true } };
    }
    const { to, recipient, type, text } = body as Record<string, string>;
    const words = (text as unknown as { body?: string } | undefined)?.body ?? "";
    if ((to ?? recipient) === undefined || typeof type !== "string" || words.length > 4_096)
      return { status: 400, json: 100 };
    const id = this.wamid();
    this.sent.push({ id, body });
    const contacts = [{ input: to ?? recipient, wa_id: to ?? recipient }];
    return { status: 200, json: { messaging_product: "whatsapp", contacts, messages: [{ id }] } };
  }
}

export async function startWhatsAppServer(): Promise<WhatsAppServer> {
  const server = new WhatsAppServer();
  await server.up();
  return server;
}
