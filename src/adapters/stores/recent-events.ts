/**
 * A copy of the latest journal rows in memory, so that a conversation that is loaded again soon
 * after its passivation costs no read. The texts are in one ring of bytes outside the heap and the
 * numbers in typed arrays, because a hundred thousand short-lived strings would burden the garbage
 * collector. Journal numbers grow one by one, so a row's slot follows from its number.
 *
 * This is only a cache: overwritten rows are read from the journal.
 */
import type { EventRow, EventWrite } from "../../domain/ports/index.ts";

export interface Recent {
  /** A row that has just been committed; numbers must grow. */
  put(seq: number, write: EventWrite): void;
  /** The row has been marked. */
  mark(seq: number, code: number): void;
  get(seq: number): EventRow | undefined;
}

/**
 * Where a row's text is: counted from the first byte ever written, so an overwritten place is
 * recognised.
 */
type Numbers = Readonly<Record<"seq" | "at" | "conv" | "cfg" | "code" | "place", Float64Array>>;

interface Rings {
  readonly numbers: Numbers;
  /** Bytes of each row's text. */
  readonly size: Uint32Array;
  readonly texts: Buffer;
}

/** The mark of a row that has none; marks are small numbers. */
const noCode = Number.MIN_SAFE_INTEGER;

/**
 * Memory for so much. The numbers are one piece, because the C library takes pieces of this size from the
 * system, which gives no memory before they are written to. Smaller ones may lie where others were freed: those
 * are filled with zeros at once.
 */
function createRings(rows: number, bytes: number): Rings {
  const columnBytes = rows * Float64Array.BYTES_PER_ELEMENT;
  const memory = new ArrayBuffer(columnBytes * 6 + rows * Uint32Array.BYTES_PER_ELEMENT);
  const column = (n: number) => new Float64Array(memory, n * columnBytes, rows);
  return {
    numbers: {
      seq: column(0),
      at: column(1),
      conv: column(2),
      cfg: column(3),
      code: column(4),
      place: column(5),
    },
    size: new Uint32Array(memory, columnBytes * 6, rows),
    texts: Buffer.allocUnsafeSlow(bytes),
  };
}

/**
 * Caches up to `rows` rows with texts of at most `bytes` together. The first row takes the room, the system's
 * memory goes there as it fills.
 */
export function createRecent(rows: number, bytes: number): Recent {
  let rings: Rings | null = null;
  /** Bytes written so far; the next text begins at this, modulo the size of the ring. */
  let end = 0;

  return {
    put(seq, write) {
      rings ??= createRings(rows, bytes);
      const { numbers, size, texts } = rings;
      const { body } = write;
      // UTF-8 needs at most three bytes for a UTF-16 unit.
      const most = body.length * 3;
      if (most > bytes / 16) return;
      // A text is contiguous: the rest at the end of the ring is skipped.
      if ((end % bytes) + most > bytes) end += bytes - (end % bytes);
      const slot = seq % rows;
      numbers.seq[slot] = seq;
      numbers.at[slot] = write.at;
      numbers.conv[slot] = write.conv;
      numbers.cfg[slot] = write.cfg;
      numbers.code[slot] = write.code ?? noCode;
      numbers.place[slot] = end;
      const written = texts.write(body, end % bytes);
      size[slot] = written;
      end += written;
    },
    mark(seq, code) {
      const slot = seq % rows;
      if (rings?.numbers.seq[slot] === seq) rings.numbers.code[slot] = code;
    },
    get(seq) {
      if (rings === null) return undefined;
      const { numbers, size, texts } = rings;
      const slot = seq % rows;
      const place = numbers.place[slot] as number;
      if (numbers.seq[slot] !== seq || end - place > bytes) return undefined;
      const code = numbers.code[slot] as number;
      const from = place % bytes;
      return {
        seq,
        at: numbers.at[slot] as number,
        conv: numbers.conv[slot] as number,
        cfg: numbers.cfg[slot] as number,
        body: texts.toString("utf8", from, from + (size[slot] as number)),
        code: code === noCode ? null : code,
      };
    },
  };
}
