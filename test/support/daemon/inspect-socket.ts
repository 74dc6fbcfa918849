/**
 * A socket to /inspect/ws as somebody opens it by hand: what came, and how it ended.
 */
import { vi } from "vitest";
import WebSocket from "ws";

export interface Opened {
  readonly socket: WebSocket;
  /** What came, parsed. */
  readonly frames: Record<string, unknown>[];
  /** The HTTP status of a handshake that was refused. */
  refused: number | null;
  closed: { readonly code: number; readonly reason: string } | null;
}

export interface OpenOptions {
  readonly headers?: Record<string, string>;
  /** Said first. */
  readonly hello?: unknown;
}

const timeout = 60_000;
/** Resolves when it holds for what is in this process. */
export const soon = <Answer>(claim: () => Answer | Promise<Answer>) =>
  vi.waitFor(claim, { timeout, interval: 50 });
/** The same for a claim that asks a daemon or another server each time, which costs both of them. */
export const soonAsked = <Answer>(claim: () => Promise<Answer>) =>
  vi.waitFor(claim, { timeout, interval: 250 });

/** Opens it and waits until it is open or refused. */
export async function openInspect(url: string, options: OpenOptions = {}): Promise<Opened> {
  const { headers = {}, hello } = options;
  const socket = new WebSocket(url.replace("http", "ws"), { headers });
  const opened: Opened = { socket, frames: [], refused: null, closed: null };
  socket.on("message", (data) => void opened.frames.push(JSON.parse(String(data))));
  socket.on("close", (code, reason) => {
    opened.closed = { code, reason: String(reason) };
  });
  await new Promise<void>((done) => {
    socket.on("open", done);
    socket.on("unexpected-response", (_, response) => {
      opened.refused = response.statusCode ?? 0;
      socket.terminate();
      done();
    });
    socket.on("error", () => done());
  });
  if (hello !== undefined) socket.send(JSON.stringify(hello));
  return opened;
}
