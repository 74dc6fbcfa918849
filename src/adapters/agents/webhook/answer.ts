/**
 * Answers of a web service
 * ========================
 * Converts the three forms of an answer to events and tool calls, in order. A truncated answer is
 * an error, never a shorter answer.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { AgentEvent } from "../../../domain/ports/index.ts";
import { agentFailed, lineBytesMax, linesOf, shown } from "../shared/lines.ts";
import { type Asked, readEvent, readLine, type ToolCall } from "../shared/wire.ts";

type AnswerEvent = AgentEvent | ToolCall;

const answerSchema = z.object({
  /** The reply. */
  text: z.string().max(limits.agentEventUnitsMax).optional(),
  /** Further events, in order, after `text`. */
  events: z.array(z.unknown()).max(10_000).default([]),
  /** One emoji on the message. */
  react: z.string().min(1).max(64).optional(),
  /** Stop following the conversation. */
  disengage: z.boolean().default(false),
  /** Send nothing, whatever else is set. */
  skip: z.boolean().default(false),
});

/**
 * Reads the events of a body with the given media type.
 * @throws EarshotError EAR_AGENT_FAILED for an unreadable answer.
 */
export function eventsOf(
  type: string,
  body: AsyncIterable<Uint8Array>,
  turn?: Asked,
): AsyncGenerator<AnswerEvent> {
  if (type === "application/json") return fromJson(body, turn);
  if (type === "text/event-stream") return fromFrames(body);
  if (type === "application/x-ndjson" || type === "application/jsonl") return fromLines(body);
  throw agentFailed(
    `Cannot read the web service's answer: it is neither JSON nor a stream of events ` +
      `(received ${shown(type)})`,
  );
}

async function* fromJson(
  body: AsyncIterable<Uint8Array>,
  turn?: Asked,
): AsyncGenerator<AnswerEvent> {
  const lines: string[] = [];
  for await (const line of linesOf(body, lineBytesMax * 4)) lines.push(line);
  const text = lines.join("\n");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw agentFailed(
      `Cannot read the web service's answer: it is not JSON (received ${shown(text)})`,
    );
  }
  // A judge's answer is read by who asked.
  if (turn?.question !== undefined) {
    yield { type: "text", text };
    return;
  }
  const answer = answerSchema.safeParse(value);
  if (!answer.success)
    throw agentFailed(
      `Cannot read the web service's answer: ${z.prettifyError(answer.error).slice(0, 200)}`,
    );
  yield* inOrder(answer.data);
}

/** Tool calls first, then text and events. */
function* inOrder(answer: z.infer<typeof answerSchema>): Generator<AnswerEvent> {
  const tool = (name: string, input: object): AnswerEvent => ({
    type: "tool-call",
    id: "",
    name,
    input,
  });
  if (answer.react !== undefined) yield tool("channel_react", { emoji: answer.react });
  if (answer.disengage) yield tool("channel_disengage", {});
  if (answer.skip) {
    yield tool("skip_response", {});
    return;
  }
  if (answer.text !== undefined && answer.text !== "") {
    yield { type: "text", text: answer.text };
    yield { type: "message-end" };
  }
  for (const event of answer.events) {
    const parsed = readEvent(event);
    if (parsed !== null) yield parsed;
  }
}

async function* fromLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<AnswerEvent> {
  for await (const line of linesOf(body)) {
    const event = line.trim() === "" ? null : readLine(line);
    if (event !== null) yield event;
  }
}

/**
 * Server-sent events (WHATWG HTML, 9.2): only `data` counts; a frame ends with an empty line, and
 * one that never ends was cut off.
 */
async function* fromFrames(body: AsyncIterable<Uint8Array>): AsyncGenerator<AnswerEvent> {
  let data: string[] = [];
  for await (const line of linesOf(body)) {
    if (line !== "") {
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      continue;
    }
    const frame = data.join("\n");
    data = [];
    // The end marker of model streams.
    if (frame === "[DONE]") return;
    const event = frame === "" ? null : readLine(frame);
    if (event !== null) yield event;
  }
  if (data.length > 0)
    throw agentFailed("Cannot read the web service's answer: it ends in the middle of an event");
}
