/**
 * Markdown to Matrix's HTML, and what is shown as code or quote in others' messages
 * ================================================================================
 * A message has a plain text and, where it needs one, an HTML form of the tags that clients must know
 * (https://spec.matrix.org/v1.15/client-server-api/#mroommessage-msgtypes). Its list of mentions is
 * always there and empty, so nobody is notified by what an agent writes.
 */
import { limits } from "../../../domain/limits.ts";
import { renderMarkdown } from "../shared/markdown.ts";
import { type Entity, type Rendered, splitRendered } from "../shared/rendering.ts";
import { writtenOut } from "../shared/written-out.ts";
import { matrixTextLimit } from "./config.ts";

/** An HTML form that would make the event too large is left out. */
const htmlBytesMax = 30_000;

const tags: Readonly<Record<Entity["type"], readonly [string, string]>> = {
  bold: ["<strong>", "</strong>"],
  italic: ["<em>", "</em>"],
  strikethrough: ["<del>", "</del>"],
  spoiler: ["<span data-mx-spoiler>", "</span>"],
  code: ["<code>", "</code>"],
  pre: ["<pre><code>", "</code></pre>"],
  blockquote: ["<blockquote>", "</blockquote>"],
  text_link: ["", "</a>"],
};

export const escapeHtml = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

function openTag({ type, url = "", language = "" }: Entity): string {
  if (type === "text_link") return `<a href="${escapeHtml(url)}">`;
  if (type === "pre" && /^[\w+#.-]{1,32}$/.test(language))
    return `<pre><code class="language-${language}">`;
  return tags[type][0];
}

/** The HTML form; null: the plain text says it all. */
function htmlOf({ text, entities }: Rendered): string | null {
  if (entities.length === 0) return null;
  let html = "";
  let at = 0;
  const stack: Entity[] = [];
  let verbatim = 0;
  const write = (to: number) => {
    const part = escapeHtml(text.slice(at, to));
    html += verbatim > 0 ? part : part.replaceAll("\n", "<br>");
    at = Math.max(at, to);
  };
  const endOf = ({ offset, length }: Entity) => offset + length;
  const closeUntil = (place: number) => {
    for (let top = stack.at(-1); top !== undefined && endOf(top) <= place; top = stack.at(-1)) {
      write(endOf(top));
      html += tags[top.type][1];
      if (top.type === "pre") verbatim -= 1;
      stack.pop();
      // A block has a line of its own.
      const isBlock = top.type === "pre" || top.type === "blockquote";
      if (isBlock && text[at] === "\n") at += 1;
    }
  };
  for (const entity of entities) {
    closeUntil(entity.offset);
    write(entity.offset);
    const isBlock = entity.type === "pre" || entity.type === "blockquote";
    if (isBlock) html = html.replace(/<br>$/, "");
    html += openTag(entity);
    if (entity.type === "pre") verbatim += 1;
    stack.push(entity);
  }
  closeUntil(text.length);
  write(text.length);
  return html;
}

/** The fields of a message's content that hold its text. */
export interface MatrixText {
  readonly body: string;
  readonly format?: "org.matrix.custom.html";
  readonly formatted_body?: string;
}

function textOf(part: Rendered): MatrixText {
  const html = htmlOf(part);
  const body = writtenOut(part).text;
  if (html === null || Buffer.byteLength(html) > htmlBytesMax) return { body };
  return { body, format: "org.matrix.custom.html", formatted_body: html };
}

/** A text as the contents of messages. */
export const matrixParts = (text: string, partsMax: number = limits.sendPartsMax): MatrixText[] =>
  splitRendered(renderMarkdown(text), matrixTextLimit, partsMax).map(textOf);

const entityTexts: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  nbsp: "\u00a0",
  apos: "'",
};

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, ten, hex, name) => {
    if (name !== undefined) return entityTexts[String(name).toLowerCase()] ?? whole;
    const code = ten === undefined ? Number.parseInt(hex, 16) : Number(ten);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** The lines that an HTML form shows as code or as a quote, in order. */
function verbatimLines(html: string): string[] {
  const lines: string[] = [];
  let depth = 0;
  for (const [piece] of withoutQuote(html).matchAll(/<[^<>]*>|[^<]+|</g)) {
    const tag = /^<(\/?)(code|pre|blockquote)\b/i.exec(piece);
    if (tag !== null) depth = Math.max(0, depth + (tag[1] === "/" ? -1 : 1));
    else if (depth > 0 && !/^<[^<>]*>$/.test(piece))
      lines.push(
        ...decoded(piece)
          .split("\n")
          .map((line) => line.trim()),
      );
  }
  return lines.filter((line) => line !== "");
}

/** Ranges of the plain text that the HTML form shows as code or quote: [from, to), UTF-16 units. */
export function verbatimIn(body: string, html: string | undefined): [number, number][] {
  if (html === undefined) return [];
  const ranges: [number, number][] = [];
  let at = 0;
  for (const line of verbatimLines(html)) {
    const from = body.indexOf(line, at);
    if (from < 0) continue;
    at = from + line.length;
    if (ranges.length < limits.mentionsCountMax) ranges.push([from, at]);
  }
  return ranges;
}

/** Users named by links in an HTML form, for clients that send no list of mentions. */
export function usersLinked(html: string | undefined): string[] {
  const found = new Set<string>();
  for (const [, target = ""] of withoutQuote(html ?? "").matchAll(
    /href="https:\/\/matrix\.to\/#\/([^"?]{1,512})/g,
  )) {
    const user = decodedUri(decoded(target));
    if (/^@[^:\s]*:\S+$/.test(user) && found.size < limits.mentionsCountMax) found.add(user);
  }
  return [...found];
}

function decodedUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The HTML form of the same. */
function withoutQuote(html: string): string {
  const end = html.startsWith("<mx-reply>") ? html.indexOf("</mx-reply>") : -1;
  return end < 0 ? html : html.slice(end);
}

/** A text without the quote that older clients put before a reply. */
export function withoutFallback(body: string): string {
  if (!/^> (?:\* )?<@/.test(body)) return body;
  const lines = body.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("> "));
  if (end < 0) return body;
  return lines.slice(lines[end] === "" ? end + 1 : end).join("\n");
}
