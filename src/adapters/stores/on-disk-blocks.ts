/**
 * Blocks outside the heap
 * =======================
 * Of one size, filled one after the other. All but the newest lie in a file without a name, so
 * nothing is left behind however the process ends; what is old is read from there, and the system
 * keeps what it can of it in memory that nobody misses.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Blocks<Block extends NodeJS.ArrayBufferView> {
  readonly #make: () => Block;
  readonly #heldMax: number;
  /** The newest; the last one is being filled. */
  readonly #held: Block[];
  /** How many are in the file. */
  #spilled = 0;
  #file: number | null = null;

  /** `heldMax`: so many stay in memory; what needs no more touches no disk. */
  constructor(make: () => Block, heldMax: number) {
    this.#make = make;
    this.#heldMax = heldMax;
    this.#held = [make()];
  }

  get count(): number {
    return this.#spilled + this.#held.length;
  }

  /** The one that is being filled. */
  get last(): Block {
    return this.#held[this.#held.length - 1] as Block;
  }

  /** One that is in memory; undefined: it is in the file. */
  at(index: number): Block | undefined {
    return this.#held[index - this.#spilled];
  }

  /** The last one is full. */
  next(): void {
    if (this.#held.length < this.#heldMax) {
      this.#held.push(this.#make());
      return;
    }
    const oldest = this.#held.shift() as Block;
    this.#file ??= namelessFile();
    writeSync(this.#file, oldest, 0, oldest.byteLength, this.#spilled * oldest.byteLength);
    this.#spilled += 1;
    this.#held.push(oldest);
  }

  /** Reads so many bytes of blocks that are in the file, from a place among all bytes. */
  read(into: NodeJS.ArrayBufferView, bytes: number, place: number): void {
    readSync(this.#file as number, into, 0, bytes, place);
  }

  /** Writes over them. */
  write(from: NodeJS.ArrayBufferView, bytes: number, place: number): void {
    writeSync(this.#file as number, from, 0, bytes, place);
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
    this.#held.length = 1;
  }
}

/** A file for this process alone that is gone when it is closed. */
function namelessFile(): number {
  const folder = mkdtempSync(join(tmpdir(), "earshot-replay-"));
  try {
    return openSync(join(folder, "rows"), "wx+", 0o600);
  } finally {
    // On Windows a file that is open stays until it is closed; the folder is then left empty.
    rmSync(folder, { recursive: true, force: true });
  }
}
