/**
 * The bridge
 * ==========
 * The Stately inspector has no server address; it posts `@statelyai.connected` to the window that
 * frames or opened it, and reads what is posted to it. So this page waits for that message, then
 * opens a socket and forwards every frame. Nothing is kept: each such message gets a new socket,
 * which starts with the live conversations.
 *
 * The message counts only from the window we opened, of the site we opened; frames are posted to
 * that site only.
 */
import { ApiError, ask } from "../lib/api.ts";
import type { InspectorView } from "./status-text.ts";

export interface BridgeOptions {
  readonly token: string;
  readonly key: string | null;
  readonly words: boolean;
  readonly face: InspectorView;
}

interface Ticket {
  /** Path of the socket, good for one. */
  readonly socket: string;
  /** The inspector. */
  readonly page: string;
}

const silentMsMax = 6_000;
const againMs = 1_000;
const connected = "@statelyai.connected";
/** The token that opened it is not the current one any more. */
const badToken = 4_401;

export async function startBridge(options: BridgeOptions): Promise<void> {
  const { face } = options;
  const buy = ticketsOf(options);
  const first = await buy();
  if (first === null) return;
  const { origin } = new URL(first.page);
  const name = new URL(first.page).host;
  let popup: Window | null = null;
  let line: Line | null = null;

  face.showOrigin(origin);
  face.status(`Waiting for ${name}…`);
  face.problem(navigator.onLine ? null : "silent");
  const silent = setTimeout(() => face.problem("silent"), silentMsMax);
  window.addEventListener("message", ({ source, origin: from, data }) => {
    const isOurs = source === (popup ?? face.frame.contentWindow) && from === origin;
    if (!isOurs || source === null || data?.type !== connected) return;
    clearTimeout(silent);
    face.problem(null);
    if (popup !== null) face.frame.hidden = true;
    line?.end();
    line = openLine({ face, buy, name, hand: (frame) => post(source as Window, frame, origin) });
  });
  face.onWindow(() => {
    popup = window.open(first.page, "xstateinspector");
    if (popup === null)
      return face.status("The browser blocked the window. Allow pop-ups for this page.");
    line?.end();
    face.frame.hidden = true;
    face.frame.removeAttribute("src");
    face.status(`${name} is open in the other window.`);
  });
  face.frame.src = first.page;
}

function post(target: Window, frame: unknown, origin: string): void {
  target.postMessage(frame, origin);
}

/** Tickets, one after the other; null: there is none to be had, and the page says so. */
function ticketsOf({ token, key, words, face }: BridgeOptions): () => Promise<Ticket | null> {
  const body = { ...(key === null ? {} : { key }), words };
  return async () => {
    for (;;) {
      try {
        return (await ask("/api/inspect/tickets", { token, body })) as Ticket;
      } catch (error) {
        const status = error instanceof ApiError ? error.status : 0;
        if (status === 401 || status === 400) {
          face.problem(status === 401 ? "refused" : "unknown");
          return null;
        }
        face.status("earshot is not responding. This page retries until it is back.");
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  };
}

interface Line {
  end(): void;
}

interface LineOptions {
  readonly face: InspectorView;
  readonly buy: () => Promise<Ticket | null>;
  readonly name: string;
  readonly hand: (frame: unknown) => void;
}

/** A socket that is opened again when it was lost, until it is ended. */
function openLine({ face, buy, name, hand }: LineOptions): Line {
  let ended = false;
  let socket: WebSocket | null = null;
  let count = 0;
  const open = async (): Promise<void> => {
    const ticket = await buy();
    if (ticket === null || ended) return;
    socket = new WebSocket(new URL(ticket.socket, location.href));
    socket.onopen = () => face.status(`Connected to ${name}.`);
    socket.onmessage = ({ data }) => {
      if (ended) return;
      hand(JSON.parse(data));
      count += 1;
      face.status(`Connected to ${name}: ${count} ${count === 1 ? "frame" : "frames"} sent.`);
    };
    socket.onclose = ({ code }) => {
      if (ended) return;
      if (code === badToken) return face.problem("refused");
      face.status("Connection lost. Reconnecting…");
      setTimeout(() => void open(), againMs);
    };
  };
  void open();
  return {
    end() {
      ended = true;
      socket?.close();
    },
  };
}
