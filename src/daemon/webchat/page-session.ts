/**
 * One open page
 * =============
 * A socket from hello to close: it checks the token at hello and with every message, handles messages
 * in order, and sends everything since the page was last connected. A page that reads too slowly or
 * breaks the protocol is closed with a reason; it reconnects and asks for what it missed.
 */
import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import {
  type ClientFrame,
  clientFrameSchema,
  closeCodes,
  type ServerFrame,
} from "../../adapters/channels/webchat/protocol.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Clock, Log } from "../../domain/ports/index.ts";
import { onTokenChange } from "../http/token-watch.ts";
import type { TokenReader } from "../state/token.ts";
import { sameSecret } from "../state/token.ts";

const helloMsMax = 5_000;
const beatMs = 30_000;
const unsentBytesMax = 8_388_608;
/** Frame limit before hello, which is a token and a number. */
const helloBytesMax = 4_096;
const waitingCountMax = 100;

type MessageFrame = Extract<ClientFrame, { type: "message" }>;

export interface SessionPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly readToken: TokenReader;
  /** The page is accepted; from now on it receives events. */
  opened(session: WebchatSession, after: number): Promise<void>;
  /** Accepts a message; resolves when it is durable. */
  take(session: WebchatSession, message: MessageFrame): Promise<void>;
  closed(session: WebchatSession): void;
}

export interface WebchatSession {
  send(frame: ServerFrame): void;
  close(reason: keyof typeof closeCodes): void;
  /** The greatest journal number sent to this page. */
  sentTo: number;
}

/** Serves one socket until it closes. `line`: its connection. */
export function serveSession(socket: WebSocket, line: Duplex, ports: SessionPorts): WebchatSession {
  const { clock } = ports;
  let state: "greeting" | "open" = "greeting";
  let waiting = 0;
  let alive = true;
  let work: Promise<void> = Promise.resolve();

  const session: WebchatSession = {
    sentTo: 0,
    send(frame) {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > unsentBytesMax) session.close("tooSlow");
      else socket.send(JSON.stringify(frame));
    },
    close(reason) {
      socket.close(closeCodes[reason], reason);
    },
  };
  const allowed = async (token: string) => {
    const current = await ports.readToken().catch(() => null);
    return current !== null && sameSecret(token, current);
  };
  let token = "";
  let closed = false;
  let off = () => {};

  async function greet(frame: ClientFrame): Promise<void> {
    if (frame.type !== "hello") return session.close("badFrame");
    token = frame.token;
    if (!(await allowed(token))) return session.close("badToken");
    if (closed) return;
    state = "open";
    line.off("data", count);
    clock.clearTimer(greeting);
    off = onTokenChange(ports.readToken, clock, () => {
      void allowed(token).then((still) => still || session.close("badToken"));
    });
    await ports.opened(session, frame.after);
  }
  async function hear(frame: ClientFrame): Promise<void> {
    if (frame.type !== "message") return session.close("badFrame");
    if (!(await allowed(token))) return session.close("badToken");
    await ports.take(session, frame);
  }

  // A frame is reported when it is complete; until then it is held.
  let strange = 0;
  const count = (part: Buffer) => {
    strange += part.length;
    if (strange > helloBytesMax) socket.terminate();
  };
  line.on("data", count);

  socket.on("message", (data, isBinary) => {
    const frame = isBinary ? null : parseFrame(data);
    if (frame === null || waiting >= waitingCountMax) return session.close("badFrame");
    waiting += 1;
    work = work
      .then(() => (state === "greeting" ? greet(frame) : hear(frame)))
      .catch((error: unknown) => complain(session, frame, error, ports.log))
      .finally(() => {
        waiting -= 1;
      });
  });
  socket.on("pong", () => {
    alive = true;
  });
  const beat = () => {
    if (!alive) return socket.terminate();
    alive = false;
    socket.ping();
    beating = clock.setLimit(beatMs, beat);
  };
  const greeting = clock.setLimit(helloMsMax, () => session.close("noHello"));
  let beating = clock.setLimit(beatMs, beat);
  socket.on("error", (error) => ports.log("debug", "webchat.socket-error", { error }));
  socket.on("close", () => {
    clock.clearTimer(greeting);
    clock.clearTimer(beating);
    closed = true;
    off();
    ports.closed(session);
  });
  return session;
}

function parseFrame(data: RawData): ClientFrame | null {
  try {
    const parsed = clientFrameSchema.safeParse(JSON.parse(String(data)));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/**
 * Reports a message that was not accepted. The page may send it again unless the error is final.
 */
function complain(session: WebchatSession, frame: ClientFrame, error: unknown, log: Log): void {
  const known = error instanceof EarshotError;
  if (!known) log("error", "webchat.failed", { frame: frame.type, error });
  session.send({
    type: "error",
    ...(frame.type === "message" ? { id: frame.id } : {}),
    ...(known && error.disposition === "terminal" ? { final: true } : {}),
    code: known ? error.code : "internal",
    message: known ? error.message : "Cannot accept this now: internal error. See the log",
  });
}
