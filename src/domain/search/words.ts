/**
 * Words of a text
 * ===============
 * The one way to cut a text into words for the search: the index stores these words, a query is made
 * of them, and the pages mark them. Case, width and accents do not matter. Scripts that put no
 * spaces between words are cut into characters, so any part of such a text is found.
 */
import { fold } from "../fold-text.ts";

export interface Word {
  /** As compared. */
  readonly word: string;
  /** Its place in the text, UTF-16 units. */
  readonly from: number;
  readonly to: number;
}

const runs = /[\p{L}\p{N}\p{M}\p{Co}_]+/gu;
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** One such character, or a run of others. */
const parts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
/** Accents of Latin, Greek and Cyrillic; vowel signs of other scripts are letters. */
const accents = /[\u0300-\u036f]/g;
const beyondAscii = /[\u0080-\uffff]/;
/** No word of a language is longer; a run of a million letters is one row of the index. */
const wordUnitsMax = 64;

/** Whether a word is a character of a script without spaces. */
export const isUnspaced = (word: string): boolean => unspaced.test(word);

export function foldWord(text: string): string {
  const short = text.slice(0, wordUnitsMax);
  if (!beyondAscii.test(short)) return short.toLowerCase();
  return fold(fold(short).normalize("NFD").replace(accents, "")).normalize("NFC");
}

/** The words of a text, in order. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const run of text.matchAll(runs)) {
    const [letters] = run;
    if (!beyondAscii.test(letters) || !unspaced.test(letters)) add(words, letters, run.index);
    else for (const part of letters.matchAll(parts)) add(words, part[0], run.index + part.index);
  }
  return words;
}

function add(words: Word[], letters: string, from: number): void {
  const word = foldWord(letters);
  if (word !== "") words.push({ word, from, to: from + letters.length });
}
