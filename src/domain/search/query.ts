/**
 * What people type to find messages
 * =================================
 * Words that must all occur, "a phrase", and -word for one that must not. A word of three letters or
 * more also finds longer ones that begin with it; a phrase and -word are exact. Every text is a
 * valid query.
 */
import { isUnspaced, wordsOf } from "./words.ts";

export interface SearchTerm {
  /** Words in a row. Empty: `sign`, which has no word. */
  readonly words: readonly string[];
  /** The last word may go on. */
  readonly prefix: boolean;
  /** Characters without a letter or digit, compared as they are: a smiley. */
  readonly sign: string;
  readonly not: boolean;
}

/** A longer query is cut. */
export const queryUnitsMax = 200;
const termsMax = 16;
/** Shorter words are exact: too many others begin with them. */
const prefixUnitsMin = 3;
const term = /(-?)(?:"([^"]*)"?|([^\s"]+))/gu;

/** The terms of a query. No text throws, and blank text has none. */
export function parseQuery(text: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  for (const [, minus, phrase, bare] of text.slice(0, queryUnitsMax).matchAll(term)) {
    const said = phrase ?? bare ?? "";
    const words = wordsOf(said).map(({ word }) => word);
    const sign = words.length === 0 ? said.trim().replaceAll("\0", "") : "";
    if (words.length === 0 && sign === "") continue;
    const not = minus === "-";
    const last = words.at(-1) ?? "";
    const goesOn = last.length >= prefixUnitsMin && !isUnspaced(last);
    const prefix = phrase === undefined && !not && goesOn;
    terms.push({ words, prefix, sign, not });
    if (terms.length === termsMax) break;
  }
  return terms;
}

/** From and to of a part of a text, UTF-16 units. */
export type TextRange = readonly [from: number, to: number];

/** The parts of a text that its terms found, in order, not overlapping; null: it does not match. */
export function matchText(text: string, terms: readonly SearchTerm[]): TextRange[] | null {
  const words = wordsOf(text);
  const found: TextRange[] = [];
  for (const one of terms) {
    const ranges = one.words.length === 0 ? signsIn(text, one.sign) : phrasesIn(words, one);
    if (one.not ? ranges.length > 0 : ranges.length === 0) return null;
    if (!one.not) found.push(...ranges);
  }
  return joined(found);
}

function signsIn(text: string, sign: string): TextRange[] {
  const ranges: TextRange[] = [];
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + sign.length))
    ranges.push([at, at + sign.length]);
  return ranges;
}

function phrasesIn(words: ReturnType<typeof wordsOf>, one: SearchTerm): TextRange[] {
  const ranges: TextRange[] = [];
  const last = one.words.length - 1;
  for (let start = 0; start + last < words.length; start += 1) {
    const fits = one.words.every((word, index) => {
      const { word: here } = words[start + index] as { word: string };
      return here === word || (index === last && one.prefix && here.startsWith(word));
    });
    if (fits) ranges.push([words[start]?.from ?? 0, words[start + last]?.to ?? 0]);
  }
  return ranges;
}

function joined(ranges: TextRange[]): TextRange[] {
  const ordered = ranges.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const out: TextRange[] = [];
  for (const range of ordered) {
    const before = out.at(-1);
    if (before === undefined || range[0] > before[1]) out.push(range);
    else out[out.length - 1] = [before[0], Math.max(before[1], range[1])];
  }
  return out;
}

/** A part of a text around what was found. */
export interface Excerpt {
  readonly text: string;
  readonly marks: readonly TextRange[];
}

/** At most about `units` of a text, from a little before the first mark. */
export function excerptOf(text: string, marks: readonly TextRange[], units: number): Excerpt {
  if (text.length <= units) return { text, marks };
  const first = marks[0]?.[0] ?? 0;
  let from = first < units / 2 ? 0 : Math.min(first - Math.floor(units / 4), text.length - units);
  let to = Math.min(text.length, from + units);
  // No pair is cut in two.
  if (isLow(text, from)) from += 1;
  if (isLow(text, to)) to -= 1;
  const [lead, end] = [from > 0 ? "…" : "", to < text.length ? "…" : ""];
  const moved = lead.length - from;
  return {
    text: `${lead}${text.slice(from, to)}${end}`,
    marks: marks.flatMap(([a, b]): TextRange[] =>
      a >= to || b <= from ? [] : [[Math.max(a, from) + moved, Math.min(b, to) + moved]],
    ),
  };
}

const isLow = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
};
