/**
 * The life of an iMessage account
 * ===============================
 * Connects to the program on the Mac, has it report rows of the Messages database behind the last one that
 * is durable, and connects again with a growing pause when that ends. The database keeps everything, so
 * a time away loses no message.
 */
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { within } from "../../../domain/ports/within.ts";
import { createIntake, type Intake } from "../shared/intake.ts";
import { keepListening } from "../shared/listening.ts";
import type { AppleBackend, AppleListener } from "./backend.ts";
import type { ImessageAccountConfig } from "./config.ts";
import { eventOf, type Receiver } from "./normalise.ts";

type Context = ChannelContext<ImessageAccountConfig>;

/** For what waits, when the account stops. */
const settleMsMax = 1_000;

/** Listens until the signal aborts. Rejects only when the program refuses the account. */
export async function receive(
  backend: AppleBackend,
  context: Context,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<void> {
  const { clock, config } = context;
  const delivering = new AbortController();
  const full = createValve();
  const intake = createIntake({
    context,
    channel: "imessage",
    cursorAt: (row) => JSON.stringify({ row }),
    onFull: (isFull) => full.set(isFull),
    signal: delivering.signal,
  });
  signal.addEventListener("abort", () => full.set(false), { once: true });
  const progress = { row: readRow(await context.loadCursor(config.backend)), wasLive: false };
  const listener = listenerOf({ context, receiver, intake, progress, capacity: full.opened });
  const listen = async () => {
    try {
      await backend.connect(signal);
      if (progress.row === null) {
        progress.row = await backend.newest(signal);
        intake.mark(progress.row);
      }
      await backend.watch(progress.row, listener, signal);
    } finally {
      await backend.close();
    }
  };
  await keepListening({ listen, wasLive: () => progress.wasLive }, context, signal);
  await within(clock, settleMsMax, intake.settled());
  delivering.abort();
}

export function logUnreadable({ log }: Pick<Context, "log">, at: string): void {
  log("warn", "imessage.row-unreadable", { at });
}

interface Progress {
  row: number | null;
  wasLive: boolean;
}

function listenerOf({
  context,
  receiver,
  intake,
  progress,
  capacity,
}: {
  readonly context: Context;
  readonly receiver: Receiver;
  readonly intake: Intake;
  readonly progress: Progress;
  readonly capacity: () => Promise<void>;
}): AppleListener {
  return {
    capacity,
    onReady() {
      progress.wasLive = true;
      context.reportState("live");
    },
    onUnreadable: (at) => logUnreadable(context, at),
    onRow(row, rowId) {
      progress.row = Math.max(progress.row ?? 0, rowId);
      const event = eventOf(row, receiver);
      if (event === null) intake.mark(progress.row);
      else intake.push(event, progress.row);
    },
  };
}

/** Closed while the intake is full. */
function createValve() {
  let waiting: (() => void)[] = [];
  let isClosed = false;
  return {
    set(closed: boolean) {
      isClosed = closed;
      if (closed) return;
      for (const go of waiting) go();
      waiting = [];
    },
    opened: () =>
      isClosed ? new Promise<void>((resolve) => void waiting.push(resolve)) : Promise.resolve(),
  };
}

function readRow(cursor: string | null): number | null {
  const found = /^\{"row":(\d{1,15})\}$/.exec(cursor ?? "");
  return found === null ? null : Number(found[1]);
}
