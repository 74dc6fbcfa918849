/**
 * Events of which some may be refused
 * ===================================
 * One event that can never be accepted (it breaks a rule of the intake) refuses the whole batch. So the batch
 * is taken apart: that one is logged and left out, the others are delivered in their order, and the cursor
 * moves on, or the platform would send it again for ever.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";

export type DeliverContext = Pick<ChannelContext<unknown>, "deliver" | "log">;

export interface DeliverOptions {
  /** The channel, for the name of the log event. */
  readonly channel: string;
  /** Stored with the last of the events. @default it stays as it is */
  readonly cursor?: string;
}

/** Whether the same events may be accepted later. */
export const isLater = (error: unknown): error is EarshotError =>
  error instanceof EarshotError && error.disposition === "retry";

export function logRefused({ log }: Pick<DeliverContext, "log">, channel: string, error: unknown) {
  const code = error instanceof EarshotError ? error.code : "unknown";
  log("error", `${channel}.event-refused`, { error: code });
}

/**
 * Resolves to the events that were accepted, when they and the cursor are durable.
 * @throws EarshotError with the disposition `retry`: try all of them again, later. Any other error: the cursor
 * alone was refused
 */
export async function deliverEach(
  context: DeliverContext,
  events: readonly ChannelEvent[],
  { channel, cursor }: DeliverOptions,
): Promise<readonly ChannelEvent[]> {
  try {
    await context.deliver(events, cursor);
    return events;
  } catch (error) {
    if (isLater(error) || events.length === 0) throw error;
    const accepted: ChannelEvent[] = [];
    if (events.length === 1) logRefused(context, channel, error);
    else
      for (const event of events)
        accepted.push(...(await deliverEach(context, [event], { channel })));
    if (cursor !== undefined) await context.deliver([], cursor);
    return accepted;
  }
}
