/**
 * Turns and events as JSON
 * ========================
 * What a program or a web service is told of a turn, and how its lines are read. Both speak the
 * same: one object for the turn, one object for each event, and a `tool-call` where they want
 * something done. An event of a kind nobody knows is passed over, as everywhere; an event we know
 * in a shape we do not is an error.
 */
import { z } from "zod";
import { type AgentEvent, type AgentTurn, agentEventSchema } from "../../../domain/ports/index.ts";
import { agentFailed, shown } from "./lines.ts";

const toolCallSchema = z.object({
  type: z.literal("tool-call"),
  /** Comes back with the result. */
  id: z.union([z.string().max(256), z.number()]).default(""),
  name: z.string().max(256),
  input: z.unknown().optional(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

const known: ReadonlySet<string> = new Set(
  agentEventSchema.options.map(({ shape }) => shape.type.value),
);

/** The turn as an object for JSON. Images are base64. */
export function turnMessage(turn: AgentTurn): Record<string, unknown> {
  const { callTool: _call, takePictures: _take, images, ...told } = turn;
  return { type: "turn", ...told, images: picturesOf(images) };
}

/** Pictures as objects for JSON. */
export const picturesOf = (images: AgentTurn["images"]): object[] =>
  images.map(({ data, ...image }) => ({ ...image, data: base64(data) }));

/** Bytes as text. */
export const base64 = (data: Uint8Array): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");

/**
 * One line of an agent: an event, a call of a tool, or null for what it may say and we do not know.
 * @throws EarshotError EAR_AGENT_FAILED, showing the line.
 */
export function readLine(line: string): AgentEvent | ToolCall | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw agentFailed(`Cannot read the agent's answer as a line is not JSON: ${shown(line)}`);
  }
  return readEvent(value);
}

/** The same for a value that is parsed already. */
export function readEvent(value: unknown): AgentEvent | ToolCall | null {
  const type =
    typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
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
  agentFailed(`Cannot read the agent's answer as it is no event: ${shown(JSON.stringify(value))}`);

/** Runs a tool for an agent; the events around it, and what the agent is told. */
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

/** The promise's value, or the signal's reason if that comes first. */
export async function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  signal.throwIfAborted();
  let give: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    give = () => reject(signal.reason);
    signal.addEventListener("abort", give, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", give);
  }
}

/** An error of ours or of the driver's as the last event of a turn. */
export function failure(error: unknown, retryable = false): AgentEvent {
  const message = error instanceof Error ? error.message : String(error);
  return { type: "error", message, retryable };
}
