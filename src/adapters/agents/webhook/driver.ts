/**
 * Runs an agent that is a web service: the turn is posted to one configured address; the answer is
 * a JSON object, a stream of events (server-sent events or one per line), or 204 for silence. Each
 * request is signed over time and body, so the service can authenticate the sender and reject
 * replays.
 *
 * The address comes from the config, never from a room, and redirects are refused.
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import type { Millis } from "../../../domain/message.ts";
import {
  type AgentContext,
  type AgentEvent,
  AgentFailure,
  type AgentTurn,
  defineAgent,
  kindOfStatus,
} from "../../../domain/ports/index.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import type { HttpClient, HttpStream } from "../../http/http-client.ts";
import { signatureHeaders } from "../../http/signature.ts";
import { failure, runTool, turnMessage } from "../shared/wire.ts";

const configSchema = z.strictObject({
  kind: z.literal("webhook").default("webhook"),
  url: z.url({ protocol: /^https?$/ }).describe("Where turns are posted."),
  secret: z
    .string()
    .min(16, "a secret of at least 16 characters")
    .max(1_024)
    .describe("Key of the HMAC-SHA256 signature on every request, shared with the service."),
  timeoutMs: z
    .number()
    .int()
    .min(100)
    .max(3_600_000)
    .default(600_000)
    .describe("Time for the whole exchange, ms."),
  images: z.boolean().default(false).describe("Whether it gets the images of a turn."),
});
type WebhookConfig = z.infer<typeof configSchema>;

/** Size limit of an answer, escapes included. */
const answerBytesMax = 8_388_608;
const bodyShownUnitsMax = 240;

export const webhookDriver = defineAgent<WebhookConfig>({
  kind: "webhook",
  configSchema: configSchema as z.ZodType<WebhookConfig>,
  // A request would be a turn for the service, so only the connection is tried.
  probe: async ({ url }, signal) =>
    (await import("../../http/reachable.ts")).tryAddress(url, signal),
  async open({ config, now }: AgentContext<WebhookConfig>) {
    const [{ createHttpClient }, { deadline }] = await Promise.all([
      import("../../http/http-client.ts"),
      import("../../http/deadline.ts"),
    ]);
    const client = createHttpClient({ allowPrivate: [new URL(config.url).origin] });
    return {
      capabilities: { steer: false, tools: true, images: config.images },
      async *run(turn, { signal }): AsyncGenerator<AgentEvent> {
        signal.throwIfAborted();
        const { timeoutMs } = config;
        const limit = deadline(signal, timeoutMs);
        try {
          const answer = await post(client, config, turn, now(), limit.signal);
          try {
            yield* eventsOfAnswer(answer, turn, limit.signal);
          } finally {
            answer.close();
          }
        } catch (error) {
          signal.throwIfAborted();
          if (limit.signal.aborted)
            yield failure(
              new AgentFailure("timeout", `The web service took longer than ${timeoutMs} ms`),
              true,
            );
          else yield failure(error, error instanceof EarshotError && error.disposition === "retry");
        } finally {
          limit.done();
        }
      },
    };
  },
});

function post(
  client: HttpClient,
  config: WebhookConfig,
  turn: AgentTurn,
  at: Millis,
  signal: AbortSignal,
): Promise<HttpStream> {
  const body = JSON.stringify(turnMessage(turn));
  return client.open(config.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream, application/x-ndjson",
      "user-agent": "earshot",
      "idempotency-key": turn.turnId,
      ...signatureHeaders(config.secret, at, body),
    },
    body,
    signal,
    // The caller enforces the time limit, so that the error names it.
    msMax: config.timeoutMs + 1_000,
    bytesMax: answerBytesMax,
  });
}

async function* eventsOfAnswer(
  answer: HttpStream,
  turn: AgentTurn,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent> {
  const { status } = answer;
  if (status === 204) return;
  if (status < 200 || status > 299) {
    const redirect = status >= 300 && status < 400;
    const why = redirect ? "and redirects are not followed" : "instead of an answer";
    const retryable = status === 429 || status >= 500;
    const said = redirect ? "" : await startOf(answer);
    const message = `The web service answered ${status} ${why}${said}`;
    yield failure(new AgentFailure(kindOfStatus(status), message), retryable);
    return;
  }
  const { eventsOf } = await import("./answer.ts");
  for await (const event of eventsOf(contentType(answer), answer.body, turn)) {
    signal.throwIfAborted();
    if (event.type === "tool-call") {
      yield* runTool(turn, event, signal);
      continue;
    }
    yield event;
    if (event.type === "error") return;
  }
  // A body that the time limit has ended is no answer, however it ended.
  signal.throwIfAborted();
}

/** The start of a body that is no answer, quoted: it often says what is wrong. */
async function startOf({ body }: HttpStream): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const part of body) {
      text += decoder.decode(part, { stream: true });
      if (text.length >= bodyShownUnitsMax) break;
    }
  } catch {
    // The status is what counts; a body that breaks off adds nothing.
  }
  const line = oneLine(text, bodyShownUnitsMax);
  return line === "" ? "" : `: ${line}`;
}

/** The response's media type, without parameters. */
function contentType({ headers }: HttpStream): string {
  const given = headers["content-type"];
  const [type = ""] = (Array.isArray(given) ? (given[0] ?? "") : (given ?? "")).split(";");
  return oneLine(type.toLowerCase());
}
