/**
 * Markdown to Slack's blocks
 * ==========================
 * An answer is a `rich_text` block (https://docs.slack.dev/reference/block-kit/blocks/rich-text-block):
 * its text can never be taken for markup, so nobody is mentioned by what an agent writes. The text beside
 * it is what notifications show.
 */
import type { RichTextBlock } from "@slack/types";
import type { Entity, Rendered } from "../shared/rendering.ts";
import { slackTextLimit } from "./config.ts";
import { escapeText } from "./text.ts";

type Part = RichTextBlock["elements"][number];
type Run = Extract<Part, { type: "rich_text_section" }>["elements"][number];
type Style = Partial<Record<"bold" | "italic" | "strike" | "code", true>>;

const styleOf: Readonly<Partial<Record<Entity["type"], keyof Style>>> = {
  bold: "bold",
  italic: "italic",
  strikethrough: "strike",
  code: "code",
};

/** One message. */
export function messageOf(part: Rendered) {
  return { text: fallbackOf(part.text), blocks: [blockOf(part)] };
}

/** The text for notifications, escaped, within what an edit may have. */
export function fallbackOf(text: string): string {
  const escaped = escapeText(text);
  if (escaped.length <= slackTextLimit) return escaped;
  let cut = text.slice(0, slackTextLimit - 1);
  while (escapeText(cut).length > slackTextLimit - 1) cut = cut.slice(0, -64);
  // Not between the halves of a character.
  return `${escapeText(cut.replace(/[\ud800-\udbff]$/, ""))}…`;
}

function blockOf({ text, entities }: Rendered): RichTextBlock {
  const parts: Part[] = [];
  const outer = entities.filter(({ type }) => type === "pre" || type === "blockquote");
  let from = 0;
  for (const entity of outer) {
    if (entity.offset < from) continue;
    section(parts, { text, entities }, from, entity.offset, true);
    const to = entity.offset + entity.length;
    if (entity.type === "pre") {
      const elements = [{ type: "text" as const, text: text.slice(entity.offset, to) }];
      parts.push({ type: "rich_text_preformatted", elements });
    } else {
      const elements = runsOf({ text, entities }, entity.offset, to);
      parts.push({ type: "rich_text_quote", elements } as Part);
    }
    from = to;
  }
  section(parts, { text, entities }, from, text.length, false);
  return { type: "rich_text", elements: parts };
}

/** Text between two blocks: the breaks beside them are in the blocks already. */
function section(
  parts: Part[],
  whole: Rendered,
  begin: number,
  end: number,
  beforeBlock: boolean,
): void {
  const from = parts.length > 0 && whole.text[begin] === "\n" ? begin + 1 : begin;
  const to = beforeBlock && end > from && whole.text[end - 1] === "\n" ? end - 1 : end;
  if (to > from) parts.push({ type: "rich_text_section", elements: runsOf(whole, from, to) });
}

/** The text in pieces of one style each. */
function runsOf({ text, entities }: Rendered, from: number, to: number): Run[] {
  const inside = entities.filter(
    ({ type, offset, length }) =>
      (type in styleOf || type === "text_link") && offset < to && offset + length > from,
  );
  const cuts = new Set([from, to]);
  for (const { offset, length } of inside) {
    cuts.add(Math.max(from, offset));
    cuts.add(Math.min(to, offset + length));
  }
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(0, -1).flatMap((start, index) => {
    const stop = places[index + 1] as number;
    const over = inside.filter(({ offset, length }) => offset <= start && offset + length >= stop);
    const style: Style = {};
    for (const { type } of over) {
      const name = styleOf[type];
      if (name !== undefined) style[name] = true;
    }
    const url = over.find(({ type }) => type === "text_link")?.url;
    const piece = text.slice(start, stop);
    if (url !== undefined) return [withStyle({ type: "link", url, text: piece }, style)];
    return style.code === true
      ? [withStyle({ type: "text", text: piece }, style)]
      : linked(piece, style);
  });
}

/** Slack makes no links of addresses in this form of text by itself. */
const address = /https?:\/\/[^\s<>()[\]*`|"]*[^\s<>()[\]*`|".,;:!?']/g;

function linked(text: string, style: Style): Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (const found of text.matchAll(address)) {
    if (found.index > from)
      runs.push(withStyle({ type: "text", text: text.slice(from, found.index) }, style));
    runs.push(withStyle({ type: "link", url: found[0] }, style));
    from = found.index + found[0].length;
  }
  if (from < text.length) runs.push(withStyle({ type: "text", text: text.slice(from) }, style));
  return runs;
}

const withStyle = (run: Run, style: Style): Run =>
  Object.keys(style).length === 0 ? run : ({ ...run, style } as Run);
