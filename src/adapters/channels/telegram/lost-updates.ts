/**
 * Updates that Telegram kept no longer
 * ====================================
 * It keeps what it could not deliver for 24 hours (https://core.telegram.org/bots/api#getting-updates), and
 * numbers updates one by one. So after a longer time away a number that was skipped is something that
 * nobody here has heard. After a week of silence it may begin to count elsewhere: then nothing is known.
 */
import type { Millis } from "../../../domain/message.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { updateIdSchema } from "./wire.ts";

const keptMs = 24 * 3_600_000;

export interface LostUpdates {
  /**
   * Updates have come, or none.
   * @param offset the number of the first update that was not heard
   * @param heardAt until when everything was heard
   */
  polled(updates: readonly unknown[], offset: number, heardAt: Millis): void;
  /** The connection broke. */
  broken(): void;
}

export function createLostUpdates({
  clock,
  reportGap,
}: Pick<ChannelContext<unknown>, "clock" | "reportGap">): LostUpdates {
  /** When the last call of this run was answered. */
  let polledAt: Millis | null = null;
  let isFirst = true;
  /** A time away that was too long; until an update shows whether one is missing. */
  let away: { readonly from: Millis; readonly to: Millis } | null = null;
  return {
    broken() {
      isFirst = true;
    },
    polled(updates, offset, heardAt) {
      const now = clock.now();
      const from = Math.max(heardAt, polledAt ?? 0);
      if (isFirst && now - from > keptMs) away ??= { from, to: now - keptMs };
      isFirst = false;
      polledAt = now;
      if (away === null || updates.length === 0) return;
      const ids = updates.flatMap((update) => {
        const read = updateIdSchema.safeParse(update);
        return read.success ? [read.data.update_id] : [];
      });
      if (ids.length === 0) return;
      if (Math.min(...ids) > offset) reportGap({ ...away, rooms: [], lost: "messages" });
      away = null;
    },
  };
}
