/**
 * A web service that is an agent
 * ==============================
 * An HTTP server on loopback that gives each request its next scripted answer, byte for byte if
 * wanted, and keeps what it was asked.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ServiceAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Parts of the body, written one after the other. */
  readonly parts?: readonly (string | Buffer)[];
  /** Between two parts, ms. */
  readonly everyMs?: number;
  /** What happens after the last part. @default "end" */
  readonly ending?: "end" | "stall" | "reset";
}

export interface ServiceRequest {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookService {
  readonly url: string;
  readonly requests: readonly ServiceRequest[];
  /** Connections the client gave up before the answer was complete. */
  readonly abandoned: () => number;
  answer(...answers: ServiceAnswer[]): void;
  close(): Promise<void>;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function startWebhookService(): Promise<WebhookService> {
  const script: ServiceAnswer[] = [];
  const requests: ServiceRequest[] = [];
  let abandoned = 0;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method, headers } = request;
    requests.push({ method, headers, body: Buffer.concat(parts).toString("utf8") });
    const answer = script.shift() ?? { status: 204 };
    response.on("close", () => {
      if (!response.writableEnded && answer.ending !== "reset") abandoned += 1;
    });
    await perform(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/agent`,
    requests,
    abandoned: () => abandoned,
    answer: (...answers) => void script.splice(0, script.length, ...answers),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function perform(response: ServerResponse, answer: ServiceAnswer): Promise<void> {
  const type = answer.type === undefined ? {} : { "content-type": answer.type };
  response.writeHead(answer.status ?? 200, { ...type, ...answer.headers });
  response.flushHeaders();
  for (const part of answer.parts ?? []) {
    if (response.destroyed) return;
    response.write(part);
    await pause(answer.everyMs ?? 0);
  }
  if (answer.ending === "reset") response.socket?.resetAndDestroy();
  else if (answer.ending !== "stall") response.end();
}
