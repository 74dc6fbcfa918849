/** An HTTP server on loopback that can go away, and comes back on the same port. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export class Loopback {
  readonly #serve: Serve;
  #server: Server | null = null;
  #port = 0;

  /** @param serve answers a request; when it rejects, the connection is cut */
  constructor(serve: Serve) {
    this.#serve = serve;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async up(): Promise<void> {
    const server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Cuts every connection; nobody can connect any more. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}
