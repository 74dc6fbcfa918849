/**
 * A journal for long simulations
 * ==============================
 * A million rows as strings and objects would be the collector's main work. Here numbers and
 * texts lie in pieces outside the heap; all but the newest pieces go to files that have no name, so
 * nothing is left behind however the process ends. An older row costs some sixteen bytes of memory,
 * whatever it says.
 *
 * Identities are recognised by their hash, as the SQLite store does.
 */
import { hash52 } from "../../domain/key.ts";
import type { EventRow, EventWrite } from "../../domain/ports/index.ts";
import type { Rows } from "./memory.rows.ts";
import { Blocks } from "./on-disk-blocks.ts";
import { Texts } from "./on-disk-texts.ts";

const rowsPerBlock = 16_384;
/** Blocks of numbers kept in memory: what is talked of now. */
const blocksHeldMax = 4;
/** The mark of a row that has none; marks are small numbers. */
const noCode = -(2 ** 31);

/** Where each number of a row stands in it. */
const columns = { at: 0, eid: 1, conv: 2, place: 3, message: 4, size: 5, cfg: 6, code: 7 } as const;
const rowNumbers = 8;
const rowBytes = rowNumbers * Float64Array.BYTES_PER_ELEMENT;

export function createSpilledRows(): Rows {
  return new SpilledRows();
}

class SpilledRows implements Rows {
  readonly #numbers = new Numbers();
  readonly #texts = new Texts();
  readonly #index = new Index();

  add(seq: number, { at, eid, conv, messageId, cfg, code, body }: EventWrite): boolean {
    const isSame = (other: number) => {
      const row = this.#numbers.row(other);
      return row[columns.eid] === eid && row[columns.conv] === conv && row[columns.at] === at;
    };
    if (!this.#index.add(seq, fingerprint(at, eid, conv), isSame)) return false;
    const { place, size } = this.#texts.add(body);
    const message = messageId === null ? 0 : hash52(messageId);
    this.#numbers.add([at, eid, conv, place, message, size, cfg, code ?? noCode]);
    return true;
  }

  get(seq: number): EventRow | undefined {
    if (seq < 1 || seq > this.#numbers.count) return undefined;
    const row = this.#numbers.row(seq);
    const [at, conv, cfg] = [row[columns.at], row[columns.conv], row[columns.cfg]] as [
      number,
      number,
      number,
    ];
    const code = row[columns.code] as number;
    const body = this.#texts.read(row[columns.place] as number, row[columns.size] as number);
    return { seq, at, conv, cfg, body, code: code === noCode ? null : code };
  }

  mark(seq: number, code: number): boolean {
    if (seq < 1 || seq > this.#numbers.count) return false;
    if (this.#numbers.row(seq)[columns.code] !== noCode) return false;
    this.#numbers.mark(seq, code);
    return true;
  }

  *seqs(): Generator<number> {
    for (let seq = 1; seq <= this.#numbers.count; seq += 1) yield seq;
  }

  ofMessage(messageId: string): readonly EventRow[] {
    const wanted = hash52(messageId);
    const rows: EventRow[] = [];
    for (const seq of this.seqs())
      if (this.#numbers.row(seq)[columns.message] === wanted) rows.push(...rowOf(this, seq));
    return rows;
  }

  remove(): void {
    // A simulation forgets nothing: its end takes everything away at once.
  }

  close(): void {
    this.#texts.close();
    this.#numbers.close();
  }
}

const rowOf = (rows: Pick<Rows, "get">, seq: number): EventRow[] => {
  const row = rows.get(seq);
  return row === undefined ? [] : [row];
};

/** Of an identity; few have the same. */
const fingerprint = (at: number, eid: number, conv: number): number =>
  (Math.imul(eid % 4_294_967_291, 0x9e3779b1) ^ conv ^ at) >>> 0;

/** Numbers of rows by identity: open addressing, 0 is free. Asks the rows only where it must. */
class Index {
  #seqs = new Uint32Array(2 ** 12);
  #prints = new Uint32Array(2 ** 12);
  #count = 0;

  /** False: it is there already. */
  add(seq: number, print: number, isSame: (seq: number) => boolean): boolean {
    const mask = this.#seqs.length - 1;
    let slot = print & mask;
    for (; this.#seqs[slot] !== 0; slot = (slot + 1) & mask)
      if (this.#prints[slot] === print && isSame(this.#seqs[slot] as number)) return false;
    this.#seqs[slot] = seq;
    this.#prints[slot] = print;
    this.#count += 1;
    if (this.#count * 4 > this.#seqs.length * 3) this.#grow();
    return true;
  }

  #grow(): void {
    const [seqs, prints] = [this.#seqs, this.#prints];
    this.#seqs = new Uint32Array(seqs.length * 2);
    this.#prints = new Uint32Array(seqs.length * 2);
    this.#count = 0;
    for (const [slot, seq] of seqs.entries())
      if (seq !== 0) this.add(seq, prints[slot] as number, () => false);
  }
}

/** The numbers of the rows; the older ones in a file. */
class Numbers {
  readonly #blocks = new Blocks(() => new Float64Array(rowsPerBlock * rowNumbers), blocksHeldMax);
  readonly #one = new Float64Array(rowNumbers);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(row: readonly number[]): void {
    if (this.#count === this.#blocks.count * rowsPerBlock) this.#blocks.next();
    this.#blocks.last.set(row, (this.#count % rowsPerBlock) * rowNumbers);
    this.#count += 1;
  }

  /** To be read at once: the next call may use the same place. */
  row(seq: number): Float64Array {
    const block = this.#blockOf(seq);
    if (block === undefined) {
      this.#blocks.read(this.#one, rowBytes, (seq - 1) * rowBytes);
      return this.#one;
    }
    const from = ((seq - 1) % rowsPerBlock) * rowNumbers;
    return block.subarray(from, from + rowNumbers);
  }

  mark(seq: number, code: number): void {
    const row = this.row(seq);
    row[columns.code] = code;
    if (this.#blockOf(seq) === undefined) this.#blocks.write(row, rowBytes, (seq - 1) * rowBytes);
  }

  close(): void {
    this.#blocks.close();
  }

  /** Undefined: it is in the file. */
  #blockOf(seq: number): Float64Array | undefined {
    return this.#blocks.at(Math.floor((seq - 1) / rowsPerBlock));
  }
}
