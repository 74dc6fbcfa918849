/**
 * An outbox that reports its new rows to whoever measures the way of messages.
 */
import type { WalkTap } from "../protocol/telemetry.ts";
import type { Outbox } from "./types.ts";

/** An outbox whose new rows are told. */
export function tellingQueued(outbox: Outbox, walk: WalkTap | undefined): Outbox {
  if (walk === undefined) return outbox;
  return {
    ...outbox,
    enqueue(rows) {
      walk.queued(rows);
      outbox.enqueue(rows);
    },
  };
}
