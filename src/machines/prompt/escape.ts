/**
 * Text from a room must stay text: it may not close the fence around it, open a section, or
 * speak as the runtime. Copies count too: full-width letters, look-alikes from other alphabets,
 * zero-width letters between. So the text is read as a skeleton (what it looks like, letters and
 * brackets only), and where the skeleton says one of our markers, the bracket or hash that makes it
 * a marker is exchanged for a harmless twin. Nothing else is touched: code and links stay as they
 * were.
 */
import { oneLine, plainText } from "../../domain/sanitize.ts";

/** Letters of other alphabets that look like these, by lower-case skeleton letter. */
const lookAlikes: Readonly<Record<string, string>> = {
  a: "аαɑ",
  b: "ьвβ",
  c: "сϲ",
  d: "ԁ",
  e: "еєε",
  g: "ɡ",
  h: "һнη",
  i: "іιı",
  j: "ј",
  k: "кκ",
  l: "ӏⅼ",
  m: "мμ",
  n: "пո",
  o: "оοօ0",
  p: "рρ",
  r: "гʀ",
  s: "ѕꜱ",
  t: "тτ",
  u: "υս",
  v: "ѵν",
  w: "ԝω",
  x: "хχ",
  y: "уүγ",
  z: "ᴢ",
  "[": "【〔⟦❲⁅〖⟬",
  "<": "‹〈⟨❮≺⟪《",
  "#": "♯⌗",
};
const looksLike = new Map(
  Object.entries(lookAlikes).flatMap(([letter, twins]) => [...twins].map((twin) => [twin, letter])),
);

/** What a marker starts with, and its harmless twin. */
const twinOf: Readonly<Record<string, string>> = { "[": "(", "<": "‹", "#": "\\#" };
const markers = [
  "[systemmessage",
  // Opening and closing: the skeleton has no slash.
  "[replying",
  "[quoting",
  "[forwarded",
  "[earliertext",
  "[attachment",
  "[chatmessagessince",
  "[currentmessage",
  "[yoursummary",
  "[sys",
  "[inst",
  "<roomtext",
  "<notice",
  "<system",
  "<sys",
  "<|",
  "#recentcontext",
  "#currentmessage",
  "#newmessage",
] as const;
const letterOrMarker = /[\p{L}\p{N}[<#|]/u;

/** Without one of these a text holds no marker: nearly all chat. */
const suspicious = /[[<#\u0080-\uffff]/;

interface Skeleton {
  /** Letters, digits and marker signs of the text, folded and without decoration. */
  readonly text: string;
  /** For each unit of `text`: where it is in the original. */
  readonly at: readonly number[];
}

function skeletonOf(text: string): Skeleton {
  let out = "";
  const at: number[] = [];
  let index = 0;
  for (const point of text) {
    for (const unit of point.normalize("NFKD").toLowerCase()) {
      const letter = looksLike.get(unit) ?? unit;
      if (letterOrMarker.test(letter)) {
        for (let size = letter.length; size > 0; size -= 1) at.push(index);
        out += letter;
      }
    }
    index += point.length;
  }
  return { text: out, at };
}

/**
 * Message text as it may appear inside the fence of a prompt: visible, well-formed, and without a
 * marker of ours. Lines that look like headings lose that look. `fence` is this turn's token.
 */
export function escapeRoomText(text: string, fence: string): string {
  const plain = plainText(text);
  if (!suspicious.test(plain) && !plain.toLowerCase().includes(fence.toLowerCase())) return plain;
  const edits = new Map<number, string>();
  const skeleton = skeletonOf(plain);
  for (const marker of markers) {
    const twin = twinOf[marker.charAt(0)] ?? "";
    for (const found of occurrences(skeleton.text, marker))
      edits.set(skeleton.at[found] as number, twin);
  }
  const token = skeletonOf(fence).text;
  for (const found of occurrences(skeleton.text, token))
    edits.set(skeleton.at[found] as number, "�");
  return withoutHeadings(apply(plain, edits));
}

function* occurrences(text: string, part: string): Generator<number> {
  if (part === "") return;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) yield at;
}

function apply(text: string, edits: ReadonlyMap<number, string>): string {
  if (edits.size === 0) return text;
  let out = "";
  let index = 0;
  for (const point of text) {
    out += edits.get(index) ?? point;
    index += point.length;
  }
  return out;
}

/**
 * A heading in Markdown, with whatever hash: up to some quote marks, hashes, then space or the end.
 */
const heading = /^([ >*_-]{0,16})([#＃﹟♯⌗]{1,64})(?=[\s#＃﹟♯⌗\p{L}]|$)/u;

function withoutHeadings(text: string): string {
  if (!/[#＃﹟♯⌗]/u.test(text)) return text;
  return text
    .split("\n")
    .map((line) => {
      const found = heading.exec(line);
      if (found === null || isTag(line, found)) return line;
      const hashes = [...(found[2] ?? "")].map(() => "\\#").join("");
      return `${found[1]}${hashes}${line.slice(found[0].length)}`;
    })
    .join("\n");
}

/** `#topic` is a tag, not a heading. */
function isTag(line: string, found: RegExpExecArray): boolean {
  return found[2] === "#" && /^\p{L}/u.test(line.slice(found[0].length));
}

/** A name, title or file name as it may appear in a prompt: one short line that is no marker. */
export function escapeLabel(label: string, fence: string): string {
  return escapeRoomText(oneLine(label), fence)
    .replaceAll("[", "(")
    .replaceAll("]", ")")
    .replace(/[#＃﹟]{2,}/g, "#");
}
