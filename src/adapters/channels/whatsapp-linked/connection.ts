/**
 * One connection
 * ==============
 * From the handshake to its end, with the library's settings: nothing is fetched besides what a message
 * needs, no history is downloaded, the phone keeps its own notifications. An ended connection is not used
 * again; why it ended is a code (errors.ts).
 */
import type { AuthenticationCreds, BinaryNode, WASocket } from "baileys";
import type { LinkedAccountConfig } from "./config.ts";
import type { LinkedGroups } from "./groups.ts";
import { inboxed } from "./inbox.ts";
import { type Baileys, silent } from "./library.ts";
import type { LinkedStore } from "./store.ts";

/** What the device calls itself in the list of linked devices. */
const browser: [string, string, string] = ["Mac OS", "Chrome", "earshot"];
const queryMsMax = 15_000;
const connectMsMax = 20_000;
const closeMsMax = 1_000;

export interface ConnectionEvents {
  /** Logged in; messages arrive. */
  onOpen(): void;
  /** What a phone has to scan; a secret. */
  onQr(text: string): void;
  /** A phone has confirmed; the connection ends now, and another one logs in. */
  onPaired(): void;
  onStored(): void;
  onUnreadable(stanza: BinaryNode | undefined): void;
}

export interface Connection {
  readonly socket: WASocket;
  /** Resolves to the code of its end; null: it ended without one. */
  readonly ended: Promise<number | null>;
  /** Resolves when it is closed, after 1 s at the latest. */
  close(): Promise<void>;
}

interface Parts {
  readonly baileys: Baileys;
  readonly store: LinkedStore;
  readonly config: LinkedAccountConfig;
  readonly groups: LinkedGroups;
  readonly creds: AuthenticationCreds;
}

export function connect(parts: Parts, events: ConnectionEvents): Connection {
  const { baileys, store, config, groups, creds } = parts;
  const inbox = inboxed(baileys, store, events);
  const socket = baileys.makeWASocket({
    auth: { creds, keys: store.keys },
    waWebSocketUrl: config.url,
    browser,
    logger: silent,
    connectTimeoutMs: connectMsMax,
    defaultQueryTimeoutMs: queryMsMax,
    emitOwnEvents: false,
    markOnlineOnConnect: false,
    syncFullHistory: false,
    shouldSyncHistoryMessage: () => false,
    generateHighQualityLinkPreview: false,
    makeSignalRepository: inbox.make,
    cachedGroupMetadata: async (jid) => groups.known(jid),
    async getMessage({ id }) {
      const sent = id ? store.sent(id) : null;
      return sent === null ? undefined : baileys.proto.Message.decode(sent);
    },
  });
  inOrder(socket.ws, "CB:message", (stanza) => inbox.expect(stanza));
  // Before the library's own listener.
  socket.ws.prependListener("CB:notification", (stanza: BinaryNode) => groups.changed(stanza));
  const line = socket.ws as unknown as { readonly socket: { terminate(): void } | null };
  let end = (_code: number | null): void => undefined;
  const ended = new Promise<number | null>((resolve) => {
    end = resolve;
  });
  socket.ev.on("creds.update", (update) => store.saveCreds(Object.assign(creds, update)));
  socket.ev.on("connection.update", ({ connection, lastDisconnect, qr, isNewLogin }) => {
    if (qr !== undefined) events.onQr(qr);
    if (isNewLogin === true) events.onPaired();
    if (connection === "open") events.onOpen();
    if (connection === "close") end(codeOf(lastDisconnect?.error));
  });
  return {
    socket,
    ended,
    async close() {
      const closing = socket.end(undefined);
      const limit = setTimeout(() => line.socket?.terminate(), closeMsMax);
      await closing;
      clearTimeout(limit);
    },
  };
}

type Listener = (stanza: BinaryNode) => unknown;

/**
 * One stanza after the other: the library reads several at once, and what somebody writes first could come
 * second. What was missed (`offline`) would have a queue of its own; here all have the same.
 */
function inOrder(line: WASocket["ws"], event: string, before: (stanza: BinaryNode) => void): void {
  const listeners = line.listeners(event) as Listener[];
  line.removeAllListeners(event);
  let last: Promise<unknown> = Promise.resolve();
  line.on(event, ({ attrs: { offline: _, ...attrs }, ...rest }: BinaryNode) => {
    const stanza = { ...rest, attrs };
    before(stanza);
    // The library has a handler of its own for what goes wrong.
    last = last.then(() => Promise.allSettled(listeners.map((listener) => listener(stanza))));
  });
}

function codeOf(error: unknown): number | null {
  const output = (error as { output?: { statusCode?: unknown } } | undefined)?.output;
  return typeof output?.statusCode === "number" ? output.statusCode : null;
}
