/**
 * Message styling (XEP-0393), written and read
 * ============================================
 * Styling is plain text that clients show as it is meant: `*bold*`, `_italic_`, `~gone~`, `` `code` ``,
 * blocks between lines of three backticks, quotes behind `>`. It has no escapes, so a mark is written
 * only where it will be read as one, and a text without any is sent as unstyled. What others write
 * stays as it is: what is shown as code or as a quote is reported, because it is not what they say.
 */
import { limits } from "../../../domain/limits.ts";
import type { Entity, Rendered } from "../shared/rendering.ts";

export interface Styled {
  readonly text: string;
  /** Whether anything in it is meant as styling. */
  readonly isStyled: boolean;
}

const marks: Partial<Record<Entity["type"], string>> = {
  bold: "*",
  italic: "_",
  strikethrough: "~",
  code: "`",
};

/** A text with marks. */
export function styled(rendered: Rendered): Styled {
  const { text, entities } = rendered;
  const opens = new Map<number, string>();
  const closes = new Map<number, string>();
  let isStyled = false;
  const blocks = entities.filter(({ type }) => type === "pre");
  for (const entity of entities) {
    const mark = marks[entity.type];
    if (mark !== undefined && !blocks.some((block) => isIn(entity, block)))
      for (const [from, to] of spansOf(text, entity, mark)) {
        opens.set(from, (opens.get(from) ?? "") + mark);
        // The inner one closes first.
        closes.set(to, mark + (closes.get(to) ?? ""));
        isStyled = true;
      }
    if (entity.type === "text_link") {
      const at = entity.offset + entity.length;
      const address = addressOf(entity, text);
      closes.set(at, (closes.get(at) ?? "") + address);
    }
  }
  let out = "";
  let at = 0;
  const copy = (to: number) => {
    for (; at < to; at += 1) out += (closes.get(at) ?? "") + (opens.get(at) ?? "") + text[at];
  };
  for (const entity of entities) {
    if (entity.type !== "pre" && entity.type !== "blockquote") continue;
    if (entity.offset < at) continue;
    copy(entity.offset);
    const end = entity.offset + entity.length;
    const before = out;
    out = "";
    copy(end);
    out += closes.get(end) ?? "";
    closes.delete(end);
    const lead = before === "" || before.endsWith("\n") ? before : `${before}\n`;
    out = `${lead}${entity.type === "pre" ? blockOf(out) : quoteOf(out)}`;
    if (end < text.length && text[end] !== "\n") out += "\n";
    isStyled = true;
  }
  copy(text.length);
  return { text: out + (closes.get(text.length) ?? ""), isStyled };
}

const isIn = (inner: Entity, outer: Entity) =>
  inner !== outer &&
  inner.offset >= outer.offset &&
  inner.offset + inner.length <= outer.offset + outer.length;

/** A line of three backticks would end the block. */
const blockOf = (text: string) => `\`\`\`\n${text.replace(/^```/gm, " ```")}\n\`\`\``;
const quoteOf = (text: string) => text.replace(/^/gm, "> ");

/** The parts of an entity that can be marked: within a line, at the beginning of a word. */
function spansOf(text: string, { offset, length }: Entity, mark: string): [number, number][] {
  const spans: [number, number][] = [];
  let at = offset;
  for (const line of text.slice(offset, offset + length).split("\n")) {
    const from = at + line.length - line.trimStart().length;
    const to = at + line.trimEnd().length;
    const opens = from === 0 || /\s/.test(text[from - 1] as string);
    if (to > from && opens && !text.slice(from, to).includes(mark)) spans.push([from, to]);
    at += line.length + 1;
  }
  return spans;
}

/** A link's address, unless its label is the address. */
function addressOf({ url = "", offset, length }: Entity, text: string): string {
  const label = text.slice(offset, offset + length);
  const isSame = url === label || url === `${label}/` || url === `mailto:${label}`;
  return isSame ? "" : ` (${url})`;
}

type Range = [number, number];

/** Ranges of the text shown as code or quote: [from, to), UTF-16 units. */
export function verbatimIn(text: string): Range[] {
  const ranges: Range[] = [];
  let at = 0;
  let fence: number | null = null;
  for (const line of text.split("\n")) {
    const end = at + line.length;
    if (fence !== null) {
      if (line.trimEnd() === "```") {
        ranges.push([fence, end]);
        fence = null;
      }
    } else if (line.startsWith("```")) fence = at;
    else if (line.startsWith(">")) ranges.push([at, end]);
    else ranges.push(...codeIn(line, at));
    at = end + 1;
  }
  // A block that nothing closes ends with the text (section 5.1.2).
  if (fence !== null) ranges.push([fence, text.length]);
  return ranges.slice(0, limits.mentionsCountMax);
}

/** Preformatted spans: a backtick at the beginning of a word, up to the next one (section 5.3). */
function codeIn(line: string, offset: number): Range[] {
  const found: Range[] = [];
  for (let from = line.indexOf("`"); from >= 0; ) {
    const before = line[from - 1] ?? " ";
    const opens = /[\s*_~]/.test(before) && /\S/.test(line[from + 1] ?? " ");
    const to = opens ? line.indexOf("`", from + 1) : -1;
    const isSpan = to > from + 1 && /\S/.test(line[to - 1] ?? " ");
    if (isSpan) found.push([offset + from, offset + to + 1]);
    from = line.indexOf("`", isSpan ? to + 1 : from + 1);
  }
  return found;
}

/** A text without these parts, which are counted in code points. */
export function withoutParts(
  text: string,
  parts: readonly (readonly [number, number] | null)[],
): string {
  if (parts.length === 0) return text;
  if (parts.includes(null)) return "";
  const points = [...text];
  const isCut = new Set<number>();
  for (const part of parts)
    for (let at = part?.[0] ?? 0; at < Math.min(part?.[1] ?? 0, points.length); at += 1)
      isCut.add(at);
  return points.filter((_, at) => !isCut.has(at)).join("");
}
