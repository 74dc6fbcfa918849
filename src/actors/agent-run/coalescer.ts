/**
 * Coalescing
 * ==========
 * An agent that works in steps says little things between them, and each would be a message of its
 * own. A small piece waits a moment for its neighbour, and they leave as one; a piece that is large
 * enough, or that nothing follows in time, leaves by itself. Nothing is reordered, and the end of
 * the turn waits for nobody.
 */
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { Piece } from "./output-sequencer.ts";

export interface CoalesceOptions {
  readonly clock: Clock;
  /** 0: every piece leaves at once. */
  readonly idleMs: number;
  /** A piece of this size waits for nothing. UTF-16 units. */
  readonly enough: number;
  /** Two pieces are one if they fit into this. UTF-16 units. */
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

  /** @param joint goes between this piece and the one before, where they become one. */
  add(piece: Piece & { readonly opens: string }, joint: string): void {
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
    if (idleMs === 0 || text.length >= enough) this.flush();
    else this.#timer = clock.setTimer(clock.now() + idleMs, () => this.flush());
  }

  /** Sends what waits. */
  flush(): void {
    this.stop();
    const piece = this.#held;
    this.#held = null;
    if (piece !== null) this.#options.onPiece(piece);
  }

  /** Clears the timer; what waits goes on waiting. */
  stop(): void {
    if (this.#timer !== null) this.#options.clock.clearTimer(this.#timer);
    this.#timer = null;
  }
}
