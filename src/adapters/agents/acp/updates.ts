/**
 * Updates of an ACP session as turn events
 * ========================================
 * Converts the agent's updates to events, in order. The queue is bounded: while its reader is slow,
 * the agent's pipe is not read.
 */
import { limits } from "../../../domain/limits.ts";
import type { AgentEvent } from "../../../domain/ports/index.ts";
import type { SessionListener } from "./process.ts";
import type { SessionUpdate } from "./update-schema.ts";

const queuedMax = 1_000;

type ToolState = Omit<
  Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>,
  "sessionUpdate"
>;

/** What a tool call says in text: where it failed, the reason. */
function textOf(content: ToolState["content"]): string {
  const texts = (content ?? []).filter((text) => text !== null);
  return texts.join(" ").slice(0, limits.agentEventUnitsMax);
}

export class UpdateQueue implements SessionListener, AsyncIterable<AgentEvent> {
  readonly #events: AgentEvent[] = [];
  /** Names of running tool calls, by id. */
  readonly #tools = new Map<string, string>();
  #inMessage = false;
  #spoke = false;
  #over: { readonly error?: unknown } | null = null;
  #changed: () => void = () => undefined;
  #emptied: () => void = () => undefined;

  /** Whether the agent has produced any event. */
  get spoke(): boolean {
    return this.#spoke;
  }

  take(update: SessionUpdate): void {
    if (this.#over !== null) return;
    for (const event of this.#translate(update)) {
      this.#spoke = true;
      this.#events.push(event);
    }
    this.#changed();
  }

  async capacity(): Promise<void> {
    while (this.#events.length >= queuedMax && this.#over === null)
      await new Promise<void>((resolve) => {
        this.#emptied = resolve;
      });
  }

  /** Ends the queue. Queued events can still be read. */
  end(): void {
    if (this.#inMessage) this.#events.push({ type: "message-end" });
    this.#close({});
  }

  /** Ends the queue with an error for the reader. */
  fail(error: unknown): void {
    this.#close({ error });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) {
        if (this.#events.length < queuedMax) this.#emptied();
        yield event;
      } else if (this.#over !== null) {
        if ("error" in this.#over) throw this.#over.error;
        return;
      } else
        await new Promise<void>((resolve) => {
          this.#changed = resolve;
        });
    }
  }

  #close(how: { readonly error?: unknown }): void {
    this.#over ??= how;
    this.#changed();
    this.#emptied();
  }

  *#translate(update: SessionUpdate): Generator<AgentEvent> {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        if (update.content === null) return;
        this.#inMessage = true;
        yield { type: "text", text: update.content };
        break;
      case "agent_thought_chunk":
        if (update.content !== null) yield { type: "reasoning", text: update.content };
        break;
      case "tool_call": {
        if (this.#inMessage) yield { type: "message-end" };
        this.#inMessage = false;
        const name = (update.name ?? update.title).slice(0, 256);
        this.#tools.set(update.toolCallId, name);
        yield { type: "tool-start", name, input: update.rawInput };
        yield* this.#toolEnd(update);
        break;
      }
      case "tool_call_update":
        yield* this.#toolEnd(update);
        break;
    }
  }

  *#toolEnd({ toolCallId: id, status, content }: ToolState): Generator<AgentEvent> {
    if (status !== "completed" && status !== "failed") return;
    const name = this.#tools.get(id);
    // An end without a start, or a second end.
    if (name === undefined) return;
    this.#tools.delete(id);
    const error = status === "failed" ? textOf(content) : "";
    yield { type: "tool-end", name, ok: status === "completed", ...(error && { error }) };
  }
}
