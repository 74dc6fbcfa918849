/**
 * A BlueBubbles server as the program behind the account
 * ======================================================
 * It is asked for rows behind the last one (`message/query` by ROWID), which loses nothing over a time
 * away. What becomes of older messages (edits, unsends) comes by its webhook only. `tempGuid` keeps a
 * send from being queued twice while it is under way; it is forgotten then, so it is no idempotency key.
 */

import { timingSafeEqual } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { ChannelHook, Clock } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { deadline } from "../../http/deadline.ts";
import { hookJson } from "../../http/hook-body.ts";
import { createHttpClient } from "../../http/http-client.ts";
import { notSentCodes } from "../shared/unsent.ts";
import type { AppleBackend, AppleListener, AppleRow, AppleSend } from "./backend.ts";
import {
  anySchema,
  chatSchema,
  infoSchema,
  isWhole,
  messageSchema,
  numberedSchema,
  pageSchema,
  postedSchema,
  rowOf,
  sentSchema,
} from "./bluebubbles-wire.ts";
import type { ImessageAccountConfig } from "./config.ts";
import { type CallKind, refused, unanswered, unavailable } from "./errors.ts";
import { tapbackName } from "./tapbacks.ts";

const pageMax = 100;
const callMsMax = 20_000;
/** How often is asked for the files of a message before it is taken without them. */
const lateFilePolls = 5;
const retryAfterSecondsMax = 3_600;

interface Call<Answer> {
  readonly kind: CallKind;
  readonly signal: AbortSignal;
  readonly schema: z.ZodType<Answer>;
  readonly method?: string;
  readonly body?: unknown;
}

const seg = encodeURIComponent;

export class BlueBubblesBackend implements AppleBackend {
  /** `message/attachment` takes no text. */
  readonly hasCaptions = false;
  readonly #config: ImessageAccountConfig;
  readonly #clock: Clock;
  /** The row whose files are waited for, and how often they were not there. */
  #waiting: { readonly rowId: number; readonly asked: number } | null = null;

  constructor(config: ImessageAccountConfig, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
  }

  async connect(signal: AbortSignal): Promise<void> {
    await this.#call("ping", { kind: "connect", signal, schema: anySchema });
  }

  async close(): Promise<void> {}

  async identify(signal: AbortSignal) {
    const { data } = await this.#call("server/info", {
      kind: "connect",
      signal,
      schema: infoSchema,
    });
    const isReady = data.private_api === true && data.helper_connected !== false;
    const notes =
      this.#config.privateApi && !isReady
        ? ["The Private API is not ready: set it up in BlueBubbles, or leave privateApi out"]
        : [];
    return { id: "bluebubbles", name: data.detected_icloud || "iMessage", notes };
  }

  async newest(signal: AbortSignal): Promise<number> {
    const asked = { kind: "connect", signal, schema: pageSchema } as const;
    const body = { limit: 1, offset: 0, sort: "DESC" };
    const { data } = await this.#call("message/query", { ...asked, body });
    const read = messageSchema.safeParse(data[0]);
    return read.success ? read.data.originalROWID : 0;
  }

  async watch(since: number, listener: AppleListener, signal: AbortSignal): Promise<void> {
    let last = since;
    let isReady = false;
    while (!signal.aborted) {
      const page = await this.#behind(last, listener, signal);
      for (const row of page.rows) listener.onRow(row, row.rowId);
      last = Math.max(last, page.last);
      if (!isReady) listener.onReady();
      isReady = true;
      await listener.capacity();
      if (!page.isFull) await pauseFor(this.#clock, this.#config.pollMs, signal);
    }
  }

  /** Rows behind one, in their order. */
  async #behind(since: number, listener: AppleListener, signal: AbortSignal) {
    const body = {
      limit: pageMax,
      offset: 0,
      sort: "ASC",
      with: ["chat", "attachment", "attributedBody"],
      where: [{ statement: "message.ROWID > :startRowId", args: { startRowId: since } }],
    };
    const asked = { kind: "connect", signal, schema: pageSchema } as const;
    const { data } = await this.#call("message/query", { ...asked, body });
    const rows: AppleRow[] = [];
    const incomplete: number[] = [];
    let last = since;
    for (const one of data) {
      const numbered = numberedSchema.safeParse(one);
      if (numbered.success) last = Math.max(last, numbered.data.originalROWID);
      const read = messageSchema.safeParse(one);
      if (read.success) {
        rows.push(rowOf(read.data));
        if (!isWhole(read.data)) incomplete.push(read.data.originalROWID);
      } else listener.onUnreadable(read.error.issues[0]?.path.join(".") ?? "");
    }
    rows.sort((a, b) => a.rowId - b.rowId);
    const held = incomplete.sort((a, b) => a - b).find((rowId) => this.#mayCome(rowId));
    if (held === undefined) return { rows, last, isFull: data.length >= pageMax && last > since };
    const whole = rows.filter(({ rowId }) => rowId < held);
    return { rows: whole, last: Math.min(last, held - 1), isFull: false };
  }

  /** Whether the files of a row may still come; asked for rows in their order. */
  #mayCome(rowId: number): boolean {
    if (this.#waiting === null || this.#waiting.rowId < rowId) this.#waiting = { rowId, asked: 0 };
    const { rowId: waited, asked } = this.#waiting;
    if (waited !== rowId || asked === lateFilePolls) return false;
    this.#waiting = { rowId, asked: asked + 1 };
    return true;
  }

  async send(request: AppleSend): Promise<string | null> {
    const { chatGuid, text, replyTo, file, sendId, signal } = request;
    const method = this.#config.privateApi ? "private-api" : "apple-script";
    const common = {
      chatGuid,
      tempGuid: `earshot-${sendId}`,
      method,
      ...(replyTo !== undefined && { selectedMessageGuid: replyTo }),
    };
    const call = { kind: "send", signal, schema: sentSchema } as const;
    if (file === undefined) {
      const body = { ...common, message: text };
      return (await this.#call("message/text", { ...call, body })).data?.guid ?? null;
    }
    const form = new FormData();
    for (const [name, value] of Object.entries(common)) form.set(name, value);
    form.set("name", file.name);
    form.set("attachment", new Blob([Buffer.from(file.data)], { type: file.mime }), file.name);
    const { data } = await this.#call("message/attachment", { ...call, body: form });
    return data?.guid ?? null;
  }

  async members(chatGuid: string, signal: AbortSignal): Promise<number | null> {
    const path = `chat/${seg(chatGuid)}?with=participants`;
    const { data } = await this.#call(path, { kind: "ask", signal, schema: chatSchema });
    return data.participants?.length ?? null;
  }

  async download(guid: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { url = "" } = this.#config;
    const http = createHttpClient({ allowPrivate: [new URL(url).origin] });
    const address = this.#address(`attachment/${seg(guid)}/download`);
    const limit = { signal, bytesMax: limits.platformFileBytesMax, msMax: 30_000 };
    return http.stream(address, { ...limit, redirectsMax: 0 });
  }

  async react(
    { chatGuid, guid }: { chatGuid: string; guid: string },
    emoji: string,
    { remove, signal }: { remove: boolean; signal: AbortSignal },
  ): Promise<void> {
    const name = tapbackName(emoji);
    if (name === null)
      throw refused("react", "ask", "BlueBubbles has the six classic tapbacks only");
    const reaction = remove ? `-${name}` : name;
    const body = { chatGuid, selectedMessageGuid: guid, reaction };
    await this.#call("message/react", { kind: "ask", signal, schema: anySchema, body });
  }

  async edit({ guid }: { guid: string }, text: string, signal: AbortSignal): Promise<void> {
    const body = {
      editedMessage: text,
      backwardsCompatibilityMessage: `Edited to "${text}"`,
      partIndex: 0,
    };
    const call = { kind: "ask", signal, schema: anySchema, body } as const;
    await this.#call(`message/${seg(guid)}/edit`, call);
  }

  async typing(chatGuid: string, on: boolean, signal: AbortSignal): Promise<void> {
    const method = on ? "POST" : "DELETE";
    const call = { kind: "ask", signal, schema: anySchema, method } as const;
    await this.#call(`chat/${seg(chatGuid)}/typing`, call);
  }

  /** Edits and unsends; the address has the secret as the password of `earshot`. */
  hook(
    onChange: (row: AppleRow) => Promise<void>,
    onUnreadable: AppleListener["onUnreadable"],
  ): ChannelHook | null {
    const { webhookSecret } = this.#config;
    if (webhookSecret === undefined) return null;
    const wanted = Buffer.from(
      `Basic ${Buffer.from(`earshot:${webhookSecret}`).toString("base64")}`,
    );
    return {
      inspectHeaders({ headers }) {
        const given = Buffer.from(headers.authorization ?? "");
        const isSame = given.length === wanted.length && timingSafeEqual(given, wanted);
        return isSame ? { kind: "proven" } : { kind: "refused", why: "another password" };
      },
      verify: () => ({ kind: "verified", replayId: null }),
      async receive(body) {
        const posted = postedSchema.safeParse(hookJson(body));
        if (!posted.success)
          throw new EarshotError("EAR_INBOUND_INVALID", "Cannot accept the body: it has no type");
        if (posted.data.type !== "updated-message") return "";
        const read = messageSchema.safeParse(posted.data.data);
        if (read.success) await onChange(rowOf(read.data));
        else onUnreadable(read.error.issues[0]?.path.join(".") ?? "");
        return "";
      },
    };
  }

  #address(path: string): string {
    const { url = "", password = "" } = this.#config;
    const address = new URL(`api/v1/${path}`, url);
    address.searchParams.set("password", password);
    return address.href;
  }

  /** @throws EarshotError with the disposition that fits the call's kind */
  async #call<Answer>(path: string, call: Call<Answer>): Promise<Answer> {
    const { kind, signal, schema, body } = call;
    const what = `${path.split(/[/?]/)[0] ?? ""} at BlueBubbles`;
    if (signal.aborted) throw unavailable(what, "the call was cancelled");
    const limit = deadline(signal, kind === "send" ? limits.sendMsMax : callMsMax);
    try {
      const method = call.method ?? (body === undefined ? "GET" : "POST");
      const answer = await exchange(this.#address(path), method, body, limit.signal);
      const { statusCode: status = 0, headers } = answer;
      if (status < 200 || status > 299) {
        answer.destroy();
        throw statusError(status, headers["retry-after"], what, kind);
      }
      return schema.parse(JSON.parse(await textOf(answer)));
    } catch (error) {
      if (error instanceof EarshotError) throw error;
      const code = error instanceof Error && "code" in error ? String(error.code) : "no answer";
      // The message of a failed request has its address, and that the password.
      if (notSentCodes.has(code)) throw unavailable(what, `the server does not answer (${code})`);
      throw unanswered(what, kind, code);
    } finally {
      limit.done();
    }
  }
}

/** A request on a connection of its own, so that it is known whether it was sent. */
async function exchange(
  address: string,
  method: string,
  body: unknown,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const open = address.startsWith("https:") ? httpsRequest : httpRequest;
  const form = body instanceof FormData ? new Response(body) : null;
  const data =
    form === null
      ? body === undefined
        ? undefined
        : JSON.stringify(body)
      : Buffer.from(await form.arrayBuffer());
  const type = form === null ? "application/json" : (form.headers.get("content-type") ?? "");
  return new Promise((resolve, reject) => {
    const headers = data === undefined ? {} : { "content-type": type };
    const sent = open(address, { method, agent: false, signal, headers }, resolve);
    sent.on("error", reject);
    sent.end(data);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > limits.platformAnswerBytesMax) throw new Error("too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function statusError(
  status: number,
  retryAfter: string | undefined,
  what: string,
  kind: CallKind,
): EarshotError {
  const shown = `HTTP ${status}`;
  if (status === 429) {
    const seconds = Math.max(1, Math.min(Number(retryAfter) || 5, retryAfterSecondsMax));
    return new EarshotError("EAR_CHANNEL_RATE", `Cannot ${what}: it asks to wait ${seconds} s`, {
      retryAfterMs: seconds * 1_000,
    });
  }
  if (status === 401 || status === 403)
    return refused(what, kind, `the password was refused (${shown})`);
  if (status >= 400 && status < 500) return refused(what, kind, `it was refused (${shown})`);
  if (status === 503) return unavailable(what, `it is down (${shown})`);
  return unanswered(what, kind, shown);
}
