/**
 * What a bot hears, on its way into an earshot of the same process
 * =================================================================
 * A bot's client gives each update once. They wait here, in order, until the account of earshot has
 * started and its store takes them. The bot is not held up for long: an update that is not durable
 * after some seconds, or that comes while earshot does not run, goes on waiting while the bot's own
 * handlers run. Too many that wait lose the oldest, which is reported as a gap.
 */
import { EarshotError } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import type { Millis } from "../domain/message.ts";
import type { ChannelContext } from "../domain/ports/index.ts";
import { backOff } from "../domain/ports/pause.ts";

const backoff = { msMin: 500, msMax: 30_000 };
/** How long a bot's own handlers wait for an update to become durable, ms. */
const holdMsMax = 10_000;

interface Waiting<Update> {
  readonly update: Update;
  readonly at: Millis;
  readonly done: () => void;
}

/** Resolves when the update is durable. Rejects with the disposition `retry` to get it again. */
type Take<Update> = (update: Update) => Promise<void>;
type Context = Pick<ChannelContext<unknown>, "clock" | "random" | "log" | "reportGap">;

interface Sink<Update> {
  readonly context: Context;
  readonly take: Take<Update>;
  readonly signal: AbortSignal;
}

export interface FeedOptions<Update> {
  /** How many may wait. @default limits.waitingEventsMax */
  readonly waitingMax?: number;
  /** Of an update that is dropped. */
  readonly onLost?: (update: Update) => void;
}

export class Feed<Update> {
  readonly #options: FeedOptions<Update>;
  readonly #waiting: Waiting<Update>[] = [];
  #sink: Sink<Update> | null = null;
  #running = false;
  /** When the first update came that was dropped since the last report. */
  #lostSince: Millis | null = null;

  constructor(options: FeedOptions<Update> = {}) {
    this.#options = options;
  }

  /** Resolves when the update is durable, or need not be waited for. Never rejects. */
  async push(update: Update): Promise<void> {
    const { waitingMax = limits.waitingEventsMax, onLost } = this.#options;
    if (this.#waiting.length >= waitingMax) {
      const oldest = this.#waiting.shift();
      this.#lostSince ??= oldest?.at ?? null;
      oldest?.done();
      if (oldest !== undefined) onLost?.(oldest.update);
    }
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, holdMsMax);
      const done = () => {
        clearTimeout(limit);
        resolve();
      };
      this.#waiting.push({ update, at: Date.now(), done });
      if (this.#sink === null) done();
      void this.#pump();
    });
  }

  /** An update that comes before all that wait. */
  pushFirst(update: Update): void {
    this.#waiting.unshift({ update, at: Date.now(), done: () => undefined });
  }

  /** Gives what waits, and what comes, to an account until the signal aborts. */
  open(context: Context, take: Take<Update>, signal: AbortSignal): void {
    const sink = { context, take, signal };
    this.#sink = sink;
    signal.addEventListener("abort", () => {
      if (this.#sink === sink) this.#sink = null;
    });
    void this.#pump();
  }

  async #pump(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    let failures = 0;
    for (;;) {
      const [first] = this.#waiting;
      const sink = this.#sink;
      if (first === undefined || sink === null || sink.signal.aborted) break;
      if (await this.#isTaken(first, sink, failures)) failures = 0;
      else failures += 1;
    }
    this.#running = false;
  }

  /** False: it is tried again. */
  async #isTaken(
    one: Waiting<Update>,
    { context, take, signal }: Sink<Update>,
    failures: number,
  ): Promise<boolean> {
    const { log } = context;
    try {
      await take(one.update);
    } catch (error) {
      const code = error instanceof EarshotError ? error.code : "unknown";
      if (error instanceof EarshotError && error.disposition === "retry") {
        if (failures === 0) log("warn", "bridge.intake-closed", { error: code });
        await backOff(context, backoff, failures, signal);
        return false;
      }
      log("error", "bridge.update-refused", { error: code });
    }
    if (this.#waiting[0] === one) this.#waiting.shift();
    one.done();
    this.#reportLoss(context, one.at);
    return true;
  }

  #reportLoss(context: Context, to: Millis): void {
    if (this.#lostSince === null) return;
    context.reportGap({ from: this.#lostSince, to, rooms: [], lost: "messages" });
    this.#lostSince = null;
  }
}
