/**
 * The connection of the direct chat
 * =================================
 * One WebSocket that reconnects: waits grow from half a second to ten, with jitter so that many
 * pages do not return at once. On every connection it says hello with the last `n` it has and sends
 * all pending lines again under their own ids, so nothing is lost and nothing is sent twice.
 */
import type { Link } from "../lib/connection-state.ts";

import type { Pending } from "./chat-reducer.ts";
import { type ClientFrame, parseFrame, type ServerFrame } from "./frames.ts";

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

const waitMsMin = 500;
const waitMsMax = 10_000;
/** A connection that says nothing at all for this long after hello is given up. */
const readyMsMax = 10_000;
/** A line that was sent and not taken is sent again after this. */
const retryMs = 5_000;
/** The daemon lets so many wait and closes on more. */
const pendingSendsMax = 50;
/**
 * The daemon closes with this when the token is not the one in its file: trying again is of no use.
 */
const closedByToken = 4401;
/** How long to wait before a try, in ms. */
const waitMs = (tries: number): number =>
  Math.min(waitMsMax, waitMsMin * 2 ** (tries - 1)) * (0.75 + Math.random() * 0.5);

const frameOf = ({ id, text, replyTo, files }: Pending): ClientFrame => ({
  type: "message",
  id,
  text,
  replyTo,
  attachments: files.map((file) => file.id),
});

/** A connection that is kept open until `close`. */
export class Webchat {
  readonly #options: WebchatOptions;
  #socket: WebSocket | null = null;
  #ready = false;
  #over = false;
  #tries = 0;
  /** Waits for `ready`, or for the next try. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(options: WebchatOptions) {
    this.#options = options;
    addEventListener("online", this.#hurry);
    options.onLink({ state: "connecting" });
    this.#open();
  }

  /** Sends a line now if connected; otherwise it goes out with the next connection. */
  send(line: Pending): void {
    if (!this.#ready) return;
    this.#say(frameOf(line));
    clearTimeout(this.#retry);
    this.#retry = setTimeout(this.#sendPending, retryMs);
  }

  close(): void {
    this.#over = true;
    this.#ready = false;
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    removeEventListener("online", this.#hurry);
    this.#socket?.close();
  }

  #say(frame: ClientFrame): void {
    this.#socket?.send(JSON.stringify(frame));
  }

  /** Sends what is pending, again and again until it is taken: ids make that one message. */
  readonly #sendPending = (): void => {
    clearTimeout(this.#retry);
    if (!this.#ready) return;
    const lines = this.#options.pending().filter(({ refused }) => refused === undefined);
    for (const line of lines.slice(0, pendingSendsMax)) this.#say(frameOf(line));
    if (lines.length > 0) this.#retry = setTimeout(this.#sendPending, retryMs);
  };

  readonly #hurry = (): void => {
    if (this.#over || this.#socket !== null) return;
    this.#tries = 0;
    this.#open();
  };

  #open(): void {
    clearTimeout(this.#timer);
    const { url, token, after } = this.#options;
    const socket = new WebSocket(url);
    this.#socket = socket;
    this.#timer = setTimeout(() => socket.close(), readyMsMax);
    socket.addEventListener("open", () => this.#say({ type: "hello", token, after: after() }));
    socket.addEventListener("message", (event) => this.#receive(event.data));
    socket.addEventListener("close", (event) => this.#lost(event));
  }

  #receive(data: unknown): void {
    const frame = typeof data === "string" ? parseFrame(data) : null;
    if (frame === null) return;
    if (frame.type === "ready") {
      clearTimeout(this.#timer);
      this.#ready = true;
      this.#tries = 0;
      this.#options.onLink({ state: "live" });
    }
    this.#options.onFrame(frame);
    if (frame.type === "ready") this.#sendPending();
  }

  #lost({ code, reason }: CloseEvent): void {
    this.#socket = null;
    this.#ready = false;
    clearTimeout(this.#timer);
    if (this.#over) return;
    if (code === closedByToken) {
      this.close();
      this.#options.onLink({ state: "refused", message: reason });
      return;
    }
    this.#tries += 1;
    this.#options.onLink({ state: "lost", tries: this.#tries });
    this.#timer = setTimeout(() => this.#open(), waitMs(this.#tries));
  }
}
