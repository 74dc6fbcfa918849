/**
 * Parts of session keys
 * =====================
 * Platform ids are opaque and may contain anything, including the separator. A part is written
 * unchanged except for `:`, `%`, control characters, whitespace and lone surrogates, which become
 * percent-encoded UTF-8 bytes. Nothing is folded or normalised: ids that look alike stay different.
 * Each part has exactly one encoding, so keys can be compared as text.
 */
const special = /[:%\p{Cc}\s\p{Cs}]/u;
const specials = /[:%\p{Cc}\s\p{Cs}]/gu;
const escapes = /(?:%[0-9A-F]{2})+/gu;

const hex = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;

/** Generalised UTF-8: a lone surrogate becomes three bytes like any other code point there. */
function escaped(character: string): string {
  const point = character.codePointAt(0) as number;
  if (point < 0x80) return hex(point);
  const last = hex(0x80 | (point & 0x3f));
  if (point < 0x800) return hex(0xc0 | (point >> 6)) + last;
  return hex(0xe0 | (point >> 12)) + hex(0x80 | ((point >> 6) & 0x3f)) + last;
}

export function encodePart(part: string): string {
  return special.test(part) ? part.replace(specials, escaped) : part;
}

function unescaped(run: string): string {
  const bytes = run.match(/[0-9A-F]{2}/gu)?.map((digits) => Number.parseInt(digits, 16)) ?? [];
  let text = "";
  for (let index = 0; index < bytes.length; index += 1) {
    const lead = bytes[index] as number;
    const more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : 2;
    let point = more === 0 ? lead : lead & (more === 1 ? 0x1f : 0x0f);
    for (let step = 0; step < more; step += 1) {
      index += 1;
      point = (point << 6) | ((bytes[index] ?? 0) & 0x3f);
    }
    text += String.fromCharCode(point);
  }
  return text;
}

/** Decodes a part; null when the text is not the canonical encoding of any part. */
export function decodePart(written: string): string | null {
  if (!special.test(written)) return written;
  const part = written.replace(escapes, unescaped);
  return encodePart(part) === written ? part : null;
}
