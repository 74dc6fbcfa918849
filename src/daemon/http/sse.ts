/**
 * Server-sent events
 * ==================
 * An answer that stays open: each event is sent as fast as the reader takes it. A reader has a
 * bounded queue; one that is too slow is disconnected and may reconnect, so a reader never blocks
 * other work. A periodic comment keeps the connection alive; the token is checked each time.
 */
import type { Clock } from "../../domain/ports/index.ts";

const beatMs = 15_000;

export interface SseOptions {
  readonly clock: Clock;
  /** UTF-16 units that may wait for a reader. */
  readonly queueUnitsMax: number;
  readonly stillAllowed: () => Promise<boolean>;
  /** The reader was too slow and was disconnected. */
  readonly onSlow: (queuedUnits: number) => void;
  /** The stream has ended. Called once. */
  readonly onEnd: () => void;
}

export interface SseReader {
  readonly body: ReadableStream<Uint8Array>;
  /** Sends one event. `data` has no line breaks. */
  put(data: string): void;
  /** Whether the reader has taken everything. */
  idle(): boolean;
}

/** Headers of an event stream. */
export const sseHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;

export function createSse(options: SseOptions): SseReader {
  const { clock, queueUnitsMax, stillAllowed, onSlow, onEnd } = options;
  const encoder = new TextEncoder();
  let queue: string[] = ["retry: 1000\n\n"];
  let units = 0;
  let over = false;
  let wake: (() => void) | null = null;
  let close: () => void = () => undefined;

  const push = (text: string) => {
    if (over) return;
    queue.push(text);
    units += text.length;
    wake?.();
    if (units <= queueUnitsMax) return;
    onSlow(units);
    close();
  };
  const beat = () => {
    timer = clock.setTimer(clock.now() + beatMs, beat);
    void stillAllowed().then((allowed) => (allowed ? push(": beat\n\n") : close()));
  };
  let timer = clock.setTimer(clock.now() + beatMs, beat);
  const stop = () => {
    if (over) return;
    over = true;
    clock.clearTimer(timer);
    queue = [];
    wake?.();
    onEnd();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        close = () => {
          if (over) return;
          stop();
          controller.close();
        };
      },
      async pull(controller) {
        if (queue.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        wake = null;
        if (queue.length === 0) return;
        const chunk = queue.join("");
        queue = [];
        units = 0;
        controller.enqueue(encoder.encode(chunk));
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
  return { body, put: (data) => push(`data: ${data}\n\n`), idle: () => units === 0 };
}
