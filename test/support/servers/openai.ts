/**
 * An OpenAI-compatible server on loopback
 * =======================================
 * Speaks `POST /v1/chat/completions` with `stream: true` as the public API does (SSE chunks,
 * `[DONE]`, usage in the last chunk, tool calls in pieces). Each request takes the next scripted
 * reply; without one it echoes the last user message. Faults are replies too: stall, refuse,
 * garbage, cut off. `GET /v1/models` and `/v1/models/{id}` answer as "Models" of OpenAI's API
 * reference has it (https://platform.openai.com/docs/api-reference/models).
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ModelReply =
  | { readonly say: readonly string[]; readonly everyMs?: number }
  | { readonly think: readonly string[]; readonly say: readonly string[] }
  | { readonly call: { readonly name: string; readonly input: unknown } }
  | { readonly status: number; readonly body?: string; readonly retryAfter?: string }
  /** Says this, then nothing more, the connection left open. */
  | { readonly stallAfter: readonly string[] }
  /** Says this, then closes the socket in the middle of the stream. */
  | { readonly cutAfter: readonly string[] }
  /** These bytes as the body, as they are. */
  | {
      readonly raw: readonly (string | Buffer)[];
      readonly type?: string;
      readonly everyMs?: number;
    };

export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly { role: string; content: unknown }[];
  readonly authorization: string | undefined;
  readonly tools: readonly { function: { name: string } }[];
}

export interface ModelServer {
  readonly baseUrl: string;
  readonly requests: readonly ModelRequest[];
  /** What it lists; null: it knows no list. */
  models: readonly string[] | null;
  /** Found when asked for by name, and not in the list. */
  aliases: readonly string[];
  /** The only key for the list of models; null: none is needed. */
  key: string | null;
  /** Connections that were closed by the client before their answer was complete. */
  readonly aborted: () => number;
  /** The next replies, in place of any not yet given. */
  reply(...replies: ModelReply[]): void;
  close(): Promise<void>;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** `at`: its port; 0: any. */
export async function startModelServer(at = 0): Promise<ModelServer> {
  const script: ModelReply[] = [];
  const requests: ModelRequest[] = [];
  const model: Pick<ModelServer, "models" | "aliases" | "key"> = {
    models: ["small", "large"],
    aliases: [],
    key: null,
  };
  let aborted = 0;
  const server = createServer((request, response) => {
    response.on("close", () => {
      if (!response.writableEnded) aborted += 1;
    });
    if (request.method === "GET") return answerModels(request, response, model);
    answer(request, response, script, requests).catch((error: unknown) =>
      response.destroy(error as Error),
    );
  });
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(model, {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    aborted: () => aborted,
    reply: (...replies: ModelReply[]) => void script.splice(0, script.length, ...replies),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

function answerModels(
  { url = "", headers }: IncomingMessage,
  response: ServerResponse,
  { models, aliases, key }: Pick<ModelServer, "models" | "aliases" | "key">,
): void {
  const json = (status: number, body: object) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const given = headers.authorization?.replace(/^Bearer /u, "") ?? headers["x-api-key"];
  const path = url.replace(/\?.*$/u, "");
  const describe = (id: string) => ({ id, object: "model", created: 1, owned_by: "test" });
  if (models === null || !path.startsWith("/v1/models"))
    return void json(404, { error: { message: "not found" } });
  if (key !== null && given !== key)
    return void json(401, {
      error: { message: "Incorrect API key provided", code: "invalid_api_key" },
    });
  if (path === "/v1/models") return void json(200, { object: "list", data: models.map(describe) });
  const id = decodeURIComponent(path.slice("/v1/models/".length));
  if (![...models, ...aliases].includes(id))
    return void json(404, { error: { message: `The model '${id}' does not exist` } });
  json(200, describe(id));
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  script: ModelReply[],
  requests: ModelRequest[],
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
    response.writeHead(404).end();
    return;
  }
  const body = JSON.parse(Buffer.concat(parts).toString()) as {
    model: string;
    messages: { role: string; content: unknown }[];
    tools?: { function: { name: string } }[];
  };
  requests.push({
    model: body.model,
    messages: body.messages,
    authorization: request.headers.authorization,
    tools: body.tools ?? [],
  });
  // A client that is gone takes nobody's reply with it.
  if (response.destroyed) return;
  const last = body.messages.filter(({ role }) => role === "user").at(-1);
  await perform(
    response,
    script.shift() ?? { say: [`echo: ${JSON.stringify(last?.content)}`] },
    body.model,
  );
}

async function perform(response: ServerResponse, reply: ModelReply, model: string): Promise<void> {
  if ("status" in reply) {
    const retry = reply.retryAfter === undefined ? {} : { "retry-after": reply.retryAfter };
    response.writeHead(reply.status, { "content-type": "application/json", ...retry });
    response.end(reply.body ?? JSON.stringify({ error: { message: `scripted ${reply.status}` } }));
    return;
  }
  if ("raw" in reply) {
    response.writeHead(200, { "content-type": reply.type ?? "text/event-stream" });
    for (const part of reply.raw) {
      response.write(part);
      await pause(reply.everyMs ?? 0);
    }
    response.end();
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null = null, usage?: object) =>
    response.write(
      `data: ${JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1,
        model,
        choices: [{ index: 0, delta, finish_reason: finish }],
        ...(usage === undefined ? {} : { usage }),
      })}\n\n`,
    );
  const say =
    "say" in reply
      ? reply.say
      : "stallAfter" in reply
        ? reply.stallAfter
        : "cutAfter" in reply
          ? reply.cutAfter
          : [];
  if ("think" in reply) for (const thought of reply.think) send({ reasoning_content: thought });
  for (const text of say) {
    send({ role: "assistant", content: text });
    await pause("everyMs" in reply ? (reply.everyMs ?? 0) : 0);
  }
  if ("stallAfter" in reply) return;
  if ("cutAfter" in reply) {
    response.socket?.destroy();
    return;
  }
  if ("call" in reply) {
    const input = JSON.stringify(reply.call.input);
    const call = (piece: object) => ({ tool_calls: [{ index: 0, ...piece }] });
    send(
      call({ id: "call_1", type: "function", function: { name: reply.call.name, arguments: "" } }),
    );
    for (let at = 0; at < input.length; at += 5)
      send(call({ function: { arguments: input.slice(at, at + 5) } }));
  }
  send({}, "call" in reply ? "tool_calls" : "stop", {
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
  });
  response.end("data: [DONE]\n\n");
}
