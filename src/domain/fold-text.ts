/**
 * Folding text for comparison
 * ===========================
 * Names are compared the way people read them: width, case and composition do not matter ("ＳＣＯＵＴ"
 * is "scout", "STRASSE" is "straße"). Folding ignores the locale, so every machine gets the same
 * result and a replayed decision stays the same. Nearly all chat is ASCII or has the letters of western
 * Europe besides, for which lower-casing is all.
 */

/** What is more than a lower-case letter away: signs that NFKC takes apart, "ß", and all beyond Latin-1. */
const needsMore = /[\u0080-\u00bf\u00df\u0100-\uffff]/;
/**
 * Sorting long runs of combining marks is the only slow part of NFKC; no script stacks this many.
 */
const markPile = /(\p{M}{30})\p{M}+/gu;

/**
 * Unicode NFKC and full case folding, independent of the locale and idempotent. Lower-casing alone
 * would keep "ß" and "SS" apart and write a final sigma differently; going through upper case
 * removes both differences.
 */
export function fold(text: string): string {
  if (!needsMore.test(text)) return text.toLowerCase();
  return text
    .replace(markPile, "$1")
    .normalize("NFKC")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll("ς", "σ")
    .normalize("NFKC");
}

/** Whether a folded text contains a folded name anywhere. No text contains the empty name. */
export function containsFolded(foldedText: string, foldedNeedle: string): boolean {
  return foldedNeedle !== "" && foldedText.includes(foldedNeedle);
}

const wordUnit = /[\p{L}\p{N}\p{M}_]/u;

/**
 * Whether a folded text contains a folded name as a whole word: no letter, digit or mark touches
 * it. For names so short that they occur inside other words by chance.
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
