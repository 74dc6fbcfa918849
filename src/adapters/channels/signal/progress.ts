/**
 * Until when an account has listened
 * ==================================
 * The cursor has the time and the id of the last event. Whether something was lost while the account was
 * away depends on signal-cli: current versions repeat what came after an id, older ones repeat nothing,
 * and which one it is shows with the first event. Until then, what may be missing stays open.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { type Millis, momentMax } from "../../../domain/message.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import type { SignalAccountConfig } from "./config.ts";

const progressSchema = z.object({
  heard: z.number().int().min(0).max(momentMax),
  eventId: z.string().max(limits.idUnitsMax).nullable(),
  /** Whether events have ids; null: none has come yet. */
  hasIds: z.boolean().nullable(),
});

type Context = ChannelContext<SignalAccountConfig>;

interface Span {
  readonly from: Millis;
  readonly to: Millis;
}

/** Events that the daemon keeps (signal-cli-jsonrpc(5)). */
const keptMax = 1_000;
/** Asks for all that is kept: it is no id of any event. */
const unknownId = "0";

/** `<start of the daemon>-<number>`, as the daemon numbers events. */
const numberOf = (id: string | null) => {
  const [, run, count] = /^(\d+)-(\d{1,15})$/.exec(id ?? "") ?? [];
  return run === undefined ? null : { run, count: Number(count) };
};

export class SignalProgress {
  readonly #context: Context;
  /** Of what was received; a cursor has what is durable. */
  #heard: Millis | null = null;
  #eventId: string | null = null;
  #hasIds: boolean | null = null;
  /** What the cursor is behind each received event. */
  readonly #tickets = new Map<number, { readonly at: Millis; readonly eventId: string | null }>();
  #ticket = 0;
  /** The time that the account was away, until it is known whether something is missing. */
  #open: Span | null = null;
  /** The same time, while it may still show that the daemon kept too little. */
  #repeated: Span | null = null;
  /** The last event before this connection and the first of it. */
  #before: string | null = null;
  #first: string | null = null;
  #count = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  load(stored: string | null): void {
    if (stored === null) return;
    try {
      const { heard, eventId, hasIds } = progressSchema.parse(JSON.parse(stored));
      this.#heard = heard;
      this.#eventId = eventId;
      this.#hasIds = hasIds;
    } catch {
      // Only another program, or a newer earshot, has written this.
      this.#context.log("error", "signal.cursor-unreadable", { units: stored.length });
    }
  }

  /** What to ask the daemon for; null: the account has never listened. */
  get lastEventId(): string | null {
    return this.#heard === null ? null : (this.#eventId ?? unknownId);
  }

  /** A number for what was received until now. */
  ticket(): number {
    this.#ticket += 1;
    const { clock } = this.#context;
    this.#tickets.set(this.#ticket, { at: clock.now(), eventId: this.#eventId });
    this.#tickets.delete(this.#ticket - 2 * limits.waitingEventsMax);
    return this.#ticket;
  }

  /** The cursor behind what was received until a ticket. */
  cursorAt(ticket: number): string {
    const { at, eventId } = this.#tickets.get(ticket) ?? { at: 0, eventId: null };
    return JSON.stringify({ heard: this.#open?.from ?? at, eventId, hasIds: this.#hasIds });
  }

  /** A connection was made. */
  connected(): void {
    const now = this.#context.clock.now();
    this.#before = this.#eventId;
    this.#first = null;
    this.#count = 0;
    if (this.#heard !== null) this.#open = { from: this.#open?.from ?? this.#heard, to: now };
    this.#heard ??= now;
    if (this.#hasIds === false) this.#settle(true);
  }

  /** The connection lives. */
  alive(): void {
    this.#heard = this.#context.clock.now();
  }

  /** An event came: its id says something about those before it. */
  saw(id: string | null): void {
    this.#count += 1;
    this.#first ??= id;
    this.#hasIds = id !== null;
    this.#eventId = id ?? this.#eventId;
    this.#settle(id === null);
    if (this.#count === keptMax) this.#checkOverflow(id);
  }

  #settle(isLost: boolean): void {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    if (!isLost) this.#repeated = open;
    // With on-connection, messages wait at Signal's servers while nobody is connected.
    else if (this.#context.config.receiveMode === "on-start") this.#report(open);
  }

  /** As many events in a row as the daemon keeps, after a hole: it no longer had the older ones. */
  #checkOverflow(id: string | null): void {
    const [before, first, last] = [this.#before, this.#first, id].map(numberOf);
    const span = this.#repeated;
    this.#repeated = null;
    if (span === null || !before || !first || !last) return;
    const isFull = last.run === first.run && last.count - first.count === keptMax - 1;
    if (isFull && before.run === first.run && first.count > before.count + 1) this.#report(span);
  }

  #report({ from, to }: Span): void {
    this.#context.reportGap({ from, to, rooms: [], lost: "messages" });
  }
}
