/**
 * Folding text for comparison
 * ===========================
 * Names are compared as people read them: width, case and composition do not matter ("ＳＣＯＵＴ" is
 * "scout", "STRASSE" is "straße"). The fold knows no locale, so every machine folds alike and a
 * decision replayed elsewhere is the same decision. Nearly all chat is ASCII: that takes a short
 * way.
 */

const beyondAscii = /[\u0080-\uffff]/;
/** Sorting a pile of combining marks is the one slow thing in NFKC; no script stacks this many. */
const markPile = /(\p{M}{30})\p{M}+/gu;

/**
 * Unicode NFKC and full case folding, the same everywhere. Folding twice changes nothing.
 * Lower-casing alone would keep "ß" and "SS" apart and write the last sigma of a word differently;
 * the way over the upper case undoes both.
 */
export function fold(text: string): string {
  if (!beyondAscii.test(text)) return text.toLowerCase();
  return text
    .replace(markPile, "$1")
    .normalize("NFKC")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll("ς", "σ")
    .normalize("NFKC");
}

/** Whether a folded text contains a folded name anywhere. An empty name is contained in nothing. */
export function containsFolded(foldedText: string, foldedNeedle: string): boolean {
  return foldedNeedle !== "" && foldedText.includes(foldedNeedle);
}

const wordUnit = /[\p{L}\p{N}\p{M}_]/u;

/**
 * Whether a folded text contains a folded name as a word of its own: no letter, digit or mark
 * touches it. For names so short that they stand inside other words by chance.
 */
export function containsFoldedWord(foldedText: string, foldedNeedle: string): boolean {
  if (foldedNeedle === "") return false;
  const size = foldedNeedle.length;
  for (
    let at = foldedText.indexOf(foldedNeedle);
    at !== -1;
    at = foldedText.indexOf(foldedNeedle, at + 1)
  ) {
    if (!touchesBefore(foldedText, at) && !touchesAfter(foldedText, at + size)) return true;
  }
  return false;
}

function touchesBefore(text: string, at: number): boolean {
  if (at === 0) return false;
  const low = text.charCodeAt(at - 1);
  const paired = at > 1 && low >= 0xdc00 && low <= 0xdfff;
  return wordUnit.test(text.slice(paired ? at - 2 : at - 1, at));
}

function touchesAfter(text: string, at: number): boolean {
  if (at >= text.length) return false;
  return wordUnit.test(String.fromCodePoint(text.codePointAt(at) as number));
}
