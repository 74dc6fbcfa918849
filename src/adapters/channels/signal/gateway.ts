/**
 * The life of a Signal account
 * ============================
 * Asks the daemon whether it knows the account, opens the stream of events, and opens it again with a
 * growing pause when it ends. Events are delivered in order; while the intake is full, the stream is read
 * no further. The position in the stream is stored with each delivery and once a minute.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { within } from "../../../domain/ports/within.ts";
import { createIntake, type Intake } from "../shared/intake.ts";
import { keepListening } from "../shared/listening.ts";
import type { SignalClient } from "./client.ts";
import type { SignalAccountConfig } from "./config.ts";
import { openEvents } from "./events.ts";
import type { SignalNames } from "./names.ts";
import { eventOf } from "./normalise.ts";
import { SignalProgress } from "./progress.ts";
import { readGroups } from "./rooms.ts";
import { eventSchema } from "./wire.ts";

type Context = ChannelContext<SignalAccountConfig>;

const markMs = 60_000;
/** For what waits, when the account stops. */
const settleMsMax = 1_000;

/** Listens until the signal aborts. Rejects only when the daemon does not know the account. */
export async function receive(
  client: SignalClient,
  context: Context,
  names: SignalNames,
  signal: AbortSignal,
): Promise<void> {
  const run = new Run(client, context, names, signal);
  await run.load();
  await keepListening({ listen: () => run.listen(), wasLive: () => run.wasLive }, context, signal);
  await run.end();
}

class Run {
  readonly #client: SignalClient;
  readonly #context: Context;
  readonly #names: SignalNames;
  readonly #signal: AbortSignal;
  readonly #delivering = new AbortController();
  readonly #progress: SignalProgress;
  readonly #intake: Intake;
  #isFull = false;
  #resume = (): void => undefined;
  wasLive = false;

  constructor(client: SignalClient, context: Context, names: SignalNames, signal: AbortSignal) {
    this.#client = client;
    this.#context = context;
    this.#names = names;
    this.#signal = signal;
    this.#progress = new SignalProgress(context);
    this.#intake = createIntake({
      context,
      channel: "signal",
      cursorAt: (ticket) => this.#progress.cursorAt(ticket),
      onFull: (full) => {
        this.#isFull = full;
        if (!full) this.#resume();
      },
      signal: this.#delivering.signal,
    });
    signal.addEventListener("abort", () => this.#resume(), { once: true });
  }

  async load(): Promise<void> {
    this.#progress.load(await this.#context.loadCursor(this.#names.self.id));
  }

  /** One connection, from its beginning to its end. */
  async listen(): Promise<void> {
    const { context, signal } = { context: this.#context, signal: this.#signal };
    const { config, clock } = context;
    await readGroups(this.#client, this.#names, { kind: "connect", signal });
    const { lastEventId } = this.#progress;
    const stream = await openEvents({ config, clock, lastEventId, signal });
    this.#progress.connected();
    this.wasLive = true;
    context.reportState("live");
    this.#mark();
    let marked = clock.now();
    try {
      for await (const event of stream.events) {
        if (event === "alive") this.#progress.alive();
        else this.#take(event.id, event.data);
        if (clock.now() - marked >= markMs) {
          this.#mark();
          marked = clock.now();
        }
        if (this.#isFull && !signal.aborted)
          await new Promise<void>((resolve) => {
            this.#resume = resolve;
          });
      }
    } finally {
      stream.close();
    }
    throw new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot receive from signal-cli: the connection ended",
    );
  }

  /** Stores what is left; what cannot be stored in time is lost, as it would be in a crash. */
  async end(): Promise<void> {
    if (this.wasLive) this.#mark();
    await within(this.#context.clock, settleMsMax, this.#intake.settled());
    this.#delivering.abort();
  }

  #mark(): void {
    this.#intake.mark(this.#progress.ticket());
  }

  #take(id: string | null, data: string): void {
    const { context } = { context: this.#context };
    this.#progress.saw(id);
    let read: unknown;
    try {
      read = JSON.parse(data);
    } catch {
      read = null;
    }
    const parsed = eventSchema.safeParse(read);
    if (!parsed.success) {
      const at = parsed.error.issues[0]?.path.join(".") ?? "";
      context.log("warn", "signal.event-unreadable", { at });
      return;
    }
    const { envelope, exception } = parsed.data;
    if (exception != null)
      context.log("warn", "signal.message-unreadable", {
        why: (exception.type ?? "").slice(0, 100),
      });
    if (envelope == null) return;
    const event = eventOf(envelope, { account: context.accountId, names: this.#names });
    if (event !== null) this.#intake.push(event, this.#progress.ticket());
  }
}
