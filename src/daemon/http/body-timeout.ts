/**
 * Time limit of a body
 * ====================
 * The body of a request must arrive soon after its headers, or the connection is closed, so a
 * client that sends a byte a second occupies nothing. A file from a client with the token may take
 * longer, as long as each further second brings its share of bytes.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { limits } from "../../domain/limits.ts";

/** Requests that may take longer, as long as they keep coming. */
const patient = new WeakSet<IncomingMessage>();

/** From here on the time this body has grows with what it has brought. */
export function allowLongBody(incoming: IncomingMessage): void {
  patient.add(incoming);
}

/** Cuts the line when the body takes too long. */
export function limitBodyTime(incoming: IncomingMessage, response: ServerResponse): void {
  const { "content-length": length, "transfer-encoding": coding } = incoming.headers;
  // Without either there is no body (RFC 9112, 6.3).
  if (length === undefined && coding === undefined) return;
  const begunAt = performance.now();
  const { socket } = incoming;
  const readBefore = socket.bytesRead;
  const look = () => {
    if (incoming.complete || incoming.destroyed) return;
    const brought = patient.has(incoming) ? socket.bytesRead - readBefore : 0;
    const allowedMs = limits.bodyMsMax + (brought * 1_000) / limits.uploadBytesPerSecondMin;
    const leftMs = begunAt + allowedMs - performance.now();
    if (leftMs > 0) timer = setTimeout(look, Math.max(1, Math.min(leftMs, limits.bodyMsMax)));
    else cut(incoming, response);
  };
  let timer = setTimeout(look, limits.bodyMsMax);
  incoming.once("close", () => clearTimeout(timer));
}

function cut({ socket }: IncomingMessage, response: ServerResponse): void {
  if (socket.writable && !response.headersSent)
    socket.write("HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  socket.destroy();
}
