/**
 * A text that only grows, in memory that all threads share: another thread reads it from there when it
 * needs it, so that what crosses is a place and not a copy. A transcript of 2,000 lines would else be
 * copied four times with every turn, and mostly for nobody.
 */

/** The beginning of a shared text: its first so many bytes, which never change. */
export interface SharedPart {
  readonly memory: SharedArrayBuffer;
  readonly bytes: number;
}

const bytesMin = 1_024;

export class SharedText {
  #memory = new SharedArrayBuffer(bytesMin);
  #bytes = 0;

  /** Bytes of memory. */
  get size(): number {
    return this.#memory.byteLength;
  }

  /** What there is of it now. */
  get part(): SharedPart {
    return { memory: this.#memory, bytes: this.#bytes };
  }

  append(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > this.size) this.#grow(this.#bytes + bytes);
    Buffer.from(this.#memory).write(text, this.#bytes);
    this.#bytes += bytes;
  }

  /** Parts that were given out stay where they are. */
  #grow(bytes: number): void {
    let size = this.size;
    while (size < bytes) size *= 2;
    const memory = new SharedArrayBuffer(size);
    Buffer.from(this.#memory).copy(Buffer.from(memory), 0, 0, this.#bytes);
    this.#memory = memory;
  }
}

/** The text of a part. */
export const textOf = ({ memory, bytes }: SharedPart): string =>
  Buffer.from(memory, 0, bytes).toString();
