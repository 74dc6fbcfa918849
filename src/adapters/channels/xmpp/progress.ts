/**
 * Where an account is
 * ===================
 * Each archive (our own, and each room's) numbers its messages: the cursor holds the last one that is
 * durable, and until when the account has listened, for servers without an archive. What arrives gets
 * a number here, so that the cursor of a batch is exactly what lies before its end.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { type Millis, momentMax } from "../../../domain/message.ts";
import type { Log } from "../../../domain/ports/index.ts";

const id = z.string().min(1).max(limits.idUnitsMax);
const progressSchema = z.object({
  heard: z.number().int().min(0).max(momentMax),
  /** Empty: nothing has come out of it yet. */
  archives: z.record(id, z.string().max(limits.idUnitsMax)),
});

interface Step {
  readonly at: Millis;
  /** Null: nothing but the time. */
  readonly archive: string | null;
  readonly id: string;
}

export class Progress {
  /** Until when the account has listened, in this run or an earlier one; null: never. */
  heardAt: Millis | null = null;
  readonly #archives = new Map<string, string>();
  readonly #steps = new Map<number, Step>();
  /** What is folded into the state. */
  readonly #durable = new Map<string, string>();
  #count = 0;
  #folded = 0;

  /** Takes up what is stored; a login of another address begins from nothing. */
  read(stored: string | null, log: Log): void {
    if (stored === null) return;
    try {
      const { heard, archives } = progressSchema.parse(JSON.parse(stored));
      this.heardAt = heard;
      for (const [archive, last] of Object.entries(archives)) {
        this.#archives.set(archive, last);
        this.#durable.set(archive, last);
      }
    } catch {
      // Only another program, or a newer earshot, has written this.
      log("error", "xmpp.cursor-unreadable", { units: stored.length });
    }
  }

  /** The last message of a chat that came here; empty: none yet; null: it is new to us. */
  lastOf(archive: string): string | null {
    return this.#archives.get(archive) ?? null;
  }

  /** Numbers an arrival; what the archive calls it, where it does. */
  step(at: Millis, archive: string | null = null, last = ""): number {
    this.#count += 1;
    this.#steps.set(this.#count, { at, archive, id: last });
    if (archive !== null) this.#archives.set(archive, last);
    // A batch that failed is taken apart, so a smaller number may still follow.
    for (; this.#count - this.#folded > limits.waitingEventsMax * 16; this.#folded += 1) {
      const old = this.#steps.get(this.#folded + 1);
      if (old !== undefined && old.archive !== null) this.#durable.set(old.archive, old.id);
      this.#steps.delete(this.#folded + 1);
    }
    return this.#count;
  }

  /** The cursor behind everything up to this number. */
  cursorAt(number: number): string {
    const archives = new Map(this.#durable);
    let heard = this.heardAt ?? 0;
    for (let at = this.#folded + 1; at <= number; at += 1) {
      const step = this.#steps.get(at);
      if (step === undefined) continue;
      heard = Math.max(heard, step.at);
      if (step.archive !== null) archives.set(step.archive, step.id);
    }
    return JSON.stringify({ heard, archives: Object.fromEntries(archives) });
  }
}
