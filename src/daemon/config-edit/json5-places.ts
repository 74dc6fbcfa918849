/**
 * Places of values in JSON5
 * =========================
 * Finds where the values of a text stand, so that one can be replaced and everything else, comments
 * and layout included, stays as somebody wrote it. The text has been parsed before, so it is valid.
 */
import JSON5 from "json5";

export interface Place {
  /** Where the member begins: at its key, if it has one. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
  /** By key or index; null: not an object and not a list. */
  readonly below: ReadonlyMap<string | number, Place> | null;
}

export function placesIn(text: string): Place {
  return new PlaceReader(text).read();
}

/** Blanks and comments. */
export const gap = /(?:[\s\uFEFF]|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)*/uy;
const quoted = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'/uy;
const bare = /[^\s,:{}[\]/"']+/uy;

class PlaceReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(from?: number): Place {
    this.#take(gap);
    const start = this.#at;
    const opener = this.#text[start];
    const below = opener === "{" ? this.#members() : opener === "[" ? this.#items() : null;
    if (below === null) this.#word();
    return { from: from ?? start, start, end: this.#at, below };
  }

  #members(): ReadonlyMap<string, Place> {
    const members = new Map<string, Place>();
    this.#each("}", () => {
      const from = this.#at;
      const key = this.#word();
      this.#take(gap);
      this.#at += 1;
      members.set(/^["']/u.test(key) ? JSON5.parse<string>(key) : key, this.read(from));
    });
    return members;
  }

  #items(): ReadonlyMap<number, Place> {
    const items = new Map<number, Place>();
    this.#each("]", () => items.set(items.size, this.read()));
    return items;
  }

  /** From the opening bracket to behind the closing one. */
  #each(closer: string, one: () => void): void {
    this.#at += 1;
    for (;;) {
      this.#take(gap);
      const next = this.#text[this.#at];
      if (next === closer || next === undefined) break;
      if (next === ",") this.#at += 1;
      else one();
    }
    this.#at += 1;
  }

  #word(): string {
    const word = this.#take(quoted) || this.#take(bare);
    if (word === "") throw new Error(`Cannot find the values of a config: character ${this.#at}`);
    return word;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ""] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }
}
