/**
 * Each word becomes another of the same form: as many letters, digits where digits were, capitals
 * where capitals were, and the same one wherever it is said. Two words of plain letters do not
 * become one, so ids stay apart, and no word stays itself. It hides words from readers; the key is in
 * no recording, but this is no cipher for secrets.
 *
 * The mapping is a permutation of all words of one form: two rounds of a Feistel network with a
 * step by a secret amount between them, so that nothing has to be remembered.
 */
import { hash52 } from "../../domain/key.ts";

const letters = "abcdefghijklmnopqrstuvwxyz";
const digits = "0123456789";
/** Longer words are mapped a piece at a time, each piece under the words before it. */
const pieceUnits = 8;
const roundsCount = 4;
/** Attempts to find a pseudonym that is no real word. */
const attemptsMax = 64;
const rememberedMax = 20_000;

/** Maps words, all under one key. */
export class Pseudonyms {
  readonly #key: string;
  readonly #isTaken: (word: string) => boolean;
  #known = new Map<string, string>();

  /** `isTaken`: whether a lower-case word means something, and must not come up by chance. */
  constructor(key: string, isTaken: (word: string) => boolean) {
    this.#key = key;
    this.#isTaken = isTaken;
  }

  /** The pseudonym of a run of letters and digits. */
  word(word: string): string {
    const lower = lowered(word);
    let found = this.#known.get(lower);
    if (found === undefined) {
      found = this.#next(lower);
      for (let n = 0; n < attemptsMax && (this.#isTaken(found) || found === lower); n += 1)
        found = this.#next(found);
      if (this.#known.size >= rememberedMax) this.#known = new Map();
      this.#known.set(lower, found);
    }
    return cased(found, word);
  }

  #next(word: string): string {
    let out = "";
    for (let from = 0; from < word.length; from += pieceUnits) {
      const piece = word.slice(from, from + pieceUnits);
      out += this.#piece(piece, `${this.#key}|${word.length}|${word.slice(0, from)}`);
    }
    return out;
  }

  #piece(piece: string, tweak: string): string {
    const form = formOf(piece);
    const half = piece.length >> 1;
    const a = sizeOf(form.slice(0, half));
    const b = sizeOf(form.slice(half));
    const scramble = (text: string): number => hash52(`${tweak}|${form}|${text}`);
    const step = 1 + (scramble("step") % Math.max(1, a * b - 1));
    let rank = rankOf(piece, form, tweak);
    rank = (mixed(rank, a, b, scramble, 1) + step) % (a * b);
    return wordOf(mixed(rank, a, b, scramble, -1), form);
  }
}

/** The permutation (1) or its inverse (-1) of the numbers below `a * b`. */
function mixed(
  rank: number,
  a: number,
  b: number,
  scramble: (text: string) => number,
  direction: 1 | -1,
): number {
  let left = Math.floor(rank / b);
  let right = rank % b;
  for (let n = 0; n < roundsCount; n += 1) {
    const round = direction === 1 ? n : roundsCount - 1 - n;
    if (round % 2 === 0) left = wrapped(left + direction * (scramble(`${round},${right}`) % a), a);
    else right = wrapped(right + direction * (scramble(`${round},${left}`) % b), b);
  }
  return left * b + right;
}

const wrapped = (value: number, size: number): number => ((value % size) + size) % size;

/** `0` for a digit, `a` for a letter. */
const formOf = (piece: string): string =>
  piece.replaceAll(/[\s\S]/g, (unit) => (digits.includes(unit) ? "0" : "a"));

const sizeOf = (form: string): number =>
  [...form].reduce((size, kind) => size * (kind === "0" ? 10 : 26), 1);

/** A letter of another alphabet counts as one of ours, by chance. */
function rankOf(piece: string, form: string, tweak: string): number {
  let rank = 0;
  for (let at = 0; at < form.length; at += 1) {
    const unit = piece.charAt(at);
    const place = form[at] === "0" ? digits.indexOf(unit) : letters.indexOf(unit);
    const own = place === -1 ? hash52(`${tweak}|${unit}|${at}`) % 26 : place;
    rank = rank * (form[at] === "0" ? 10 : 26) + own;
  }
  return rank;
}

function wordOf(rank: number, form: string): string {
  let word = "";
  let left = rank;
  for (let at = form.length - 1; at >= 0; at -= 1) {
    const size = form[at] === "0" ? 10 : 26;
    word = (size === 10 ? digits : letters).charAt(left % size) + word;
    left = Math.floor(left / size);
  }
  return word;
}

/** In lower case, of the same length: the few that would grow keep their case. */
export function lowered(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return text.replaceAll(/[\s\S]/g, (unit) =>
    unit.toLowerCase().length === 1 ? unit.toLowerCase() : unit,
  );
}

/** Capitals where the original has them. */
function cased(word: string, original: string): string {
  let out = "";
  for (let at = 0; at < word.length; at += 1) {
    const unit = original.charAt(at);
    const isCapital = unit !== unit.toLowerCase();
    out += isCapital ? word.charAt(at).toUpperCase() : word.charAt(at);
  }
  return out;
}
