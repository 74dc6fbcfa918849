/**
 * Turns and events as JSON
 * ========================
 * The turn as a program or a web service gets it, and how its lines are read. Both use the same
 * protocol: one object for the turn, one object per event, and a `tool-call` to run a tool. An
 * event of an unknown type is skipped; a known event with an invalid form is an error.
 */
import { z } from "zod";
import {
  type AgentEvent,
  type AgentTurn,
  agentEventSchema,
  kindOf,
} from "../../../domain/ports/index.ts";
import { isNestedTooDeep } from "../../../domain/ports/nesting.ts";
import { unlessAborted } from "../../../domain/ports/within.ts";
import { agentFailed, shown } from "./lines.ts";

const toolCallSchema = z.object({
  type: z.literal("tool-call"),
  /** Returned with the result. */
  id: z.union([z.string().max(256), z.number()]).default(""),
  name: z.string().max(256),
  input: z.unknown().optional(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

const known: ReadonlySet<string> = new Set(
  agentEventSchema.options.map(({ shape }) => shape.type.value),
);

/** What decides how an answer is read. */
export type Asked = Pick<AgentTurn, "question">;

/** The turn as an object for JSON. Images are base64. */
export function turnMessage(turn: AgentTurn): Record<string, unknown> {
  const { callTool: _call, takePictures: _take, images, ...fields } = turn;
  return { type: "turn", ...fields, images: picturesOf(images) };
}

export const picturesOf = (images: AgentTurn["images"]): object[] =>
  images.map(({ data, ...image }) => ({ ...image, data: base64(data) }));

/** Encodes bytes. */
export const base64 = (data: Uint8Array): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");

/**
 * Reads one line of an agent: an event, a tool call, or null for an unknown type.
 * @throws EarshotError EAR_AGENT_FAILED, quoting the line.
 */
export function readLine(line: string, turn?: Asked): AgentEvent | ToolCall | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw agentFailed(
      `Cannot read the agent's answer: a line is not JSON (received ${shown(line)})`,
    );
  }
  return readEvent(value, turn);
}

/** As `readLine`, for a parsed value. */
export function readEvent(value: unknown, turn?: Asked): AgentEvent | ToolCall | null {
  if (isNestedTooDeep(value))
    throw agentFailed("Cannot read the agent's answer: an event is nested too deep");
  const type =
    typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  // What a judge answers needs no type.
  if (type === undefined && turn?.question !== undefined)
    return { type: "text", text: JSON.stringify(value) };
  if (typeof type !== "string") throw unreadable(value);
  if (type === "tool-call") {
    const call = toolCallSchema.safeParse(value);
    if (!call.success) throw unreadable(value);
    return call.data;
  }
  if (!known.has(type)) return null;
  const event = agentEventSchema.safeParse(value);
  if (!event.success) throw unreadable(value);
  return event.data;
}

const unreadable = (value: unknown) =>
  agentFailed(
    `Cannot read the agent's answer: it is not an event (received ${shown(JSON.stringify(value))})`,
  );

/** Runs a tool for an agent: yields the events around it and returns the result. */
export async function* runTool(
  turn: AgentTurn,
  call: Pick<ToolCall, "name" | "input">,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, string> {
  yield { type: "tool-start", name: call.name, input: call.input };
  const text = await unlessAborted(turn.callTool(call.name, call.input), signal);
  yield { type: "tool-end", name: call.name, ok: true };
  return text;
}

/** An error as the last event of a turn. */
export function failure(error: unknown, retryable = false): AgentEvent {
  const message = error instanceof Error ? error.message : String(error);
  return { type: "error", message, retryable, kind: kindOf(error) };
}
