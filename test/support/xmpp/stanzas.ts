/**
 * Where a stanza ends in a stream of XML (RFC 6120, section 4.1), for the proxy: the opening tag of the
 * stream, its closing tag, and each element between them are one unit.
 */

/** The length of the first whole unit, or 0. */
export function stanzaLength(data: Buffer): number {
  const text = data.toString("latin1");
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf("<", at);
    if (open < 0) return depth === 0 && text.trim() === "" ? text.length : 0;
    const close = tagEnd(text, open);
    if (close < 0) return 0;
    const tag = text.slice(open, close);
    at = close;
    if (tag.startsWith("<?")) continue;
    if (/^<\/?stream:stream[\s>]/.test(tag)) return close;
    if (tag.startsWith("</")) depth -= 1;
    else if (!tag.endsWith("/>")) depth += 1;
    if (depth <= 0) return close;
  }
  return 0;
}

/** Behind the `>` of a tag, which may have others in its attributes; -1: it is not whole. */
function tagEnd(text: string, open: number): number {
  let quote = "";
  for (let at = open; at < text.length; at += 1) {
    const char = text[at] as string;
    if (quote !== "") {
      if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === ">") return at + 1;
  }
  return -1;
}
