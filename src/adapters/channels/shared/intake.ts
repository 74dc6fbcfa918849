/**
 * Events of a platform that sends them once
 * =========================================
 * A platform that cannot be asked again sends while the intake may be full. What it sent waits here in
 * order until it is durable; a permanently refused event is logged and skipped, so that it does not
 * block those behind it. When too much waits, the connection must be read no further.
 */
import { limits } from "../../../domain/limits.ts";
import type { Millis } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { backOff } from "../../../domain/ports/pause.ts";
import { deliverEach, isLater, logRefused } from "./deliver.ts";

export interface IntakeOptions {
  readonly context: Pick<ChannelContext<unknown>, "clock" | "random" | "log" | "deliver">;
  /** The channel, for the names of log events. */
  readonly channel: string;
  /** The cursor behind everything that arrived until then. */
  cursorAt(arrived: Millis): string;
  /** Whether so much waits that the platform must wait. */
  onFull(full: boolean): void;
  readonly signal: AbortSignal;
}

export interface Intake {
  push(event: ChannelEvent, arrived: Millis): void;
  /** Calls `act` when everything pushed so far is durable with the cursor that is stored next, which it may change. */
  after(act: () => void, arrived: Millis): void;
  /** Stores the cursor, without an event, if nothing waits. */
  mark(arrived: Millis): void;
  /** Resolves when nothing waits any more, or what waits cannot be delivered now. */
  settled(): Promise<void>;
}

interface Waiting {
  /** Null: only the cursor. */
  readonly event: ChannelEvent | null;
  readonly arrived: Millis;
  /** Before the cursor behind it is asked for. */
  readonly act?: () => void;
}

const batchMax = 64;
const backoff = { msMin: 500, msMax: 30_000 };

export function createIntake(options: IntakeOptions): Intake {
  const { onFull, signal } = options;
  const waiting: Waiting[] = [];
  let isFull = false;
  let running: Promise<void> | null = null;
  const checkFull = () => {
    const isNow =
      waiting.length >= (isFull ? limits.waitingEventsMax / 2 : limits.waitingEventsMax);
    if (isNow !== isFull) onFull(isNow);
    isFull = isNow;
  };
  const pump = async () => {
    while (waiting.length > 0 && !signal.aborted) {
      const batch = waiting.slice(0, batchMax);
      await deliver(options, batch);
      waiting.splice(0, batch.length);
      checkFull();
    }
  };
  const start = () => {
    running ??= pump().then(
      () => {
        running = null;
        // What came between the end of the work and this moment.
        if (waiting.length > 0 && !signal.aborted) start();
      },
      () => {
        // Failures end with the account's run, which the next start repeats.
        running = null;
      },
    );
  };
  const add = (entry: Waiting) => {
    waiting.push(entry);
    checkFull();
    start();
  };
  return {
    push: (event, arrived) => add({ event, arrived }),
    after: (act, arrived) => add({ event: null, arrived, act }),
    mark(arrived) {
      if (waiting.length === 0) add({ event: null, arrived });
    },
    async settled() {
      while (running !== null) await running;
    },
  };
}

/** Delivers a batch with the cursor behind it; resolves when it is durable. */
async function deliver(options: IntakeOptions, batch: readonly Waiting[]): Promise<void> {
  const { context, channel, cursorAt, signal } = options;
  const events = batch.flatMap(({ event }) => (event === null ? [] : [event]));
  for (const { act } of batch) act?.();
  const cursor = cursorAt(batch.at(-1)?.arrived ?? 0);
  for (let failures = 0; ; failures += 1) {
    try {
      await deliverEach(context, events, { channel, cursor });
      return;
    } catch (error) {
      if (!isLater(error)) {
        logRefused(context, channel, error);
        return;
      }
      if (failures === 0) context.log("warn", `${channel}.intake-closed`, { error: error.code });
      await backOff(context, backoff, failures, signal);
      signal.throwIfAborted();
    }
  }
}
