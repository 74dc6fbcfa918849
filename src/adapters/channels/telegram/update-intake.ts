/**
 * Updates that come one by one
 * ============================
 * What may be a part of a message is stored in the cursor and held until the other parts have come.
 * Telegram posts the next update of a chat only when this one is answered.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { deliverEach } from "../shared/deliver.ts";
import { assemble, concerns, emptyAssembly, nextRelease } from "./assembly.ts";
import type { TelegramChats } from "./chats.ts";
import type { TelegramAccountConfig } from "./config.ts";
import { cursorOf, nowhere, pause, readCursor } from "./gateway.ts";

interface UpdateIntake {
  load(cursor: string | null): void;
  /** Releases what is complete, until the signal aborts. */
  releaseUntil(signal: AbortSignal): void;
  /**
   * Resolves when the events are durable.
   * @throws EarshotError with the disposition `retry` while nothing is accepted
   */
  take(events: readonly ChannelEvent[]): Promise<void>;
}

export function createUpdateIntake(
  context: ChannelContext<TelegramAccountConfig>,
  chats: TelegramChats,
): UpdateIntake {
  let assembly = emptyAssembly;
  let last: Promise<unknown> = Promise.resolve();
  let stop: AbortSignal | null = null;
  let isReleasing = false;

  /** One change of what is held at a time. */
  function hold(events: readonly ChannelEvent[]): Promise<void> {
    const done = last.then(async () => {
      const { ready, next } = assemble(assembly, events, context.clock.now());
      const cursor = cursorOf(nowhere, chats, next);
      await deliverEach(context, ready, { channel: "telegram", cursor });
      assembly = next;
      chats.unsaved = false;
      void release();
    });
    last = done.catch(() => undefined);
    return done;
  }

  async function release(): Promise<void> {
    if (isReleasing || stop === null) return;
    const signal = stop;
    isReleasing = true;
    let failures = 0;
    for (let at = nextRelease(assembly); at !== null; at = nextRelease(assembly)) {
      await pauseFor(context.clock, at - context.clock.now(), signal);
      if (signal.aborted) break;
      try {
        await hold([]);
        failures = 0;
      } catch (thrown) {
        const what = "Cannot release what is held: a bug";
        const error =
          thrown instanceof EarshotError
            ? thrown
            : new EarshotError("EAR_ASSERT", what, { cause: thrown });
        context.log("warn", "telegram.intake-closed", { error: error.code });
        await pause(context, error, failures, signal);
        failures += 1;
      }
    }
    isReleasing = false;
    // The account was started again meanwhile.
    if (stop !== signal) void release();
  }

  return {
    load(cursor) {
      assembly = readCursor(cursor, chats, context).assembly;
    },
    releaseUntil(signal) {
      stop = signal;
      void release();
    },
    async take(events) {
      if (chats.unsaved || events.some((event) => concerns(assembly, event))) return hold(events);
      if (events.length === 0) return;
      await deliverEach(context, events, { channel: "telegram" });
    },
  };
}
