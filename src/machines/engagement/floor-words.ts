/**
 * Words of a line, as the floor looks at them: hashes of what is long enough to mean something, and
 * a few ways in which English lines begin or address somebody. Linear in the text.
 */
import { limits } from "../../domain/limits.ts";

/** UTF-16 units. Shorter words are mostly grammar. */
const wordUnitsMin = 4;
/** UTF-16 units of the longest word in the sets below. */
const markedUnitsMax = 7;

const acknowledgements = new Set(
  (
    "ok okay k yes yeah yep yup yea no nope nah thanks thank thx ty cool great nice ah ahh oh aha " +
    "hmm right sure alright"
  ).split(" "),
);
const secondPerson = new Set("you your u ur".split(" "));
const gratitude = new Set("thanks thank thx ty cheers".split(" "));
/** How a call to everybody begins; with a second word where the first alone says nothing. */
const callsToAll = new Map<string, readonly string[] | null>([
  ["anyone", null],
  ["anybody", null],
  ["hi", null],
  ["hello", null],
  ["hey", null],
  ["does", ["anyone", "anybody"]],
  ["can", ["anyone", "anybody"]],
  ["is", ["there"]],
  ["how", ["do", "can"]],
]);

/** What the floor asks of a line's text. */
export interface LineWords {
  readonly hashes: readonly number[];
  readonly acknowledges: boolean;
  readonly callsAll: boolean;
  readonly saysYou: boolean;
  readonly thanks: boolean;
  readonly asks: boolean;
}

/** @param folded the line as it is compared with names */
export function wordsOfLine(folded: string): LineWords {
  const hashes: number[] = [];
  let thanks = false;
  let saysYou = false;
  let first = "";
  let second = "";
  let count = 0;
  eachWord(folded, (from, to, hash) => {
    if (to - from >= wordUnitsMin) keep(hashes, hash);
    count += 1;
    if (to - from > markedUnitsMax) return;
    const word = folded.slice(from, to);
    if (count === 1) first = word;
    else if (count === 2) second = word;
    saysYou ||= secondPerson.has(word);
    thanks ||= gratitude.has(word);
  });
  const next = callsToAll.get(first);
  return {
    hashes,
    thanks,
    saysYou,
    acknowledges: acknowledgements.has(first),
    callsAll: next === null || next?.includes(second) === true,
    asks: folded.includes("?"),
  };
}

/** Hashes of a text's words, the first ones. */
export function hashesOf(folded: string): readonly number[] {
  const hashes: number[] = [];
  eachWord(folded, (from, to, hash) => {
    if (to - from >= wordUnitsMin) keep(hashes, hash);
  });
  return hashes;
}

function keep(hashes: number[], hash: number): void {
  if (hashes.length < limits.floorWordsMax && !hashes.includes(hash)) hashes.push(hash);
}

/** Whether a text ends with a question. */
export const endsWithQuestion = (text: string): boolean => text.trimEnd().endsWith("?");

/** Words that `redact` keeps, as decisions depend on their letters. */
export const floorWords: readonly string[] = [
  ...acknowledgements,
  ...secondPerson,
  ...gratitude,
  ...[...callsToAll].flatMap(([word, next]) => [word, ...(next ?? [])]),
];

/** Calls back with where each word is, and its FNV-1a folded to 16 bits: few are compared with few. */
function eachWord(text: string, visit: (from: number, to: number, hash: number) => void): void {
  let hash = 0x811c9dc5;
  let from = -1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isWordUnit(code)) {
      if (from === -1) from = at;
      hash = Math.imul(hash ^ code, 0x01000193);
    } else if (from !== -1) {
      visit(from, at, (hash ^ (hash >>> 16)) & 0xffff);
      hash = 0x811c9dc5;
      from = -1;
    }
  }
  if (from !== -1) visit(from, text.length, (hash ^ (hash >>> 16)) & 0xffff);
}

function isWordUnit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code >= 0xc0;
}
