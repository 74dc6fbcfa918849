/**
 * imsg as the program behind the account: rows of the Messages database as it reports them (imsg's pages
 * JSON-RPC and JSON output). Replies, tapbacks and edits go through its bridge.
 */
import { createReadStream } from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, sep } from "node:path";
import { Readable } from "node:stream";
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { Clock } from "../../../domain/ports/index.ts";
import type { AppleBackend, AppleListener, AppleSend } from "./backend.ts";
import type { ImessageAccountConfig } from "./config.ts";
import { refused, unavailable } from "./errors.ts";
import { ImsgProcess } from "./imsg-process.ts";
import { messageSchema, rowOf } from "./imsg-wire.ts";
import { tapbackName } from "./tapbacks.ts";

const id = z.string().max(limits.idUnitsMax);
const row = z.number().int().min(0);

const noticeSchema = z.object({ message: messageSchema });
const chatsSchema = z.object({
  chats: z.array(z.object({ id: row, guid: id.optional(), participants: z.array(id).optional() })),
});
const messagesSchema = z.object({ messages: z.array(z.object({ id: row })) });
const sentSchema = z.object({ guid: id.optional(), message_id: id.optional() });
const anySchema = z.unknown();
const chatsMax = 1_000;

export class ImsgBackend implements AppleBackend {
  readonly hasCaptions = true;
  readonly #config: ImessageAccountConfig;
  readonly #clock: Clock;
  #process: ImsgProcess | null = null;
  readonly typing = null;

  constructor(config: ImessageAccountConfig, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
  }

  get #running(): ImsgProcess {
    if (this.#process === null) throw unavailable("send with imsg", "it does not run");
    return this.#process;
  }

  async connect(): Promise<void> {
    const started = await ImsgProcess.start(this.#config, this.#clock);
    this.#process = started;
    void started.ended.then(() => {
      if (this.#process === started) this.#process = null;
    });
  }

  async close(): Promise<void> {
    const running = this.#process;
    this.#process = null;
    await running?.close();
  }

  async identify() {
    await this.connect();
    try {
      await this.#running.call("chats.list", { limit: 1 }, "connect", chatsSchema);
      return { id: "imsg", name: "iMessage", notes: [] };
    } finally {
      await this.close();
    }
  }

  async newest(): Promise<number> {
    const { chats } = await this.#running.call("chats.list", { limit: 1 }, "connect", chatsSchema);
    const [chat] = chats;
    if (chat === undefined) return 0;
    const asked = { chat_id: chat.id, limit: 1 };
    const { messages } = await this.#running.call(
      "messages.history",
      asked,
      "connect",
      messagesSchema,
    );
    return messages[0]?.id ?? 0;
  }

  async watch(since: number, listener: AppleListener, signal: AbortSignal): Promise<void> {
    const running = this.#running;
    let reported = since;
    running.onNotice = async (method, params) => {
      if (method === "watch.overflow" || method === "error") void running.close();
      if (method !== "message") return;
      const read = noticeSchema.safeParse(params);
      if (!read.success) {
        listener.onUnreadable(read.error.issues[0]?.path.join(".") ?? "");
        return;
      }
      const { message } = read.data;
      reported = Math.max(reported, message.cursor ?? message.id);
      listener.onRow(rowOf(message), reported);
      await listener.capacity();
    };
    const stop = () => void running.close();
    signal.addEventListener("abort", stop, { once: true });
    try {
      const since_rowid = since > 0 ? { since_rowid: since } : {};
      const asked = { ...since_rowid, attachments: true, include_reactions: true };
      await running.call("watch.subscribe", asked, "connect", anySchema);
      listener.onReady();
      throw await running.ended;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async send({ chatGuid, text, replyTo, file }: AppleSend): Promise<string | null> {
    const target = { chat_guid: chatGuid };
    const folder = file === undefined ? null : await mkdtemp(join(tmpdir(), "earshot-imsg-"));
    try {
      const path = folder === null ? null : join(folder, safeName(file?.name ?? ""));
      if (path !== null && file !== undefined) await writeFile(path, file.data, { mode: 0o600 });
      const params = {
        ...target,
        ...(text !== "" && { text }),
        ...(path !== null && { file: path }),
        ...(replyTo !== undefined && { reply_to: replyTo }),
      };
      const sent = await this.#running.call("send", params, "send", sentSchema);
      return sent.guid ?? sent.message_id ?? null;
    } finally {
      // Messages has its own copy when the answer comes.
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    }
  }

  async members(chatGuid: string): Promise<number | null> {
    const asked = { limit: chatsMax };
    const { chats } = await this.#running.call("chats.list", asked, "ask", chatsSchema);
    return chats.find(({ guid }) => guid === chatGuid)?.participants?.length ?? null;
  }

  async download(path: string): Promise<ReadableStream<Uint8Array>> {
    const folder = this.#config.attachmentsDir.replace(/^~(?=\/|$)/, homedir());
    const [real, root] = await Promise.all([realpath(path), realpath(folder)]).catch(() => [
      "",
      "",
    ]);
    if (real === "" || root === "" || !real?.startsWith(root + sep))
      throw refused("read a file", "ask", "it is not in the folder of Messages");
    return Readable.toWeb(createReadStream(real)) as ReadableStream<Uint8Array>;
  }

  async react(
    { chatGuid, guid }: { chatGuid: string; guid: string },
    emoji: string,
    { remove }: { remove: boolean },
  ): Promise<void> {
    const name = tapbackName(emoji);
    const which = name === null ? { emoji } : { reaction: name };
    const params = { chat_guid: chatGuid, message_guid: guid, ...which, ...(remove && { remove }) };
    await this.#running.call("tapback", params, "ask", anySchema);
  }

  async edit({ chatGuid, guid }: { chatGuid: string; guid: string }, text: string): Promise<void> {
    const params = { chat_guid: chatGuid, message_guid: guid, text };
    await this.#running.call("message.edit", params, "ask", anySchema);
  }
}

/** A file name that stays in its folder. */
const safeName = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N}._-]/gu, "_")
    .replace(/^\.+/, "_")
    .slice(0, 100) || "file";
