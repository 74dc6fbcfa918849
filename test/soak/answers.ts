/** Where the daemon posts its answers: a platform that is sometimes busy and sometimes hangs up. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Answers {
  readonly url: string;
  /** Different answers that were taken. */
  taken(): number;
  /** Posts that were refused, or whose connection was closed without an answer. */
  failed(): number;
  close(): Promise<void>;
}

/** Ids that are compared with: a repeated post comes soon. */
const idsKeptMax = 5_000;

/** @param random chooses which posts fail. */
export async function openAnswers(random: () => number): Promise<Answers> {
  const seen = new Set<string>();
  let taken = 0;
  let failed = 0;
  const take = (body: string) => {
    const { id, text } = JSON.parse(body) as { id?: string; text?: string };
    if (id === undefined || text === undefined || seen.has(id)) return;
    taken += 1;
    seen.add(id);
    if (seen.size > idsKeptMax) seen.delete(seen.values().next().value as string);
  };
  const server = createServer(async (request, response) => {
    let body = "";
    try {
      for await (const part of request) body += String(part);
    } catch {
      // The daemon was stopped in the middle of it.
      failed += 1;
      return;
    }
    const chance = random();
    if (chance < 0.01) {
      failed += 1;
      response.writeHead(503, { "retry-after": "1" }).end();
      return;
    }
    take(body);
    if (chance < 0.015) {
      failed += 1;
      request.socket.destroy();
      return;
    }
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/answers`,
    taken: () => taken,
    failed: () => failed,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
