/**
 * Where files are stored, as the host that a linked device is given by a query for `media_conn`: takes
 * encrypted bytes under their digest, and gives them out by path. It never has a key.
 */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

export const fileAuth = "canary-media-auth";

export class FileHost {
  readonly stored = new Map<string, Buffer>();

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (request.method === "POST") {
      const body = await buffer(request);
      const digest = createHash("sha256").update(body).digest("base64url");
      const isRight = pathname.endsWith(`/${digest}`) && searchParams.get("token") === digest;
      if (!isRight || searchParams.get("auth") !== fileAuth) {
        response.writeHead(403).end();
        return;
      }
      this.stored.set(pathname, body);
      const url = `https://mmg.whatsapp.net${pathname}`;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ url, direct_path: pathname }));
      return;
    }
    const file = this.stored.get(pathname);
    response.writeHead(file === undefined ? 404 : 200).end(file);
  }
}
