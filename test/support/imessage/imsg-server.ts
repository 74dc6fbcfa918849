/**
 * `imsg rpc` on a test's Mac. Written from imsg's pages JSON-RPC, JSON output and Watch
 * (https://github.com/openclaw/imsg, docs/rpc.md, docs/json.md, docs/watch.md): strict keys, a watch that
 * begins behind `since_rowid`, sends that answer with the guid of their row. The program itself is
 * imsg.mjs, which passes lines to this server.
 */

import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { createFaultScript } from "../servers/faults.ts";
import type { Mac, MacRow } from "./mac.ts";

const emoji: Readonly<Record<string, string>> = {
  love: "❤️",
  like: "👍",
  dislike: "👎",
  laugh: "😂",
  emphasis: "‼️",
  question: "❓",
};
const keys: Readonly<Record<string, readonly string[]>> = {
  "chats.list": ["limit", "unread_only"],
  "messages.history": ["chat_id", "limit", "participants", "start", "end", "attachments"],
  "watch.subscribe": ["chat_id", "since_rowid", "attachments", "include_reactions", "debounce_ms"],
  send: ["to", "chat_id", "chat_guid", "chat_identifier", "text", "file", "service", "reply_to"],
  tapback: ["chat_guid", "message_guid", "reaction", "emoji", "remove", "part_index"],
  "message.edit": ["chat_guid", "message_guid", "text"],
};

type Params = Readonly<Record<string, unknown>>;

class Failure extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class ImsgServer {
  readonly mac: Mac;
  readonly faults = createFaultScript();
  readonly files: { readonly path: string }[] = [];
  isReadable = true;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;
  #repeat = false;

  constructor(mac: Mac) {
    this.mac = mac;
  }

  /** What the account starts. */
  get program() {
    const script = fileURLToPath(new URL("imsg.mjs", import.meta.url));
    return { command: process.execPath, args: [script, String(this.#port)] };
  }

  async up(): Promise<void> {
    const server = createServer((socket) => this.#serve(socket));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    this.cut();
    await new Promise<void>((resolve) => {
      if (server === null) resolve();
      else server.close(() => resolve());
    });
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  raw(line: string): void {
    for (const socket of this.#sockets) socket.write(`${line}\n`);
  }

  repeatNext(): void {
    this.#repeat = true;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let rest = "";
    let unwatch = () => undefined as unknown;
    const write = (value: object) =>
      void socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...value })}\n`);
    socket.on("data", (data) => {
      const lines = (rest + data.toString("utf8")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#ask(line, socket, write, (stop) => (unwatch = stop));
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      unwatch();
      this.#sockets.delete(socket);
    });
  }

  #ask(
    line: string,
    socket: Socket,
    write: (value: object) => void,
    onWatch: (stop: () => void) => void,
  ): void {
    const {
      id,
      method,
      params = {},
    } = JSON.parse(line) as {
      id: string;
      method: string;
      params?: Params;
    };
    const fault = this.faults.next(method);
    try {
      const known = keys[method];
      if (known === undefined) throw new Failure(-32_601, "Method not found");
      const stray = Object.keys(params).find((key) => !known.includes(key));
      if (stray !== undefined) throw new Failure(-32_602, "Invalid params");
      if (!this.isReadable) throw new Failure(-32_602, "Invalid params");
      if (fault?.kind === "refuse")
        throw new Failure(fault.status === 503 ? -32_002 : -32_602, "refused");
      const result = this.#perform(method, params);
      if (fault?.kind === "reset") {
        socket.destroy();
        return;
      }
      write({ id, result });
      if (method === "watch.subscribe") onWatch(this.#watch(params, write));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      write({ id, error: { code: error.code, message: error.message, data: "canary" } });
    }
  }

  #perform(method: string, params: Params): unknown {
    const { mac } = this;
    const limit = Number(params.limit ?? 20);
    const target = mac.find(String(params.message_guid));
    const chat = mac.chats.find(
      ({ guid, id }) => guid === params.chat_guid || id === params.chat_id,
    );
    switch (method) {
      case "chats.list": {
        const newest = (id: number) => mac.rows.findLast((row) => row.chat.id === id)?.rowId ?? 0;
        const chats = [...mac.chats].sort((a, b) => newest(b.id) - newest(a.id)).slice(0, limit);
        return {
          chats: chats.map(({ id, guid, name, people }) => ({
            id,
            guid,
            name,
            identifier: guid.split(";").at(-1),
            service: "iMessage",
            participants: people,
            is_group: guid.includes(";+;"),
          })),
        };
      }
      case "messages.history":
        return {
          messages: mac.rows
            .filter((row) => row.chat === chat && row.tapback === undefined)
            .slice(-limit)
            .reverse()
            .map(payload),
        };
      case "watch.subscribe":
        return { subscription: 1, buffer_limit: 256 };
      case "send": {
        if (chat === undefined) throw new Failure(-32_602, "unknown chat");
        if (typeof params.file === "string") this.files.push({ path: params.file });
        if (!params.text && !params.file) throw new Failure(-32_602, "text or file is required");
        const replyTo = params.reply_to === undefined ? {} : { replyTo: String(params.reply_to) };
        const row = mac.write(chat, null, String(params.text ?? ""), replyTo);
        mac.sent.push(row);
        return { ok: true, id: row.rowId, guid: row.guid };
      }
      case "tapback": {
        if (chat === undefined || target === undefined) throw new Failure(-32_602, "unknown");
        const type = String(params.reaction ?? "custom");
        const other = params.emoji === undefined ? {} : { emoji: String(params.emoji) };
        const tapback = { target: target.guid, type, remove: params.remove === true, ...other };
        mac.write(chat, null, "", { tapback });
        return { ok: true };
      }
      default: {
        if (target === undefined) throw new Failure(-32_602, "unknown");
        target.text = String(params.text);
        return { ok: true };
      }
    }
  }

  #watch(params: Params, write: (value: object) => void): () => void {
    const report = (row: MacRow) => {
      if (row.tapback !== undefined && params.include_reactions !== true) return;
      const notice = { method: "message", params: { subscription: 1, message: payload(row) } };
      write(notice);
      if (this.#repeat) write(notice);
      this.#repeat = false;
    };
    const since = params.since_rowid;
    if (typeof since === "number" && since > 0)
      for (const row of this.mac.rows) if (row.rowId > since) report(row);
    return this.mac.watch((row, isNew) => {
      if (isNew) report(row);
    });
  }
}

/** A message as imsg writes it. */
function payload(row: MacRow): object {
  const { chat, tapback, files = [] } = row;
  return {
    id: row.rowId,
    cursor: row.rowId,
    chat_id: chat.id,
    guid: row.guid,
    sender: row.sender ?? "",
    is_from_me: row.sender === null,
    text: tapback === undefined ? row.text : "Liked “something”",
    created_at: new Date(row.createdAt).toISOString(),
    attachments: files.map(({ name, mime, path }) => ({
      filename: path,
      transfer_name: name,
      uti: "public.data",
      mime_type: mime,
      total_bytes: 12,
      is_sticker: false,
      original_path: path,
      missing: path === "",
    })),
    reactions: [],
    chat_identifier: chat.guid.split(";").at(-1),
    chat_guid: chat.guid,
    chat_name: chat.name,
    participants: chat.people,
    is_group: chat.guid.includes(";+;"),
    ...(row.replyTo !== undefined && {
      reply_to_guid: row.replyTo,
      thread_originator_guid: row.replyTo,
    }),
    ...(tapback !== undefined && {
      is_reaction: true,
      reaction_type: tapback.type,
      reaction_emoji: tapback.emoji ?? emoji[tapback.type],
      is_reaction_add: !tapback.remove,
      reacted_to_guid: tapback.target,
    }),
  };
}
