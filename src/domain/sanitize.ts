/**
 * Sanitising text
 * ===============
 * Text from a room is shown to agents, people and terminals, and each can be fooled in its own way:
 * a newline in a name forges a log line, a right-to-left mark reorders text, an escape sequence
 * controls the screen. One function for each; none of them judges the content.
 */
import { limits } from "./limits.ts";

/** Line ends of every kind. */
const lineEnds = /\r\n?|[\u0085\u2028\u2029]/g;
/** C0 and C1 controls and DEL, but not the newline. */
const controls = /(?!\n)\p{Cc}/gu;
/** Zero-width and direction characters; emoji joiners and variation selectors stay. */
const invisible = /(?!\ufe0e|\ufe0f|\u200d)[\p{DI}\ufff9-\ufffb]/gu;
/** A joiner that joins no emoji. */
const strayJoiner =
  /(?<!\p{Extended_Pictographic}|\p{EMod}|\ufe0f)\u200d|\u200d(?!\p{Extended_Pictographic})/gu;
const bidi = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const loneSurrogate = /\p{Cs}/gu;
/** Printable ASCII and newlines, which most texts are made of: safe as they are. */
const safe = /^[\n -~]*$/;

/**
 * Text for an agent: line ends become newlines, tabs become spaces, and invisible characters
 * (controls, direction marks, zero-width letters, tag characters) are removed. Emoji keep their
 * joiners.
 */
export function plainText(text: string): string {
  return text
    .replace(lineEnds, "\n")
    .replaceAll("\t", "    ")
    .replace(controls, "")
    .replace(invisible, "")
    .replace(strayJoiner, "")
    .replace(loneSurrogate, "\ufffd");
}

/**
 * A label (name, title, file name) as one short line without controls, direction marks or invisible
 * letters. Cut at `unitsMax` UTF-16 units, never inside a surrogate pair, with an ellipsis.
 */
export function oneLine(text: string, unitsMax: number = limits.labelShownUnitsMax): string {
  // A label may start with padding, so look at more than is shown, but not at everything.
  const line = plainText(text.slice(0, unitsMax * 8 + 64).replace(/[\n\v\f]/g, " "))
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= unitsMax ? line : `${cut(line, unitsMax - 1).trimEnd()}…`;
}

/** The first `units` UTF-16 units, one fewer where that would split a pair. */
export function cut(text: string, units: number): string {
  if (text.length <= units) return text;
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units);
}

/**
 * Text for a terminal or a multi-line log entry. Controls are made visible ("␛[2J") instead of
 * removed, so that an attack can be read; newlines stay.
 */
export function terminalSafe(text: string): string {
  if (safe.test(text)) return text;
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll("\t", " ")
    .replace(controls, visible)
    .replace(bidi, (mark) => `\\u{${(mark.codePointAt(0) as number).toString(16)}}`)
    .replace(loneSurrogate, "\ufffd");
}

/** A control as its Unicode picture (␛) or, above the first 32, as an escape. */
function visible(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "␡" : `\\x${code.toString(16)}`;
}
