/**
 * Two kinds. A pairing code names somebody who asks to speak; the operator types it, so it is short
 * and worth nothing without the console. A claim code is the operator's word that the person who says it
 * has a role; it is a secret of 60 bits, kept as a hash only, and redacted in every text that
 * comes in, before anything is stored or shown. Neither has letters that are mistaken for others.
 */
import type { Digest } from "../../domain/ports/index.ts";

/** Uniform in [0, 1), nobody can foresee it. */
type Chance = () => number;

const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const pairingLetters = 8;
const claimGroups = 2;
const claimGroupLetters = 6;

const letters = (count: number, chance: Chance): string => {
  let text = "";
  for (let n = 0; n < count; n += 1)
    text += alphabet.charAt(Math.floor(chance() * alphabet.length));
  return text;
};

/** Eight letters: `7KQ2MXPA`. */
export function newPairingCode(chance: Chance): string {
  return letters(pairingLetters, chance);
}

/** Two groups of six letters, 60 bits: `claim-7KQ2MX-PAHB34`. */
export function newClaimCode(chance: Chance): string {
  const groups = Array.from({ length: claimGroups }, () => letters(claimGroupLetters, chance));
  return ["claim", ...groups].join("-");
}

/** A pairing code as it was typed: case and characters between the letters do not count. */
export function readPairingCode(typed: string): string {
  return typed.toUpperCase().replace(/[^A-Z0-9]/g, "");
}

/** What phones make of a hyphen; one unit each, so that places in a text stay what they are. */
const dashes = /[\u2010-\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d]/g;
/** Whole word: said as a claim, whether it is one or not, or a redacted one. */
const attempt = /^claim(?:-[A-Z0-9•]{4,8}){2,4}$/i;
/** Anywhere in a text: what is or could be one of ours. */
const inWords = /claim(?:-[A-HJ-NP-Z2-9]{6}){2}(?![A-Z0-9])/gi;

/**
 * The code of a message that is nothing but a claim, as it is compared; else null. It may be aimed
 * at the bot (`@bot claim-…`), come by Telegram's start link (`/start claim-…`) and be in
 * backticks.
 */
export function claimIn(text: string): string | null {
  // Nearly all that is said: looked at no further.
  if (text.length > 256 || !/claim|`/i.test(text)) return null;
  const words = text.replace(dashes, "-").split(/\s+/);
  const said = words.filter((word) => word !== "" && !/^(?:@|<@|\/start\b)/.test(word));
  if (said.length !== 1) return null;
  const word = (said[0] as string).replaceAll("`", "");
  return attempt.test(word) ? word.toUpperCase() : null;
}

/**
 * The text with every claim code redacted, letter by letter: the rest of it stays at
 * its place.
 */
export function withoutClaims(text: string): string {
  if (!/claim/i.test(text)) return text;
  const plain = text.replace(dashes, "-");
  let shown = "";
  let from = 0;
  for (const { index, 0: code } of plain.matchAll(inWords)) {
    shown += text.slice(from, index) + redactCode(code);
    from = index + code.length;
  }
  return shown + text.slice(from);
}

/** Replaces a message that was nothing but a claim. */
export const redactedClaim = "claim-••••••-••••••";

/** A claim code that nobody can use any more. */
function redactCode(code: string): string {
  return code.slice(0, 5) + code.slice(5).replace(/[^-]/g, "•");
}

/** What is kept of a claim code: 64 hexadecimal digits. */
export function hashOfClaim(code: string, digest: Digest): string {
  return digest(`claim|${code.toUpperCase()}`);
}

/** Whether two hashes are the same; takes as long for a first letter that differs as for a last. */
export function sameHash(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let differing = 0;
  for (let index = 0; index < one.length; index += 1)
    differing |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return differing === 0;
}
