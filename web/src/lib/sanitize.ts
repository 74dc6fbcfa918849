/**
 * Text for the screen
 * ===================
 * The same sanitising as everywhere in earshot (control characters, direction marks, invisible
 * letters), and the formats of time and number that pages share. The result still goes into a
 * `<bdi>`.
 */
import { oneLine, plainText } from "../../../src/domain/sanitize.ts";

/** A message as shown: several lines, nothing hidden in them. */
export const shownText = (text: string): string => plainText(text);
/** A name or title as shown: one short line. */
export const shownName = (name: string): string => oneLine(name) || "someone";
/** The key of a conversation, or a part of one: a room may have put anything into it. */
export const shownKey = (key: string): string => oneLine(key, keyUnitsMax);
const keyUnitsMax = 2_048;

const letterCutter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The first letters of a name as it is shown. Never splits a letter. */
export function initials(name: string, count: number): string {
  const letters: string[] = [];
  for (const { segment } of letterCutter.segment(shownName(name))) {
    if (letters.push(segment) >= count) break;
  }
  return letters.join("");
}

/** The time of day as people here write it, without seconds: "10:20". */
export function clockTime(at: number): string {
  const date = new Date(at);
  return `${date.getHours()}:${String(date.getMinutes()).padStart(2, "0")}`;
}

/** "0.9 s", "12 s", "3 min". */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  if (ms < 90_000) return `${Math.round(ms / 1000)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

/** Time left on a countdown: "11:04". */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** "1 person", "3 people". */
export const people = (count: number): string => `${count} ${count === 1 ? "person" : "people"}`;
/** "1 bot", "2 bots". */
export const bots = (count: number): string => `${count} ${count === 1 ? "bot" : "bots"}`;
