/**
 * An outbox that reports its new rows to whoever measures the way of messages.
 */
import type { MessageTelemetry } from "../protocol/telemetry.ts";
import type { Outbox } from "./types.ts";

/** An outbox whose new rows are told. */
export function withTelemetry(outbox: Outbox, walk: MessageTelemetry | undefined): Outbox {
  if (walk === undefined) return outbox;
  return {
    ...outbox,
    enqueue(rows) {
      walk.queued(rows);
      outbox.enqueue(rows);
    },
  };
}
