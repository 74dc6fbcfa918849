/**
 * JSON on a terminal
 * ==================
 * `JSON.stringify` escapes the first 32 control characters, but not the C1 controls and the marks
 * that change the direction of text. Everything that prints JSON to a terminal uses this function.
 */

/**
 * JSON for a terminal: control characters are escaped, and it parses to the same value.
 */
export function safeJson(value: unknown, indent = 0): string {
  return harmlessJson(JSON.stringify(value, null, indent));
}

/** As `safeJson`, for text that is JSON already, or a part of it. */
export function harmlessJson(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
