/**
 * Files, pages and models that read them, on loopback
 * ====================================================
 * A plain HTTP server whose answers are set by path. It counts connections, so that a test can
 * say that none was made, and keeps what it was sent.
 */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface MediaRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface MediaServer {
  readonly origin: string;
  readonly port: number;
  readonly requests: readonly MediaRequest[];
  connections(): number;
  /** Requests that are being answered. */
  open(): number;
  on(path: string, listener: RequestListener): void;
  /** Answers with these bytes. */
  serve(path: string, body: Buffer | string, type?: string): void;
}

/** Listens until the test ends. */
export async function startMediaServer(): Promise<MediaServer> {
  const paths = new Map<string, RequestListener>();
  const requests: MediaRequest[] = [];
  let connections = 0;
  let open = 0;
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    open += 1;
    response.on("close", () => {
      open -= 1;
    });
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      requests.push({ path, headers: request.headers, body: Buffer.concat(parts) });
      const listener = paths.get(path);
      if (listener === undefined) response.writeHead(404).end("not here");
      else listener(request, response);
    });
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => connections,
    open: () => open,
    on: (path, listener) => void paths.set(path, listener),
    serve: (path, body, type = "application/octet-stream") =>
      void paths.set(path, (_request, response) =>
        response.writeHead(200, { "content-type": type }).end(body),
      ),
  };
}

/** The smallest files that are what they say. */
export const sampleFiles = {
  png: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
  ogg: Buffer.concat([Buffer.from("OggS"), Buffer.alloc(60, 1)]),
  mp4: Buffer.concat([Buffer.from("\0\0\0\x18ftypmp42", "latin1"), Buffer.alloc(60, 1)]),
  zip: Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), Buffer.alloc(60, 1)]),
} as const;
