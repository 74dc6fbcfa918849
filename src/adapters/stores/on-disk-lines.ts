/**
 * Transcripts for long simulations
 * ================================
 * What was said in a session is read when its next turn is composed, and never by most: as objects
 * the lines of a million messages would fill the heap. Here the texts lie outside it
 * (stores/spilled.texts.ts), and a line costs the three numbers by which it is found.
 */
import type { TranscriptQuery } from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import type { Lines } from "./memory.lines.ts";
import { Texts } from "./on-disk-texts.ts";

/** Of each line of a session, in order: its number, and the place and size of its text. */
interface Kept {
  readonly numbers: number[];
  /** Which of them stands for those before it. */
  mark: number | null;
}
const numbersPerLine = 3;

export function createSpilledLines(): Lines {
  return new SpilledLines();
}

class SpilledLines implements Lines {
  readonly #texts = new Texts();
  readonly #sessions = new Map<string, Kept>();

  add(line: TranscriptLine): void {
    const { place, size } = this.#texts.add(JSON.stringify(line));
    let own = this.#sessions.get(line.sessionId);
    if (own === undefined) {
      own = { numbers: [], mark: null };
      this.#sessions.set(line.sessionId, own);
    }
    if (line.covers !== undefined) own.mark = own.numbers.length / numbersPerLine;
    own.numbers.push(line.id, place, size);
  }

  read({ sessionId, after = 0, limit, newest = false }: TranscriptQuery): TranscriptLine[] {
    const own = this.#sessions.get(sessionId);
    if (own === undefined) return [];
    const end = own.numbers.length / numbersPerLine;
    const first = firstAfter(own, after);
    const from = newest ? Math.max(first, end - limit) : first;
    const to = newest ? end : Math.min(end, first + limit);
    return Array.from({ length: to - from }, (_, index) => this.#line(own, from + index));
  }

  mark(sessionId: string): TranscriptLine | null {
    const own = this.#sessions.get(sessionId);
    return own === undefined || own.mark === null ? null : this.#line(own, own.mark);
  }

  close(): void {
    this.#texts.close();
    this.#sessions.clear();
  }

  #line({ numbers }: Kept, index: number): TranscriptLine {
    const at = index * numbersPerLine;
    const text = this.#texts.read(numbers[at + 1] as number, numbers[at + 2] as number);
    return JSON.parse(text) as TranscriptLine;
  }
}

/** The first line with a greater number. */
function firstAfter({ numbers }: Kept, after: number): number {
  let [from, to] = [0, numbers.length / numbersPerLine];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle * numbersPerLine] as number) > after) to = middle;
    else from = middle + 1;
  }
  return from;
}
