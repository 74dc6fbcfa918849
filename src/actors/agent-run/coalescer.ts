/**
 * An agent that works in steps produces short texts between them, which would each become a
 * message. A small piece waits briefly for the next one, and both are sent together; a piece that
 * is large enough, or that is not followed in time, is sent alone. The order never changes, and the
 * end of the turn flushes without waiting.
 */
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { Piece } from "./output-sequencer.ts";

/** The shortest text that can be merged: a paragraph break and one character. */
const joinedUnitsMin = 3;

export interface CoalesceOptions {
  readonly clock: Clock;
  /** 0: every piece is sent immediately. */
  readonly idleMs: number;
  /** A piece of this size does not wait. UTF-16 units. */
  readonly enough: number;
  /** Largest size of merged pieces. UTF-16 units. */
  readonly max: number;
  readonly onPiece: (piece: Piece) => void;
}

export class Coalescer {
  readonly #options: CoalesceOptions;
  #held: Piece | null = null;
  #timer: TimerHandle | null = null;

  constructor(options: CoalesceOptions) {
    this.#options = options;
  }

  /**
   * @param joint separates this piece from the previous one when they are merged.
   * @param ends the piece ends a message: only then can the next one fit behind it.
   */
  add(piece: Piece & { readonly opens: string }, joint: string, ends: boolean): void {
    const { idleMs, enough, max, clock } = this.#options;
    const held = this.#held;
    const merges =
      held !== null &&
      held.closes === "" &&
      piece.opens === "" &&
      held.text.length + joint.length + piece.text.length <= max;
    if (!merges) this.flush();
    const text = merges ? held.text + joint + piece.text : piece.text;
    const from = merges ? held.from : piece.from;
    this.#held = { text, from, to: piece.to, closes: piece.closes };
    this.stop();
    const waits = idleMs > 0 && ends && text.length < enough && text.length <= max - joinedUnitsMin;
    if (!waits) this.flush();
    else this.#timer = clock.setTimer(clock.now() + idleMs, () => this.flush());
  }

  /** Sends the waiting piece. */
  flush(): void {
    this.stop();
    const piece = this.#held;
    this.#held = null;
    if (piece !== null) this.#options.onPiece(piece);
  }

  /** Clears the timer without sending the waiting piece. */
  stop(): void {
    if (this.#timer !== null) this.#options.clock.clearTimer(this.#timer);
    this.#timer = null;
  }
}
