/**
 * Answers of a web service
 * ========================
 * The three forms an answer may have, read into one: events and calls of tools, in order. What is
 * cut off in the middle is an error, never a shorter answer.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { AgentEvent } from "../../../domain/ports/index.ts";
import { agentFailed, lineBytesMax, linesOf, shown } from "../shared/lines.ts";
import { readEvent, readLine, type ToolCall } from "../shared/wire.ts";

type AnswerEvent = AgentEvent | ToolCall;

const answerSchema = z.object({
  /** The reply. */
  text: z.string().max(limits.agentEventUnitsMax).optional(),
  /** The same as events, in order, after `text`. */
  events: z.array(z.unknown()).max(10_000).default([]),
  /** One emoji on the message. */
  react: z.string().min(1).max(64).optional(),
  /** Stop following the conversation. */
  disengage: z.boolean().default(false),
  /** Say nothing, whatever else stands here. */
  skip: z.boolean().default(false),
});

/**
 * What the service said, from a body of the given media type.
 * @throws EarshotError EAR_AGENT_FAILED for what cannot be read.
 */
export function eventsOf(
  type: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<AnswerEvent> {
  if (type === "application/json") return fromJson(body);
  if (type === "text/event-stream") return fromFrames(body);
  if (type === "application/x-ndjson" || type === "application/jsonl") return fromLines(body);
  throw agentFailed(
    `Cannot read the web service's answer as it is neither JSON nor a stream of events: ` +
      `received ${shown(type)}`,
  );
}

async function* fromJson(body: AsyncIterable<Uint8Array>): AsyncGenerator<AnswerEvent> {
  const lines: string[] = [];
  for await (const line of linesOf(body, lineBytesMax * 4)) lines.push(line);
  const text = lines.join("\n");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw agentFailed(`Cannot read the web service's answer as it is not JSON: ${shown(text)}`);
  }
  const answer = answerSchema.safeParse(value);
  if (!answer.success)
    throw agentFailed(
      `Cannot read the web service's answer as ${z.prettifyError(answer.error).slice(0, 200)}`,
    );
  yield* inOrder(answer.data);
}

/** First what it does to the turn, then what it says. */
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
    const said = readEvent(event);
    if (said !== null) yield said;
  }
}

async function* fromLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<AnswerEvent> {
  for await (const line of linesOf(body)) {
    const said = line.trim() === "" ? null : readLine(line);
    if (said !== null) yield said;
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
    // How streams of models say that they are complete.
    if (frame === "[DONE]") return;
    const said = frame === "" ? null : readLine(frame);
    if (said !== null) yield said;
  }
  if (data.length > 0)
    throw agentFailed("Cannot read the web service's answer as it ends in the middle of an event");
}
