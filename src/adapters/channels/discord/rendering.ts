/**
 * Markdown as Discord has it
 * ==========================
 * https://support.discord.com/hc/en-us/articles/210298617 has the dialect. An answer's Markdown is read by
 * the shared parser and written again in Discord's; text that only looks like markup, or like a mention, is
 * escaped. A message has at most 2,000 characters, which Discord counts in code points.
 */
import { renderMarkdown } from "../shared/markdown.ts";
import { type Entity, type Rendered, splitRendered } from "../shared/rendering.ts";
import { discordTextLimit } from "./config.ts";

const marks: Partial<Record<Entity["type"], string>> = {
  bold: "**",
  italic: "*",
  strikethrough: "~~",
  spoiler: "||",
};
/** Sizes of parts before markup; smaller ones leave it more room. */
const partLimits = [2_000, 1_900, 1_600, 1_200, 800, 400] as const;

/** An answer's Markdown as messages of at most 2,000 characters, and at most `most` of them. */
export function discordParts(markdown: string, most: number): readonly string[] {
  const rendered = renderMarkdown(markdown);
  let parts: string[] = [];
  for (const limit of partLimits) {
    parts = splitRendered(rendered, limit, most).map(written);
    if (parts.every(fits)) return parts;
  }
  // An address alone may be longer.
  return parts.map((part) => (fits(part) ? part : [...part].slice(0, discordTextLimit).join("")));
}

const fits = (part: string): boolean =>
  part.length <= discordTextLimit || [...part].length <= discordTextLimit;

/** Text as it is: nothing in it is markup, a mention, or an emoji. Addresses stay. */
export function escaped(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>]+)/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replace(/[\\*_~|`<[]/g, "\\$&")
            .replace(/^([ \t]*)(#{1,3}[ \t]|-#?[ \t]|\+[ \t]|>{1,3}[ \t])/gm, "$1\\$2"),
    )
    .join("");
}

function written({ text, entities }: Rendered): string {
  return inner(text, 0, text.length, entities, new Set()).trim();
}

/** A part of the text with its markup. `entities` has those that begin there, the outer ones first. */
function inner(
  text: string,
  from: number,
  to: number,
  entities: readonly Entity[],
  active: ReadonlySet<Entity["type"]>,
): string {
  let out = "";
  let at = from;
  for (let index = 0; index < entities.length; ) {
    const entity = entities[index] as Entity;
    const end = Math.min(to, entity.offset + entity.length);
    let next = index + 1;
    while (next < entities.length && (entities[next] as Entity).offset < end) next += 1;
    if (entity.offset >= at && end > entity.offset) {
      out += escaped(text.slice(at, entity.offset));
      out += marked(text, entity, end, entities.slice(index + 1, next), active);
      at = end;
    }
    index = next;
  }
  return out + escaped(text.slice(at, to));
}

function marked(
  text: string,
  { type, offset, language = "", url = "" }: Entity,
  end: number,
  nested: readonly Entity[],
  active: ReadonlySet<Entity["type"]>,
): string {
  const raw = text.slice(offset, end);
  if (type === "pre") return `\`\`\`${language}\n${raw.replaceAll("```", "`\u200b``")}\n\`\`\``;
  if (type === "code") return codeSpan(raw);
  const content = inner(text, offset, end, nested, new Set([...active, type]));
  if (type === "blockquote") return content.replace(/^/gm, "> ");
  if (type === "text_link") return link(raw, content, url);
  const mark = marks[type] ?? "";
  // Marks next to a blank are text for Discord, and so are those of a kind that is already open.
  const [, before = "", middle = "", after = ""] = /^(\s*)([\s\S]*?)(\s*)$/.exec(content) ?? [];
  return middle === "" || active.has(type) ? content : before + mark + middle + mark + after;
}

function codeSpan(raw: string): string {
  if (!raw.includes("`")) return `\`${raw}\``;
  return `\`\` ${raw.replaceAll("``", "`\u200b`")} \`\``;
}

function link(raw: string, content: string, url: string): string {
  if (url === raw || url === `${raw}/` || url === `mailto:${raw}`) return raw;
  // Discord shows no link whose label looks like another address.
  if (/https?:\/\//.test(raw)) return `${content} (${url})`;
  return `[${content}](<${url}>)`;
}
