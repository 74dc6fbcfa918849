/**
 * Deltas of an answer in, blocks of it out, each small enough for one message. Where the cuts fall
 * depends on the text alone, never on how it arrived, and takes time in proportion to its length.
 * Nothing is lost: every block is a piece of the source, with what it cut (code, bold, a table) opened again
 * before it and closed behind it, and between the pieces there is nothing but whitespace: what would have been a
 * message of its own, and what lay at a cut inside a span, where marks beside whitespace would be no marks.
 *
 * Blocks are distinguished by their place in the source, not by their text, so the same code twice is
 * two blocks.
 */
import { assert } from "../../domain/errors.ts";
import { type BreakKind, isSpace } from "./breaks.ts";
import { type Cut, type CutOptions, type CutState, nextCut } from "./chunker-cut.ts";

export interface ChunkerOptions {
  /** No block is cut before this size, except to keep code, a span or an item whole. UTF-16 units. @default 800 */
  readonly minChars?: number;
  /** No block is larger, fences included. UTF-16 units, at least 16. @default 1200 */
  readonly maxChars?: number;
  /** The kind of break looked for first; the weaker kinds follow. @default "paragraph" */
  readonly prefer?: Exclude<BreakKind, "whitespace">;
}

/** A piece of the answer. `text` is `opens`, the source from `from` to `to`, and `closes`. */
export interface Block {
  readonly text: string;
  /** UTF-16 units from the start of the source. */
  readonly from: number;
  readonly to: number;
  /** Opens code or a span that the block before closed, or repeats the header of its table. */
  readonly opens: string;
  /** Closes code or a span that goes on in the next block; else empty. */
  readonly closes: string;
  /** The last block before a `flush`. */
  readonly final: boolean;
}

export interface Chunker {
  /** Takes the next piece of the source; gives the blocks that are now certain. */
  push(delta: string): Block[];
  /** The source, or one message of it, has ended: gives the rest. Offsets go on counting. */
  flush(): Block[];
}

/** The smallest block that still holds a fence with something in it. */
const maxCharsMin = 16;
const fresh: CutState = { open: null, opens: "", midLine: false };

/**
 * A chunker for one answer. `minChars` over two thirds of `maxChars` counts as two thirds, so that
 * there is always a window to look for a break in.
 * @throws EarshotError EAR_ASSERT when `maxChars` is under 16.
 */
export function createChunker(given: ChunkerOptions = {}): Chunker {
  const max = given.maxChars ?? 1_200;
  assert(max >= maxCharsMin, `Cannot chunk as maxChars must be 16 or more: received ${max}`);
  const options: CutOptions = {
    max,
    min: Math.max(1, Math.min(given.minChars ?? 800, Math.floor((max * 2) / 3))),
    prefer: given.prefer ?? "paragraph",
  };
  return new StreamChunker(options);
}

class StreamChunker implements Chunker {
  readonly #options: CutOptions;
  /** What no block holds yet. */
  #rest = "";
  /** Offset of `#rest` in the source. */
  #offset = 0;
  #state = fresh;
  /** Less of `#rest` than this decides nothing. */
  #wanted = 1;
  /** Units of whitespace that `#rest` is known to start with. */
  #blank = 0;
  /** A block that waits for something to follow: whether it is the last is not known before. */
  #held: Block | null = null;

  constructor(options: CutOptions) {
    this.#options = options;
  }

  push(delta: string): Block[] {
    this.#rest += delta;
    return this.#cut(false);
  }

  flush(): Block[] {
    const blocks = this.#cut(true);
    const last = this.#held;
    this.#held = null;
    if (last !== null) blocks.push(this.#closing(last));
    this.#offset += this.#rest.length;
    this.#rest = "";
    this.#state = fresh;
    this.#restart();
    return blocks;
  }

  #restart(): void {
    this.#wanted = 1;
    this.#blank = 0;
  }

  /** The last block, with the whitespace behind it as far as there is room. */
  #closing(block: Block): Block {
    const behind =
      block.closes === "" ? this.#rest.slice(0, this.#options.max - block.text.length) : "";
    return { ...block, text: block.text + behind, to: block.to + behind.length, final: true };
  }

  #cut(ended: boolean): Block[] {
    const blocks: Block[] = [];
    while (this.#rest.length > 0 && (ended || this.#rest.length >= this.#wanted)) {
      const cut = nextCut(this.#rest, ended, this.#state, this.#options);
      if (cut.kind === "wait") {
        this.#wanted = cut.units;
        break;
      }
      if (ended && this.#held !== null && this.#isBlank()) break;
      const block = this.#take(cut);
      if (block !== null) {
        if (this.#held !== null) blocks.push(this.#held);
        this.#held = block;
      }
    }
    if (this.#held !== null && !this.#isBlank()) {
      blocks.push(this.#held);
      this.#held = null;
    }
    return blocks;
  }

  /** Whether `#rest` is nothing but whitespace. Looks at each unit once. */
  #isBlank(): boolean {
    while (this.#blank < this.#rest.length && isSpace(this.#rest[this.#blank])) this.#blank += 1;
    return this.#blank === this.#rest.length;
  }

  /** Takes a block off `#rest`, or drops the piece if it is only whitespace. */
  #take({ end, skip, fence, ...cut }: Extract<Cut, { kind: "cut" }>): Block | null {
    const piece = this.#rest.slice(0, end);
    const opens = this.#state.open?.opens ?? this.#state.opens;
    const from = this.#offset;
    const newline = piece.endsWith("\n");
    this.#rest = this.#rest.slice(end + skip);
    this.#offset += end + skip;
    this.#state = { open: fence, opens: cut.opens, midLine: !newline };
    this.#restart();
    if (piece.trim() === "") return null;
    const closes = fence === null ? cut.closes : `${newline ? "" : "\n"}${fence.closes}`;
    const text = opens + piece + closes;
    return { text, from, to: from + end, opens, closes, final: false };
  }
}
