/**
 * Connecting again and again
 * ==========================
 * For channels with one connection: it is listened to until it ends, then opened again after a pause
 * that grows, until the account stops. A connection that lasted a minute was a good one, after which the
 * pauses are short again.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { backOff } from "../../../domain/ports/pause.ts";

const backoff = { msMin: 1_000, msMax: 60_000 };
const goodMsMin = 60_000;

export interface Listening {
  /** One connection, from its beginning to its end. `failures`: how many came before it, in a row. */
  listen(failures: number): Promise<void>;
  /** Whether the account has listened before, in this run. */
  wasLive(): boolean;
  /** Errors after which it is tried again, unless they are terminal. @default each EarshotError */
  isLost?(error: unknown): error is Error;
}

const isEarshotError = (error: unknown): error is Error => error instanceof EarshotError;

/**
 * Resolves when the signal aborts.
 * @throws what `listen` throws and is terminal or unknown.
 */
export async function keepListening(
  { listen, wasLive, isLost = isEarshotError }: Listening,
  context: Pick<ChannelContext<unknown>, "clock" | "random" | "reportState">,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const began = context.clock.monotonic();
    try {
      await listen(failures);
    } catch (error) {
      if (signal.aborted) break;
      const isFinal = error instanceof EarshotError && error.disposition === "terminal";
      if (isFinal || !isLost(error)) throw error;
      context.reportState("backing-off", error.message);
    }
    if (signal.aborted) break;
    if (context.clock.monotonic() - began > goodMsMin) failures = 0;
    await backOff(context, backoff, failures, signal);
    failures += 1;
    if (!signal.aborted) context.reportState(wasLive() ? "resuming" : "connecting");
  }
}
