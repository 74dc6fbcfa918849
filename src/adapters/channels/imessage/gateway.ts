/**
 * The life of an iMessage account
 * ===============================
 * Connects to the program on the Mac, has it report rows of the Messages database behind the last one that
 * is durable, and connects again with a growing pause when that ends. The database keeps everything, so
 * a time away loses no message.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { within } from "../../../domain/ports/within.ts";
import { createIntake, type Intake } from "../shared/intake.ts";
import type { AppleBackend, AppleListener } from "./backend.ts";
import type { ImessageAccountConfig } from "./config.ts";
import { eventOf, type Receiver } from "./normalise.ts";

type Context = ChannelContext<ImessageAccountConfig>;

const pauseMsMin = 1_000;
const pauseMsMax = 60_000;
/** A connection that lasted so long was a good one. */
const goodMsMin = 60_000;
/** For what waits, when the account stops. */
const settleMsMax = 1_000;

/** Listens until the signal aborts. Rejects only when the program refuses the account. */
export async function receive(
  backend: AppleBackend,
  context: Context,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<void> {
  const { clock, config, random } = context;
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
  let failures = 0;
  while (!signal.aborted) {
    const began = clock.monotonic();
    try {
      await backend.connect(signal);
      if (progress.row === null) {
        progress.row = await backend.newest(signal);
        intake.mark(progress.row);
      }
      await backend.watch(progress.row, listener, signal);
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof EarshotError) || error.disposition === "terminal") {
        await backend.close();
        throw error;
      }
      context.reportState("backing-off", error.message);
    }
    await backend.close();
    if (signal.aborted) break;
    if (clock.monotonic() - began > goodMsMin) failures = 0;
    const grown = Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(failures, 10));
    await pauseFor(clock, grown * (0.5 + random.next() / 2), signal);
    failures += 1;
    if (!signal.aborted) context.reportState(progress.wasLive ? "resuming" : "connecting");
  }
  await backend.close();
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
