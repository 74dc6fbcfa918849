/**
 * Delivering what waits
 * =====================
 * Decrypted messages wait in the store, in the order of their arrival, until they are durable in the
 * journal: also those of an earlier run that ended in between. One that is refused for good is logged and
 * passed over; while the journal takes nothing, everything waits.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { backOff } from "../../../domain/ports/pause.ts";
import type { LinkedAccountConfig } from "./config.ts";
import type { Baileys } from "./library.ts";
import { eventOf, letterOf, type Receiver } from "./normalise.ts";
import type { LinkedStore, Waiting } from "./store.ts";

const batchMax = 64;
const backoff = { msMin: 500, msMax: 30_000 };

type Context = Pick<ChannelContext<LinkedAccountConfig>, "clock" | "random" | "log" | "deliver">;

/**
 * The event of a decrypted message; null: it is none for a conversation.
 * @throws anything, when it has another form
 */
export async function readReceived(
  baileys: Baileys,
  stanza: Buffer,
  plain: Uint8Array,
  receiver: Receiver,
): Promise<ChannelEvent | null> {
  const node = await baileys.decodeBinaryNode(stanza);
  const letter = letterOf(baileys, node, plain, receiver.people);
  return letter === null ? null : await eventOf(baileys, letter, receiver);
}

export class Delivery {
  readonly #baileys: Baileys;
  readonly #store: LinkedStore;
  readonly #context: Context;
  readonly #receiver: Receiver;
  readonly #signal: AbortSignal;
  #running: Promise<void> | null = null;
  #hasMore = false;

  constructor(
    baileys: Baileys,
    store: LinkedStore,
    context: Context,
    receiver: Receiver,
    signal: AbortSignal,
  ) {
    this.#baileys = baileys;
    this.#store = store;
    this.#context = context;
    this.#receiver = receiver;
    this.#signal = signal;
  }

  /** Something waits. */
  wake(): void {
    this.#hasMore = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Resolves when nothing is being delivered. Rejects never. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (this.#hasMore && !this.#signal.aborted) {
      this.#hasMore = false;
      try {
        await this.#drain();
        failures = 0;
      } catch (error) {
        this.#hasMore = true;
        const { log } = this.#context;
        const code = error instanceof EarshotError ? error.code : "unknown";
        if (failures === 0) log("warn", "whatsapp-linked.intake-closed", { error: code });
        await backOff(this.#context, backoff, failures, this.#signal);
        failures += 1;
      }
    }
  }

  async #drain(): Promise<void> {
    for (;;) {
      const rows = this.#store.waiting(batchMax);
      if (rows.length === 0 || this.#signal.aborted) return;
      const events: ChannelEvent[] = [];
      for (const row of rows) {
        const event = await this.#read(row);
        if (event !== null) events.push(event);
      }
      await this.#deliver(events);
      this.#store.delivered(rows);
    }
  }

  async #read({ node, plain }: Waiting): Promise<ChannelEvent | null> {
    try {
      const [stanza, content] = [Buffer.from(node, "base64"), Buffer.from(plain, "base64")];
      return await readReceived(this.#baileys, stanza, content, this.#receiver);
    } catch {
      // Its author has a program of another form; what it says is not for the log.
      this.#context.log("warn", "whatsapp-linked.unreadable", { what: "content" });
      return null;
    }
  }

  async #deliver(events: readonly ChannelEvent[]): Promise<void> {
    if (events.length === 0) return;
    try {
      await this.#context.deliver(events);
    } catch (error) {
      if (!(error instanceof EarshotError) || error.disposition === "retry") throw error;
      if (events.length > 1) for (const one of events) await this.#deliver([one]);
      else this.#context.log("error", "whatsapp-linked.event-refused", { error: error.code });
    }
  }
}
