/**
 * Windows
 * =======
 * When a batch closes and when a backlog may start: plain arithmetic on moments that came in with
 * events. Durable deadlines wake the conversation at these moments; a deadline that comes early
 * changes nothing.
 */
import type { Millis } from "../../domain/message.ts";
import type { ConversationSettings, QueueMode } from "../../domain/settings.ts";

/**
 * When a batch's window closes: `idleMs` after its newest message, at most `maxMs` after its first.
 */
export function closesAt(
  firstAt: Millis,
  lastAt: Millis,
  debounce: ConversationSettings["debounce"],
): Millis {
  return Math.min(lastAt + debounce.idleMs, firstAt + debounce.maxMs);
}

/** Modes in which what piled up behind a turn waits for a pause in the room. */
export function waitsForQuiet(mode: QueueMode): boolean {
  return mode !== "queue" && mode !== "interrupt";
}

/** The quiet window that opens at `at`: its end, and the end that further messages cannot pass. */
export function quietWindow(
  at: Millis,
  { queue, debounce }: Pick<ConversationSettings, "queue" | "debounce">,
): { readonly until: Millis; readonly by: Millis } {
  return { until: at + queue.debounceMs, by: at + Math.max(queue.debounceMs, debounce.maxMs) };
}
