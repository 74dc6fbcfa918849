/**
 * A BlueBubbles server on a test's Mac, on loopback. Written from its REST documentation (the Postman
 * collection of https://docs.bluebubbles.app/server/developer-guides/rest-api-and-webhooks): password in
 * the query, answers with status, message and data, `tempGuid` refused while the same is under way,
 * webhooks as posts of type and data.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { breakAnswer, createFaultScript } from "../servers/faults.ts";
import { Loopback } from "../servers/loopback.ts";
import type { Mac, MacRow } from "./mac.ts";

export const serverPassword = "canary-bubbles";
const reactions = ["love", "like", "dislike", "laugh", "emphasize", "question"];

type Body = Readonly<Record<string, unknown>>;

class Failure extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class BlueBubblesServer {
  readonly mac: Mac;
  readonly faults = createFaultScript();
  readonly uploads: { readonly name: string; readonly text: string }[] = [];
  readonly files = new Map<string, string>();
  /** The path of each request. */
  readonly asked: string[] = [];
  password = serverPassword;
  /** Rows that are no rows, in the next page. */
  garbage: unknown[] = [];
  readonly #server = new Loopback((request, response) => this.#serve(request, response));

  constructor(mac: Mac) {
    this.mac = mac;
  }

  get url(): string {
    return this.#server.url;
  }

  up(): Promise<void> {
    return this.#server.up();
  }

  down(): Promise<void> {
    return this.#server.down();
  }

  /** The body of the webhook for a changed message. */
  posted(row: MacRow): object {
    return { type: "updated-message", data: messageOf(row) };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    const path = pathname.replace(/^\/api\/v1\//, "");
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    const answer = (status: number, content: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ status, ...content }));
    };
    this.asked.push(path);
    const fault = this.faults.next(path);
    const undone = fault !== null && !("done" in fault && fault.done === true);
    if (fault !== null && undone && breakAnswer(fault, request, response)) return;
    if (fault?.kind === "slow") await new Promise((go) => setTimeout(go, fault.ms));
    try {
      if (searchParams.get("password") !== this.password)
        throw new Failure(401, "You are not authorized to access this resource");
      if (fault?.kind === "refuse") {
        if (fault.status === 429) response.setHeader("retry-after", String(fault.retryAfter ?? 1));
        throw new Failure(fault.status, "refused");
      }
      const file = /^attachment\/([^/]+)\/download$/.exec(path);
      if (file !== null) {
        const data = this.files.get(decodeURIComponent(file[1] ?? ""));
        response.writeHead(data === undefined ? 404 : 200).end(data);
        return;
      }
      const type = request.headers["content-type"] ?? "";
      const body = type.startsWith("multipart/") ? this.#upload(bytes, type) : jsonOf(bytes);
      const data = this.#perform(request.method ?? "GET", path, body);
      if (fault !== null && breakAnswer(fault, request, response)) return;
      answer(200, { message: "Success", data });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { status, message } = error;
      answer(status, { message, error: { type: "Error", message: "canary" } });
    }
  }

  #upload(bytes: Buffer, type: string): Body {
    const boundary = /boundary=(\S+)/.exec(type)?.[1] ?? "";
    const fields: Record<string, string> = {};
    for (const part of bytes.toString("utf8").split(`--${boundary}`).slice(1, -1)) {
      const head = part.indexOf("\r\n\r\n");
      const name = /name="([^"]+)"/.exec(part.slice(0, head))?.[1] ?? "";
      fields[name] = part.slice(head + 4).replace(/\r\n$/, "");
    }
    if (!fields.name || fields.attachment === undefined)
      throw new Failure(400, "Attachment not provided or was empty!");
    this.uploads.push({ name: fields.name, text: fields.attachment });
    return fields;
  }

  #perform(method: string, path: string, body: Body): unknown {
    const { mac } = this;
    const [head = "", guid = "", tail = ""] = path.split("/").map(decodeURIComponent);
    const chat = mac.chats.find((one) => one.guid === (head === "chat" ? guid : body.chatGuid));
    const target = mac.find(String(body.selectedMessageGuid ?? guid));
    if (path === "ping") return "pong";
    if (path === "server/info")
      return { private_api: true, helper_connected: true, detected_icloud: "bot@icloud.test" };
    if (path === "message/query") return this.#query(body);
    if (path === "message/text" || path === "message/attachment") {
      if (chat === undefined) throw new Failure(400, "Chat does not exist!");
      if (body.method === "apple-script" && !body.tempGuid) throw new Failure(400, "tempGuid");
      if (path === "message/text" && !body.message) throw new Failure(400, "message");
      const replyTo =
        body.selectedMessageGuid === undefined ? {} : { replyTo: String(body.selectedMessageGuid) };
      const row = mac.write(chat, null, String(body.message ?? ""), replyTo);
      mac.sent.push(row);
      return { ...messageOf(row), tempGuid: body.tempGuid };
    }
    if (path === "message/react") {
      const type = String(body.reaction);
      if (chat === undefined || target === undefined || !reactions.includes(type.replace(/^-/, "")))
        throw new Failure(400, "Selected message does not exist!");
      const plain = type.replace(/^-/, "");
      const tapback = { target: target.guid, type: plain, remove: type.startsWith("-") };
      return messageOf(mac.write(chat, null, "", { tapback }));
    }
    if (head === "message" && tail === "edit") {
      if (target === undefined || typeof body.editedMessage !== "string")
        throw new Failure(400, "Selected message does not exist!");
      mac.change(target, { text: body.editedMessage, editedAt: Date.now() });
      return messageOf(target);
    }
    if (head === "chat" && chat === undefined) throw new Failure(404, "Chat does not exist!");
    if (head === "chat" && tail === "typing") {
      mac.typings.push(method);
      return null;
    }
    if (head === "chat")
      return { guid: chat?.guid, participants: chat?.people.map((address) => ({ address })) };
    throw new Failure(404, "The requested resource was not found");
  }

  #query({ where = [], sort, limit = 100, offset = 0 }: Body): unknown[] {
    const [condition] = where as { statement: string; args: { startRowId: number } }[];
    if (condition !== undefined && condition.statement !== "message.ROWID > :startRowId")
      throw new Failure(400, "where");
    const since = condition?.args.startRowId ?? -1;
    const rows = this.mac.rows.filter(({ rowId }) => rowId > since);
    if (sort === "DESC") rows.reverse();
    const fault = this.faults.next("event");
    const page = rows.slice(Number(offset), Number(offset) + Number(limit)).map(messageOf);
    const odd = this.garbage;
    if (page.length > 0) this.garbage = [];
    return [...(page.length > 0 ? odd : []), ...page, ...(fault?.kind === "duplicate" ? page : [])];
  }
}

const jsonOf = (bytes: Buffer): Body =>
  bytes.length === 0 ? {} : (JSON.parse(bytes.toString("utf8")) as Body);

/** A message as BlueBubbles serialises it. */
function messageOf(row: MacRow): object {
  const { chat, tapback, files = [], mentions = [] } = row;
  return {
    originalROWID: row.rowId,
    guid: row.guid,
    text: tapback === undefined ? row.text : "Liked “something”",
    attributedBody: [
      {
        string: row.text,
        runs: mentions.map(({ handle, start, length }) => ({
          range: [start, length],
          attributes: {
            __kIMMessagePartAttributeName: 0,
            __kIMMentionConfirmedMention: handle,
          },
        })),
      },
    ],
    handle:
      row.sender === null
        ? null
        : { originalROWID: 1, address: row.sender, country: "de", service: "iMessage" },
    handleId: row.sender === null ? 0 : 1,
    otherHandle: 0,
    attachments: files.map(({ guid, name, mime }) => ({
      originalROWID: 1,
      guid,
      uti: "public.data",
      mimeType: mime,
      transferState: 5,
      totalBytes: 12,
      transferName: name,
      hideAttachment: false,
    })),
    subject: null,
    error: 0,
    dateCreated: row.createdAt,
    dateRead: null,
    dateDelivered: null,
    isFromMe: row.sender === null,
    itemType: 0,
    groupTitle: null,
    groupActionType: 0,
    balloonBundleId: null,
    associatedMessageGuid: tapback === undefined ? null : `p:0/${tapback.target}`,
    associatedMessageType:
      tapback === undefined ? null : `${tapback.remove ? "-" : ""}${tapback.type}`,
    threadOriginatorGuid: row.replyTo ?? null,
    chats: [
      {
        originalROWID: chat.id,
        guid: chat.guid,
        style: chat.guid.includes(";+;") ? 43 : 45,
        chatIdentifier: chat.guid.split(";").at(-1),
        displayName: chat.name,
      },
    ],
    dateEdited: row.editedAt ?? null,
    dateRetracted: row.retractedAt ?? null,
  };
}
