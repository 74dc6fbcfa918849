/**
 * Markdown as lines of IRC
 * ========================
 * IRC has lines and nothing longer, and formatting codes that end with the line
 * (https://modern.ircdocs.horse/formatting). A line's limit is in bytes and includes what the server
 * puts before it, so a text is cut at words, then between graphemes, and never inside a character.
 */
import type { Entity, Rendered } from "../shared/rendering.ts";

const bytesOf = (text: string): number => Buffer.byteLength(text, "utf8");

type Style = ReadonlySet<Entity["type"]>;
interface Piece {
  readonly text: string;
  readonly style: Style;
}

const plain: Style = new Set();
const reset = "\u000f";
/** Quotes and links are shown by text. A spoiler is black on black. */
const codes: Partial<Record<Entity["type"], string>> = {
  bold: "\u0002",
  italic: "\u001d",
  strikethrough: "\u001e",
  code: "\u0011",
  pre: "\u0011",
  spoiler: "\u000301,01",
};
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const cutNote = "[the rest is too long for this chat]";

/**
 * Lines of at most `bytesMax` bytes, and of at most `linesMax`.
 * @param before what the first line begins with
 */
export function ircLines(
  rendered: Rendered,
  bytesMax: number,
  linesMax: number,
  before = "",
): readonly string[] {
  const lines: string[] = [];
  for (const pieces of textLines(rendered)) {
    if (pieces.every(({ text }) => text.trim() === "")) continue;
    const first = lines.length === 0 ? [{ text: before, style: plain }] : [];
    lines.push(...wrap([...first, ...pieces], bytesMax));
    if (lines.length > linesMax) return [...lines.slice(0, linesMax - 1), cutNote];
  }
  return lines;
}

/** The lines of a text as pieces of one style each. */
function textLines({ text, entities }: Rendered): Piece[][] {
  const lines: Piece[][] = [[]];
  const edges = new Set([0, text.length]);
  for (const { offset, length } of entities) edges.add(offset).add(offset + length);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1))
    edges.add(at).add(at + 1);
  const cuts = [...edges].sort((a, b) => a - b);
  for (const [index, from] of cuts.entries()) {
    const to = cuts[index + 1] ?? text.length;
    const within = entities.filter((one) => one.offset <= from && one.offset + one.length >= to);
    const line = lines.at(-1) as Piece[];
    if (text.slice(from, to) === "\n") {
      lines.push([]);
      continue;
    }
    const style: Style = new Set(within.map(({ type }) => type));
    if (to > from && line.length === 0 && style.has("blockquote"))
      line.push({ text: "> ", style: plain });
    if (to > from) line.push({ text: text.slice(from, to), style });
    for (const link of entities)
      if (link.type === "text_link" && link.offset + link.length === to && to > from)
        line.push(...addressOf(link, text));
  }
  return lines;
}

/** A link's address, unless its label is the address. */
function addressOf({ url = "", offset, length }: Entity, text: string): Piece[] {
  const label = text.slice(offset, offset + length);
  const isSame = url === label || url === `${label}/` || url === `mailto:${label}`;
  return isSame ? [] : [{ text: ` (${url})`, style: plain }];
}

/** What changes one style into another. */
function change(from: string, to: string): string {
  if (from === to) return "";
  return (from === "" ? "" : reset) + to;
}

const codeOf = (style: Style): string =>
  [...new Set([...style].map((type) => codes[type] ?? ""))].join("");

/** One line of text as lines that fit. */
function wrap(pieces: readonly Piece[], bytesMax: number): string[] {
  const lines: string[] = [];
  let line = "";
  let now = "";
  const put = (text: string, code: string) => {
    line += change(now, code) + text;
    now = code;
  };
  const fits = (text: string, code: string) =>
    bytesOf(line) + bytesOf(change(now, code)) + bytesOf(text) <= bytesMax;
  const next = () => {
    if (line.trim() !== "") lines.push(line.trimEnd());
    line = "";
    now = "";
  };
  for (const { text, style } of pieces) {
    const code = codeOf(style);
    for (const word of text.match(/\S+|\s+/g) ?? []) {
      if (fits(word, code)) put(word, code);
      else {
        next();
        if (word.trim() === "") continue;
        for (const part of partsOf(word, bytesMax - bytesOf(code))) {
          if (!fits(part, code)) next();
          put(part, code);
        }
      }
    }
  }
  next();
  return lines;
}

/** A word in parts of at most `bytesMax` bytes, whole if it fits. */
function partsOf(word: string, bytesMax: number): string[] {
  if (bytesOf(word) <= bytesMax) return [word];
  const parts: string[] = [];
  let part = "";
  const add = (unit: string) => {
    if (bytesOf(part) + bytesOf(unit) > bytesMax) {
      parts.push(part);
      part = "";
    }
    part += unit;
  };
  for (const { segment } of segmenter.segment(word)) {
    if (bytesOf(segment) <= bytesMax) add(segment);
    else for (const char of segment) add(char);
  }
  return [...parts, part].filter((one) => one !== "");
}
