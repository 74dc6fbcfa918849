/**
 * Texts outside the heap
 * ======================
 * One behind the other in pieces; all but the newest pieces lie in a file without a name, so
 * nothing is left behind however the process ends. What is old is read from there: the system keeps
 * what it can of it in memory that nobody misses.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const pieceBytes = 1_048_576;
/** Pieces kept in memory: shorter simulations touch no disk. */
const piecesHeldMax = 8;

/** Texts by their place. */
export class Texts {
  /** The newest pieces; the last one is being filled. */
  readonly #held: Buffer[] = [Buffer.allocUnsafeSlow(pieceBytes)];
  /** The few that would fill a piece alone. */
  readonly #large: string[] = [];
  /** Pieces that are in the file. */
  #spilled = 0;
  #used = 0;
  #file: number | null = null;
  #read = Buffer.allocUnsafeSlow(4_096);

  /** Keeps a text; what it answers with is what `read` wants. */
  add(text: string): { readonly place: number; readonly size: number } {
    // UTF-8 needs at most three bytes for a UTF-16 unit; a text lies in one piece.
    const most = text.length * 3;
    if (most > pieceBytes) return { place: -this.#large.push(text), size: 0 };
    if (this.#used + most > pieceBytes) this.#next();
    const piece = this.#held.at(-1) as Buffer;
    const size = piece.write(text, this.#used);
    const place = (this.#spilled + this.#held.length - 1) * pieceBytes + this.#used;
    this.#used += size;
    return { place, size };
  }

  read(place: number, size: number): string {
    if (place < 0) return this.#large[-place - 1] as string;
    const index = Math.floor(place / pieceBytes);
    const from = place % pieceBytes;
    const held = this.#held[index - this.#spilled];
    if (held !== undefined) return held.toString("utf8", from, from + size);
    if (this.#read.length < size) this.#read = Buffer.allocUnsafeSlow(size * 2);
    readSync(this.#file as number, this.#read, 0, size, place);
    return this.#read.toString("utf8", 0, size);
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
    this.#held.length = 1;
  }

  #next(): void {
    this.#used = 0;
    if (this.#held.length < piecesHeldMax) {
      this.#held.push(Buffer.allocUnsafeSlow(pieceBytes));
      return;
    }
    const oldest = this.#held.shift() as Buffer;
    this.#file ??= namelessFile();
    writeSync(this.#file, oldest, 0, pieceBytes, this.#spilled * pieceBytes);
    this.#spilled += 1;
    this.#held.push(oldest);
  }
}

/** A file for this process alone that is gone when it is closed. */
export function namelessFile(): number {
  const folder = mkdtempSync(join(tmpdir(), "earshot-replay-"));
  try {
    return openSync(join(folder, "rows"), "wx+", 0o600);
  } finally {
    // On Windows a file that is open stays until it is closed; the folder is then left empty.
    rmSync(folder, { recursive: true, force: true });
  }
}
