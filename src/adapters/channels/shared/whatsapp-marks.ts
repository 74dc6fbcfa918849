/**
 * WhatsApp's marks, written and read
 * ==================================
 * `*bold*`, `_italic_`, `~gone~`, `` `code` ``, blocks in three backticks, quotes behind `>`
 * (https://faq.whatsapp.com/539178204879377). There are no escapes, so a mark is written only where it
 * will be read as one: within a line and not inside a word.
 */
import { limits } from "../../../domain/limits.ts";
import { renderMarkdown } from "./markdown.ts";
import { type Entity, type Rendered, splitRendered } from "./rendering.ts";
import { whatsappTextLimit } from "./whatsapp-limit.ts";

const marks: Partial<Record<Entity["type"], string>> = {
  bold: "*",
  italic: "_",
  strikethrough: "~",
  code: "`",
};

/** Messages of at most `limit` units with their marks. */
export function partsOf(markdown: string, limit: number = whatsappTextLimit): readonly string[] {
  const whole = renderMarkdown(markdown);
  for (let share = 1; share > 0.2; share -= 0.1) {
    const split = splitRendered(whole, Math.floor(limit * share), limits.sendPartsMax);
    const parts = split.map(marked);
    if (parts.every(({ length }) => length <= limit)) return parts;
  }
  return splitRendered(whole, limit, limits.sendPartsMax).map(({ text }) => text);
}

/** A rendered text with WhatsApp's marks. */
export function marked({ text, entities }: Rendered): string {
  const opens: string[] = [];
  const closes: string[] = [];
  const put = (from: number, to: number, open: string, close = open) => {
    opens[from] = (opens[from] ?? "") + open;
    // The inner one closes first.
    closes[to] = close + (closes[to] ?? "");
  };
  const verbatim = entities.filter(({ type }) => type === "pre" || type === "code");
  for (const entity of entities) {
    const { type, offset, length } = entity;
    const end = offset + length;
    const isInside = verbatim.some(
      (one) => one !== entity && one.offset <= offset && one.offset + one.length >= end,
    );
    if (isInside) continue;
    const body = text.slice(offset, end);
    if (type === "pre") {
      if (!body.includes("```")) put(offset, end, "```");
    } else if (type === "blockquote") {
      for (let at = offset; at < end; at = text.indexOf("\n", at) + 1) {
        put(at, at, "> ", "");
        if (text.indexOf("\n", at) < 0) break;
      }
    } else if (type === "text_link") {
      const url = entity.url ?? "";
      if (url !== body && url !== `${body}/` && url !== `mailto:${body}`)
        put(offset, end, "", ` (${url})`);
    } else {
      const mark = marks[type];
      if (mark !== undefined)
        for (const [from, to] of spansOf(text, offset, end, mark)) put(from, to, mark);
    }
  }
  let out = "";
  for (let at = 0; at <= text.length; at += 1)
    out += (closes[at] ?? "") + (opens[at] ?? "") + (text[at] ?? "");
  return out;
}

const isWord = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char);

/** The parts of a range that can be marked. */
function spansOf(text: string, start: number, end: number, mark: string): [number, number][] {
  const spans: [number, number][] = [];
  let at = start;
  for (const line of text.slice(start, end).split("\n")) {
    const from = at + line.length - line.trimStart().length;
    const to = at + line.trimEnd().length;
    const isApart = !isWord(text[from - 1]) && !isWord(text[to]);
    if (to > from && isApart && !text.slice(from, to).includes(mark)) spans.push([from, to]);
    at += line.length + 1;
  }
  return spans;
}

type Range = [number, number];

/** Ranges of a text that are shown as code or quote: [from, to), UTF-16 units. */
export function verbatimIn(text: string): Range[] {
  const ranges: Range[] = [];
  for (const { index, 0: found } of text.matchAll(/```[\s\S]+?```|^>[^\n]*|`[^`\n]+`/gm))
    ranges.push([index, index + found.length]);
  return ranges.slice(0, limits.mentionsCountMax);
}
