/**
 * Heights of rows
 * ===============
 * The position of each row of a long list: measured where it was rendered once, estimated
 * elsewhere. Positions are sums, computed again from the first changed row; a few thousand
 * additions are cheap.
 */

/** A list of rows by their keys, with the height each would have before it was measured. */
export interface Rows {
  readonly length: number;
  key(index: number): string;
  estimate(index: number): number;
}

export class Heights {
  readonly #measured = new Map<string, number>();
  #rows: Rows;
  #places = new Map<string, number>();
  #heights = new Float64Array(0);
  /** The upper edge of each row, and of what follows the last; right up to `#rightTo`. */
  #tops = new Float64Array(1);
  #rightTo = 0;

  constructor(rows: Rows) {
    this.#rows = rows;
    this.take(rows);
  }

  /** Goes on with other rows; heights of those that are still there stay known. */
  take(rows: Rows): void {
    this.#rows = rows;
    this.#places = new Map();
    for (let index = 0; index < rows.length; index += 1) this.#places.set(rows.key(index), index);
    // Those that went may come back; who scrolls for hours must not keep them all.
    if (this.#measured.size > 2 * rows.length + 256)
      for (const key of this.#measured.keys())
        if (!this.#places.has(key)) this.#measured.delete(key);
    this.#fill();
  }

  /** A row was seen to be so high, px; whether that is news. */
  note(key: string, px: number): boolean {
    const known = this.#measured.get(key);
    if (known !== undefined && Math.abs(known - px) < 0.05) return false;
    this.#measured.set(key, px);
    const index = this.indexOf(key);
    if (index >= 0) {
      this.#heights[index] = px;
      this.#rightTo = Math.min(this.#rightTo, index);
    }
    return true;
  }

  /** Forgets what was measured: the list has another width. */
  forget(): void {
    this.#measured.clear();
    this.#fill();
  }

  get count(): number {
    return this.#rows.length;
  }
  /** How many heights are known. */
  get known(): number {
    return this.#measured.size;
  }
  /** Number of a row; -1: it is not there. */
  indexOf(key: string): number {
    return this.#places.get(key) ?? -1;
  }
  key(index: number): string {
    return this.#rows.key(index);
  }
  /** The upper edge of a row; of the number behind the last: the whole height. */
  top(index: number): number {
    return this.#newest()[Math.max(0, Math.min(index, this.#rows.length))] ?? 0;
  }
  get total(): number {
    return this.top(this.#rows.length);
  }
  /** The row at this point; the first or last row outside of the list. */
  at(px: number): number {
    const tops = this.#newest();
    let low = 0;
    let high = this.#rows.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((tops[middle] as number) <= px) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #fill(): void {
    const { length } = this.#rows;
    this.#heights = new Float64Array(length);
    this.#tops = new Float64Array(length + 1);
    for (let index = 0; index < length; index += 1)
      this.#heights[index] = this.#measured.get(this.key(index)) ?? this.#rows.estimate(index);
    this.#rightTo = 0;
  }

  #newest(): Float64Array {
    const { length } = this.#rows;
    for (let index = this.#rightTo; index < length; index += 1)
      this.#tops[index + 1] = (this.#tops[index] as number) + (this.#heights[index] as number);
    this.#rightTo = length;
    return this.#tops;
  }
}
