/**
 * A client of the webchat
 * =======================
 * Speaks the same protocol as the page: sends hello with the last number it has, repeats
 * unacknowledged messages with the same ids after a reconnect, and emits every frame once. A restart
 * of the daemon in the middle of a conversation loses nothing.
 */
import { randomUUID } from "node:crypto";
import WebSocket from "ws";
import {
  type ClientFrame,
  closeCodes,
  type ServerFrame,
  serverFrameSchema,
} from "../../../adapters/channels/webchat/protocol.ts";
import { EarshotError } from "../../../domain/errors.ts";
import type { DaemonAddress } from "../lib/api-client.ts";

export interface ChatListener {
  frame(frame: ServerFrame): void;
  /** The connection was lost or restored. */
  connected(is: boolean): void;
  /** The connection cannot be restored. */
  failed(error: EarshotError): void;
}

export interface ChatClient {
  /**
   * Sends a message, with files that were uploaded for it, as soon as there is a connection. Returns
   * its id.
   */
  say(text: string, attachments?: readonly string[]): string;
  /** Messages that are not acknowledged. */
  unsent(): number;
  close(): void;
}

const retryMsMin = 250;
const retryMsMax = 5_000;

/**
 * Opens the chat. `find` is called before every connection, because a restarted daemon may have
 * another address. `after`: the last number already known.
 */
export function openChat(
  find: () => Promise<DaemonAddress | null>,
  listener: ChatListener,
  after: number,
): ChatClient {
  const unsent = new Map<string, Extract<ClientFrame, { type: "message" }>>();
  let known = after;
  let socket: WebSocket | null = null;
  let open = false;
  let closed = false;
  let retryMs = retryMsMin;
  let timer: NodeJS.Timeout | null = null;

  const send = (frame: ClientFrame) => socket?.send(JSON.stringify(frame));
  /** Sends unacknowledged messages again, with the same ids. */
  const resend = () => {
    if (open) for (const message of unsent.values()) send(message);
  };
  const receive = (frame: ServerFrame) => {
    if (frame.type === "ready") {
      open = true;
      retryMs = retryMsMin;
      listener.connected(true);
      resend();
    }
    if (frame.type === "taken") unsent.delete(frame.id);
    // A message that can never be accepted is not sent again.
    if (frame.type === "error" && frame.final === true) unsent.delete(frame.id ?? "");
    else if (frame.type === "error") setTimeout(resend, retryMsMax).unref();
    if (frame.type === "taken" || frame.type === "said") {
      if (frame.n <= known) return;
      known = frame.n;
    }
    listener.frame(frame);
  };
  const lost = (code: number) => {
    socket = null;
    if (open && !closed) listener.connected(false);
    open = false;
    if (closed) return;
    if (code === closeCodes.badToken)
      return listener.failed(
        new EarshotError(
          "EAR_USAGE",
          "Cannot chat: the daemon refused the token. If it was just rotated, try again",
        ),
      );
    timer = setTimeout(connect, retryMs);
    retryMs = Math.min(retryMs * 2, retryMsMax);
  };
  const connect = () => {
    find().then(
      (daemon) => {
        if (closed) return;
        if (daemon === null) return lost(0);
        const opening = new WebSocket(`${daemon.base.replace("http", "ws")}/ws`);
        socket = opening;
        opening.on("open", () => send({ type: "hello", token: daemon.token, after: known }));
        opening.on("message", (data) => {
          const frame = serverFrameSchema.safeParse(JSON.parse(String(data)));
          if (frame.success) receive(frame.data);
        });
        opening.on("error", () => undefined);
        opening.on("close", (code) => lost(code));
      },
      () => lost(0),
    );
  };
  connect();
  return {
    say(text, attachments = []) {
      const id = randomUUID();
      const message = {
        type: "message" as const,
        id,
        text,
        replyTo: null,
        attachments: [...attachments],
      };
      unsent.set(message.id, message);
      if (open) send(message);
      return message.id;
    },
    unsent: () => unsent.size,
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      socket?.close();
    },
  };
}
