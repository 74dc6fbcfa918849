/**
 * A journal for long simulations
 * ==============================
 * A million rows as strings and objects would be the collector's main work. Here the numbers lie in
 * typed arrays and the texts in pieces outside the heap; all but the newest pieces go to a file
 * that has no name, so nothing is left behind however the process ends. A row costs some sixty
 * bytes of memory, whatever it says.
 *
 * Identities are recognised by their hash, as the SQLite store does.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hash52 } from "../../domain/key.ts";
import type { EventRow, EventWrite } from "../../domain/ports.ts";
import type { Rows } from "./memory.rows.ts";

const pieceBytes = 1_048_576;
/** Pieces kept in memory: shorter simulations touch no disk. */
const piecesHeldMax = 32;
const rowsPerBlock = 65_536;
/** The mark of a row that has none; marks are small numbers. */
const noCode = -(2 ** 31);

/** The numbers of one block of rows. */
interface Block {
  readonly numbers: Float64Array;
  readonly small: Int32Array;
}
/** Columns of `numbers` and of `small`. */
const numberColumns = { at: 0, eid: 1, conv: 2, place: 3, message: 4 } as const;
const smallColumns = { size: 0, cfg: 1, code: 2 } as const;
const numbersPerRow = 5;
const smallPerRow = 3;

export function createSpilledRows(): Rows {
  return new SpilledRows();
}

class SpilledRows implements Rows {
  readonly #blocks: Block[] = [];
  readonly #texts = new Texts();
  /** Numbers by identity: open addressing, 0 is free. */
  #index = new Uint32Array(2 ** 12);
  #last = 0;

  add(seq: number, write: EventWrite): boolean {
    const slot = this.#slotOf(write.at, write.eid, write.conv);
    if (this.#index[slot] !== 0) return false;
    this.#index[slot] = seq;
    this.#last = seq;
    const { numbers, small } = this.#blockFor(seq);
    const row = (seq - 1) % rowsPerBlock;
    const { place, size } = this.#texts.add(write.body);
    const message = write.messageId === null ? 0 : hash52(write.messageId);
    numbers.set([write.at, write.eid, write.conv, place, message], row * numbersPerRow);
    small.set([size, write.cfg, write.code ?? noCode], row * smallPerRow);
    if (seq * 2 > this.#index.length) this.#grow();
    return true;
  }

  get(seq: number): EventRow | undefined {
    if (seq < 1 || seq > this.#last) return undefined;
    const code = this.#small(seq, "code");
    return {
      seq,
      at: this.#number(seq, "at"),
      conv: this.#number(seq, "conv"),
      cfg: this.#small(seq, "cfg"),
      body: this.#texts.read(this.#number(seq, "place"), this.#small(seq, "size")),
      code: code === noCode ? null : code,
    };
  }

  mark(seq: number, code: number): boolean {
    if (seq < 1 || seq > this.#last || this.#small(seq, "code") !== noCode) return false;
    const { small } = this.#blockFor(seq);
    small[((seq - 1) % rowsPerBlock) * smallPerRow + smallColumns.code] = code;
    return true;
  }

  *seqs(): Generator<number> {
    for (let seq = 1; seq <= this.#last; seq += 1) yield seq;
  }

  ofMessage(messageId: string): readonly EventRow[] {
    const wanted = hash52(messageId);
    const rows: EventRow[] = [];
    for (let seq = 1; seq <= this.#last; seq += 1) {
      if (this.#number(seq, "message") !== wanted) continue;
      const row = this.get(seq);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  /** Rows cost so little that none is taken away. */
  remove(): void {}

  close(): void {
    this.#texts.close();
  }

  #blockFor(seq: number): Block {
    const index = Math.floor((seq - 1) / rowsPerBlock);
    let block = this.#blocks[index];
    if (block === undefined) {
      const numbers = new Float64Array(rowsPerBlock * numbersPerRow);
      block = { numbers, small: new Int32Array(rowsPerBlock * smallPerRow) };
      this.#blocks[index] = block;
    }
    return block;
  }

  #number(seq: number, column: keyof typeof numberColumns): number {
    const row = (seq - 1) % rowsPerBlock;
    return this.#blockFor(seq).numbers[row * numbersPerRow + numberColumns[column]] as number;
  }

  #small(seq: number, column: keyof typeof smallColumns): number {
    const row = (seq - 1) % rowsPerBlock;
    return this.#blockFor(seq).small[row * smallPerRow + smallColumns[column]] as number;
  }

  /** Where an identity stands in the index, or where it would. */
  #slotOf(at: number, eid: number, conv: number): number {
    const mask = this.#index.length - 1;
    let slot = (Math.imul(eid % 4_294_967_291, 0x9e3779b1) ^ conv ^ at) & mask;
    for (;;) {
      const seq = this.#index[slot] as number;
      if (seq === 0) return slot;
      const isSame =
        this.#number(seq, "eid") === eid &&
        this.#number(seq, "conv") === conv &&
        this.#number(seq, "at") === at;
      if (isSame) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #grow(): void {
    this.#index = new Uint32Array(this.#index.length * 2);
    for (let seq = 1; seq <= this.#last; seq += 1) {
      const at = this.#number(seq, "at");
      const conv = this.#number(seq, "conv");
      this.#index[this.#slotOf(at, this.#number(seq, "eid"), conv)] = seq;
    }
  }
}

/** Texts one behind the other; the older ones in a file. */
class Texts {
  /** The newest pieces; the last one is being filled. */
  readonly #held: Buffer[] = [Buffer.allocUnsafeSlow(pieceBytes)];
  /** The few that would fill a piece alone. */
  readonly #large: string[] = [];
  /** Pieces that are in the file. */
  #spilled = 0;
  #used = 0;
  #file: number | null = null;
  #read = Buffer.allocUnsafeSlow(4_096);

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
    this.#file ??= nameless();
    writeSync(this.#file, oldest, 0, pieceBytes, this.#spilled * pieceBytes);
    this.#spilled += 1;
    this.#held.push(oldest);
  }
}

/** A file for this process alone that is gone when it is closed. */
function nameless(): number {
  const folder = mkdtempSync(join(tmpdir(), "earshot-replay-"));
  try {
    return openSync(join(folder, "rows"), "wx+", 0o600);
  } finally {
    // On Windows a file that is open stays until it is closed; the folder is then left empty.
    rmSync(folder, { recursive: true, force: true });
  }
}
