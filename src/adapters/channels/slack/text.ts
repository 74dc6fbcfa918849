/**
 * Slack's text to plain text
 * ==========================
 * Slack writes mentions and links as `<…>` and escapes `&`, `<` and `>` everywhere else
 * (https://docs.slack.dev/messaging/formatting-message-text), so a `<` always begins one of them.
 * Blocks are first written in that form, which is read in one place.
 */
import type { Inbound } from "../../../domain/message.ts";

type Mention = Inbound["mentions"][number];

/** Names for ids; null where they are unknown. */
export interface Names {
  readonly selfId: string;
  person(id: string): string | null;
  chat(id: string): string | null;
}

export interface ReadText {
  readonly text: string;
  readonly mentions: readonly Mention[];
  readonly mentionsEveryone: boolean;
  /** Ranges of code and quotes. */
  readonly verbatim: [number, number][];
}

const control = /<([^<>]*)>/g;
const person = /<@([UW][A-Z0-9]{1,63})(?:\|[^<>]*)?>/g;

/** People that a raw text mentions. */
export const peopleIn = (raw: string): string[] => [
  ...new Set([...raw.matchAll(person)].map((found) => found[1] as string)),
];
const chat = /<#([CGD][A-Z0-9]{1,63})\|?>/g;
/** Conversations that it names without their titles. */
export const chatsIn = (raw: string): string[] => [
  ...new Set([...raw.matchAll(chat)].map((found) => found[1] as string)),
];

export const escapeText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const unescapeText = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** Reads a text in Slack's form. */
export function readText(raw: string, names: Names): ReadText {
  const mentions = new Map<string, Mention>();
  let mentionsEveryone = false;
  let text = "";
  let from = 0;
  for (const found of raw.matchAll(control)) {
    text += unescapeText(raw.slice(from, found.index));
    from = found.index + found[0].length;
    const read = readControl(found[1] as string, names);
    text += read.text;
    if (read.mention !== undefined) mentions.set(read.mention.id, read.mention);
    mentionsEveryone ||= read.everyone === true;
  }
  text += unescapeText(raw.slice(from));
  return { text, mentions: [...mentions.values()], mentionsEveryone, verbatim: verbatimIn(text) };
}

interface Control {
  readonly text: string;
  readonly mention?: Mention;
  readonly everyone?: true;
}

/** What stands between `<` and `>`. */
function readControl(inside: string, names: Names): Control {
  const bar = inside.indexOf("|");
  const target = unescapeText(bar < 0 ? inside : inside.slice(0, bar));
  const label = bar < 0 ? "" : unescapeText(inside.slice(bar + 1));
  const rest = target.slice(1);
  switch (target[0]) {
    case "@": {
      const name = names.person(rest) ?? (label || rest);
      return { text: `@${name}`, mention: { id: rest, name, isSelf: rest === names.selfId } };
    }
    case "#":
      return { text: `#${label || (names.chat(rest) ?? rest)}` };
    case "!":
      return readSpecial(rest, label);
    default: {
      const address = target.replace(/^(?:mailto|tel):/, "");
      if (label === "" || label === target || label === address) return { text: address };
      return { text: `${label} (${address})` };
    }
  }
}

function readSpecial(name: string, label: string): Control {
  if (name === "channel" || name === "here" || name === "everyone")
    return { text: `@${name}`, everyone: true };
  const group = /^subteam\^([A-Z0-9]{1,63})$/.exec(name)?.[1];
  if (group === undefined) return { text: label || `!${name}` };
  const handle = label.replace(/^@/, "") || group;
  return { text: `@${handle}`, mention: { id: group, name: handle, isSelf: false } };
}

const codeOrQuote = /```[\s\S]*?```|`[^`\n]+`|^> ?.*$/gm;

function verbatimIn(text: string): [number, number][] {
  if (!/[`>]/.test(text)) return [];
  return [...text.matchAll(codeOrQuote)].map((found) => [
    found.index,
    found.index + found[0].length,
  ]);
}

type Part = Readonly<Record<string, unknown>>;

const isPart = (value: unknown): value is Part => typeof value === "object" && value !== null;
const partsOf = (value: unknown): readonly Part[] =>
  Array.isArray(value) ? value.filter(isPart) : [];
const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");
const depthMax = 8;

/**
 * Blocks in Slack's text form (https://docs.slack.dev/reference/block-kit/blocks). Kinds without text
 * (buttons, dividers) are left out.
 */
export function blocksText(blocks: readonly unknown[]): string {
  return partsOf(blocks)
    .map((block) => blockText(block))
    .filter((text) => text !== "")
    .join("\n");
}

function blockText(block: Part): string {
  switch (block.type) {
    case "rich_text":
      return richParts(block.elements, 0);
    case "section":
      return [textObject(block.text), ...partsOf(block.fields).map(textObject)]
        .filter((text) => text !== "")
        .join("\n");
    case "header":
      return textObject(block.text);
    case "context":
      return partsOf(block.elements).map(textObject).filter(Boolean).join(" ");
    case "markdown":
      return escapeText(stringOf(block.text));
    case "image":
    case "video": {
      const what = stringOf(block.alt_text);
      return what === "" ? "" : `[${String(block.type)}: ${escapeText(what)}]`;
    }
    default:
      return "";
  }
}

/** A text object; plain text is escaped at Slack as well, where it came from a person. */
function textObject(value: unknown): string {
  if (!isPart(value)) return "";
  const text = stringOf(value.text);
  return value.type === "mrkdwn" ? text : escapeText(unescapeText(text));
}

function richParts(elements: unknown, depth: number): string {
  if (depth > depthMax) return "";
  return partsOf(elements)
    .map((part) => richPart(part, depth))
    .filter((text) => text !== "")
    .join("\n");
}

function richPart(part: Part, depth: number): string {
  switch (part.type) {
    case "rich_text_section":
      return runs(part.elements).replace(/\n$/, "");
    case "rich_text_preformatted":
      return `\`\`\`\n${runs(part.elements)}\n\`\`\``;
    case "rich_text_quote":
      return runs(part.elements)
        .split("\n")
        .map((line) => `&gt; ${line}`)
        .join("\n");
    case "rich_text_list": {
      const indent = "  ".repeat(typeof part.indent === "number" ? Math.min(part.indent, 8) : 0);
      const first = typeof part.offset === "number" ? part.offset + 1 : 1;
      return partsOf(part.elements)
        .map((item, index) => {
          const mark = part.style === "ordered" ? `${first + index}.` : "•";
          return `${indent}${mark} ${richPart(item, depth + 1)}`;
        })
        .join("\n");
    }
    default:
      return "";
  }
}

const runs = (elements: unknown): string => partsOf(elements).map(run).join("");

function run(element: Part): string {
  const named = (id: unknown, sign: string) => `<${sign}${escapeText(stringOf(id))}>`;
  switch (element.type) {
    case "text": {
      const text = escapeText(stringOf(element.text));
      const isCode = isPart(element.style) && element.style.code === true;
      return isCode && text.trim() !== "" ? `\`${text}\`` : text;
    }
    case "link": {
      const url = escapeText(stringOf(element.url)).replaceAll("|", "%7C");
      const label = escapeText(stringOf(element.text));
      return label === "" ? `<${url}>` : `<${url}|${label}>`;
    }
    case "user":
      return named(element.user_id, "@");
    case "usergroup":
      return named(element.usergroup_id, "!subteam^");
    case "channel":
      return named(element.channel_id, "#");
    case "broadcast":
      return named(element.range, "!");
    case "emoji":
      return emojiText(element);
    case "date":
      return escapeText(stringOf(element.fallback));
    case "color":
      return escapeText(stringOf(element.value));
    default:
      return "";
  }
}

/** `unicode` has the code points in hexadecimal, joined by `-`. */
function emojiText({ unicode, name }: Part): string {
  const points = stringOf(unicode).split("-");
  if (points.every((point) => /^[0-9a-f]{2,5}$/.test(point)))
    return String.fromCodePoint(...points.map((point) => Number.parseInt(point, 16)));
  return name === undefined ? "" : `:${stringOf(name)}:`;
}
