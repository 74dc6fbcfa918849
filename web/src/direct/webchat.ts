/**
 * The connection of the direct chat
 * =================================
 * One WebSocket that comes back by itself: waits grow from half a second to ten, with some chance in them
 * so that many pages do not return at the same instant. On every connection it says hello with the last
 * `n` it has and sends all pending lines again under their own ids, so nothing is lost and nothing doubled.
 */
import { type ClientFrame, parseFrame, type ServerFrame } from "./frames.ts";
import type { Pending } from "./talk.ts";

export type Link =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly tries: number }
  | { readonly state: "refused"; readonly message: string };

export interface WebchatOptions {
  readonly url: string;
  readonly token: string;
  /** The `n` after which the page wants everything. */
  readonly after: () => number;
  /** Lines not yet taken, oldest first. */
  readonly pending: () => readonly Pending[];
  readonly onFrame: (frame: ServerFrame) => void;
  readonly onLink: (link: Link) => void;
}

export interface Webchat {
  /** Sends a line now if connected; otherwise it goes out with the next connection. */
  send(line: Pending): void;
  close(): void;
}

const waitMsMin = 500;
const waitMsMax = 10_000;
/** A connection that says nothing at all for this long after hello is given up. */
const readyMsMax = 10_000;
/** A line that was sent and not taken is sent again after this. */
const retryMs = 5_000;
/** The daemon lets so many wait and closes on more. */
const pendingAtOnceMax = 50;
/** Codes by which the daemon says that trying again is of no use. */
const refusals = /^EAR_(AUTH|TOKEN|UNAUTHORI[SZ]ED|FORBIDDEN|WEBCHAT_TOKEN)/;
const closedByPolicy = 1008;
const closedByToken = 4401;

/** How long to wait before a try, in ms. */
const waitMs = (tries: number): number =>
  Math.min(waitMsMax, waitMsMin * 2 ** (tries - 1)) * (0.75 + Math.random() * 0.5);

/** Opens the connection and keeps it open until `close`. */
export function openWebchat(options: WebchatOptions): Webchat {
  let socket: WebSocket | null = null;
  let ready = false;
  let tries = 0;
  let over = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  const say = (frame: ClientFrame) => socket?.send(JSON.stringify(frame));
  const saying = (line: Pending) => say({ type: "message", ...line });
  /** Sends what is pending, again and again until it is taken: ids make that one message. */
  function sendPending(): void {
    clearTimeout(retryTimer);
    if (!ready) return;
    const lines = options.pending();
    for (const line of lines.slice(0, pendingAtOnceMax)) saying(line);
    if (lines.length > 0) retryTimer = setTimeout(sendPending, retryMs);
  }

  function refuse(message: string): void {
    over = true;
    clearTimeout(timer);
    socket?.close();
    options.onLink({ state: "refused", message });
  }

  function lost(event: CloseEvent): void {
    socket = null;
    ready = false;
    clearTimeout(timer);
    if (over) return;
    if (event.code === closedByPolicy || event.code === closedByToken) {
      refuse(event.reason);
      return;
    }
    tries += 1;
    options.onLink({ state: "lost", tries });
    timer = setTimeout(open, waitMs(tries));
  }

  function heard(data: unknown): void {
    const frame = typeof data === "string" ? parseFrame(data) : null;
    if (frame === null) return;
    if (frame.type === "error" && refusals.test(frame.code)) {
      refuse(frame.message);
      return;
    }
    if (frame.type === "ready") {
      clearTimeout(timer);
      ready = true;
      tries = 0;
      options.onLink({ state: "live" });
      options.onFrame(frame);
      sendPending();
      return;
    }
    options.onFrame(frame);
  }

  function open(): void {
    clearTimeout(timer);
    const opened = new WebSocket(options.url);
    socket = opened;
    timer = setTimeout(() => opened.close(), readyMsMax);
    opened.addEventListener("open", () =>
      say({ type: "hello", token: options.token, after: options.after() }),
    );
    opened.addEventListener("message", (event) => heard(event.data));
    opened.addEventListener("close", lost);
  }

  function hurry(): void {
    if (over || socket !== null) return;
    tries = 0;
    open();
  }

  addEventListener("online", hurry);
  options.onLink({ state: "connecting" });
  open();
  return {
    send(line) {
      if (!ready) return;
      saying(line);
      clearTimeout(retryTimer);
      retryTimer = setTimeout(sendPending, retryMs);
    },
    close() {
      over = true;
      ready = false;
      clearTimeout(timer);
      clearTimeout(retryTimer);
      removeEventListener("online", hurry);
      socket?.close();
    },
  };
}
