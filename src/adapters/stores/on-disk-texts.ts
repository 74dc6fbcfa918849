/**
 * Texts outside the heap
 * ======================
 * One behind the other in blocks (stores/spilled.blocks.ts), each found again by its place.
 */
import { Blocks } from "./on-disk-blocks.ts";

const pieceBytes = 1_048_576;
/** Pieces kept in memory: shorter simulations touch no disk. */
const piecesHeldMax = 8;

/** Texts by their place. */
export class Texts {
  readonly #pieces = new Blocks(() => Buffer.allocUnsafeSlow(pieceBytes), piecesHeldMax);
  /** The few that would fill a piece alone. */
  readonly #large: string[] = [];
  #used = 0;
  #read = Buffer.allocUnsafeSlow(4_096);

  /** Keeps a text; what it answers with is what `read` wants. */
  add(text: string): { readonly place: number; readonly size: number } {
    // UTF-8 needs at most three bytes for a UTF-16 unit; a text lies in one piece.
    const most = text.length * 3;
    if (most > pieceBytes) return { place: -this.#large.push(text), size: 0 };
    if (this.#used + most > pieceBytes) {
      this.#pieces.next();
      this.#used = 0;
    }
    const size = this.#pieces.last.write(text, this.#used);
    const place = (this.#pieces.count - 1) * pieceBytes + this.#used;
    this.#used += size;
    return { place, size };
  }

  read(place: number, size: number): string {
    if (place < 0) return this.#large[-place - 1] as string;
    const from = place % pieceBytes;
    const held = this.#pieces.at(Math.floor(place / pieceBytes));
    if (held !== undefined) return held.toString("utf8", from, from + size);
    if (this.#read.length < size) this.#read = Buffer.allocUnsafeSlow(size * 2);
    this.#pieces.read(this.#read, size, place);
    return this.#read.toString("utf8", 0, size);
  }

  close(): void {
    this.#pieces.close();
  }
}
