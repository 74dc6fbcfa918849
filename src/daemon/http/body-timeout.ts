/**
 * Time limit of a body
 * ====================
 * The body of a request must arrive soon after its headers, or the connection is closed, so a
 * very slow client uses no resources. A file from a client with the token may take longer, as long as
 * it keeps a minimum rate.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createSystemClock } from "../../adapters/system/clock.ts";
import { limits } from "../../domain/limits.ts";

/** Requests that may take longer at a minimum rate. */
const longBodies = new WeakSet<IncomingMessage>();

/** From now on the time limit of this body grows with the received bytes. */
export function allowLongBody(incoming: IncomingMessage): void {
  longBodies.add(incoming);
}

/** Closes the connection when the body takes too long. */
export function limitBodyTime(incoming: IncomingMessage, response: ServerResponse): void {
  const { "content-length": length, "transfer-encoding": coding } = incoming.headers;
  // Without either there is no body (RFC 9112, 6.3).
  if (length === undefined && coding === undefined) return;
  // Most bodies arrive with their headers: those need no timer.
  setImmediate(() => {
    if (!incoming.complete && !incoming.destroyed) watch(incoming, response);
  });
}

function watch(incoming: IncomingMessage, response: ServerResponse): void {
  const clock = createSystemClock();
  const { socket } = incoming;
  const readBefore = socket.bytesRead;
  /** Time that the client had, ms. */
  let hadMs = 0;
  const check = (ms: number) =>
    clock.setLimit(ms, () => {
      hadMs += ms;
      if (incoming.complete || incoming.destroyed) return;
      const received = longBodies.has(incoming) ? socket.bytesRead - readBefore : 0;
      const allowedMs = limits.bodyMsMax + (received * 1_000) / limits.uploadBytesPerSecondMin;
      const leftMs = allowedMs - hadMs;
      if (leftMs > 0) timer = check(Math.max(1, Math.min(leftMs, limits.bodyMsMax)));
      else cut(incoming, response);
    });
  let timer = check(limits.bodyMsMax);
  incoming.once("close", () => clock.clearTimer(timer));
}

function cut({ socket }: IncomingMessage, response: ServerResponse): void {
  if (socket.writable && !response.headersSent)
    socket.write("HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  socket.destroy();
}
