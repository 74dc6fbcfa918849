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

/** The rings are made of so many parts, each allocated when the first row comes to it. */
const parts = 16;

/** The numbers of the rows of a part, column by column. */
interface Numbers
  extends Readonly<Record<"seq" | "at" | "conv" | "cfg" | "code" | "place", Float64Array>> {
  /** Bytes of each row's text. */
  readonly size: Uint32Array;
}

function createNumbers(rows: number): Numbers {
  const columnBytes = rows * Float64Array.BYTES_PER_ELEMENT;
  const memory = new ArrayBuffer(columnBytes * 6 + rows * Uint32Array.BYTES_PER_ELEMENT);
  const column = (n: number) => new Float64Array(memory, n * columnBytes, rows);
  return {
    seq: column(0),
    at: column(1),
    conv: column(2),
    cfg: column(3),
    code: column(4),
    place: column(5),
    size: new Uint32Array(memory, columnBytes * 6, rows),
  };
}

/** The mark of a row that has none; marks are small numbers. */
const noCode = Number.MIN_SAFE_INTEGER;

/**
 * Caches up to `rows` rows with texts of at most `bytes` together. Memory is taken part by part as it fills: a
 * process that has heard little holds little, and V8, which counts this memory, does not collect garbage for it.
 */
export function createRecent(rows: number, bytes: number): Recent {
  const rowsOfPart = Math.ceil(rows / parts);
  const bytesOfPart = Math.floor(bytes / parts);
  const ring = bytesOfPart * parts;
  const numbers: (Numbers | undefined)[] = Array.from({ length: parts });
  const texts: (Buffer | undefined)[] = Array.from({ length: parts });
  /**
   * Bytes written so far; the next text begins at this, modulo the size of the ring. A row's place is counted in
   * the same way, so an overwritten one is recognised.
   */
  let end = 0;

  const partOf = (seq: number) => Math.floor((seq % rows) / rowsOfPart);
  const slotOf = (seq: number) => (seq % rows) % rowsOfPart;
  const textsAt = (place: number) => Math.floor((place % ring) / bytesOfPart);

  return {
    put(seq, write) {
      const { body } = write;
      // UTF-8 needs at most three bytes for a UTF-16 unit.
      const most = body.length * 3;
      if (most > bytesOfPart) return;
      // A text is in one part: the rest at the end of the part before is skipped.
      const rest = bytesOfPart - (end % bytesOfPart);
      if (most > rest) end += rest;
      const part = partOf(seq);
      numbers[part] ??= createNumbers(rowsOfPart);
      const own = numbers[part];
      const slot = slotOf(seq);
      own.seq[slot] = seq;
      own.at[slot] = write.at;
      own.conv[slot] = write.conv;
      own.cfg[slot] = write.cfg;
      own.code[slot] = write.code ?? noCode;
      own.place[slot] = end;
      const at = textsAt(end);
      texts[at] ??= Buffer.allocUnsafeSlow(bytesOfPart);
      const written = texts[at].write(body, end % bytesOfPart);
      own.size[slot] = written;
      end += written;
    },
    mark(seq, code) {
      const own = numbers[partOf(seq)];
      const slot = slotOf(seq);
      if (own?.seq[slot] === seq) own.code[slot] = code;
    },
    get(seq) {
      const own = numbers[partOf(seq)];
      const slot = slotOf(seq);
      if (own?.seq[slot] !== seq) return undefined;
      const place = own.place[slot] as number;
      const text = texts[textsAt(place)];
      if (text === undefined || end - place > ring) return undefined;
      const code = own.code[slot] as number;
      const from = place % bytesOfPart;
      return {
        seq,
        at: own.at[slot] as number,
        conv: own.conv[slot] as number,
        cfg: own.cfg[slot] as number,
        body: text.toString("utf8", from, from + (own.size[slot] as number)),
        code: code === noCode ? null : code,
      };
    },
  };
}
