/**
 * One message of a prompt: a line of ours that says who, when and which message, then what is said,
 * indented, what is attached, and what it answers, quotes or passes on. All of it is room text, names
 * and titles too, so all of it is escaped and every label and quote is cut.
 */
import { limits } from "../../domain/limits.ts";
import type { Attachment, Inbound, Millis, Origin } from "../../domain/message.ts";
import { cut } from "../../domain/sanitize.ts";
import { escapeLabel, escapeRoomText } from "./escape.ts";

/** An attachment under the name the agent may use, and what is known of what is in it. */
export interface PromptAttachment extends Attachment {
  /** What is in it, in words. */
  readonly content?: { readonly words: string; readonly text: string };
  /** Why it is left out, or what is odd about it. */
  readonly note?: string;
  /** It is the agent's picture of that number, counted from 1. */
  readonly picture?: number;
}

/** A page that a message links to. */
export interface PromptLink {
  readonly url: string;
  readonly title: string | null;
  readonly text: string | null;
  readonly note: string | null;
}

export interface PromptMessage {
  readonly id: string;
  readonly at: Millis;
  readonly author: { readonly name: string; readonly isBot: boolean };
  readonly text: string;
  readonly attachments: readonly PromptAttachment[];
  readonly links?: readonly PromptLink[];
  readonly replyTo: Inbound["replyTo"];
  readonly quote?: Inbound["quote"];
  readonly forwarded?: Inbound["forwarded"];
  /** It is how a message reads now that a turn has read before. */
  readonly edited?: { readonly before: string };
  /** What its author did to a message of ours, whose text it has. */
  readonly reaction?: { readonly added: readonly string[]; readonly removed: readonly string[] };
}

const quoteUnitsMax = 280;
/** Chosen by the author, so more of it is shown. */
const quotedPartUnitsMax = 1_024;
const noteUnitsMax = 200;
const urlUnitsMax = 300;

/** A message: one line of ours, then what is said, what is attached, what it answers. */
export function envelope(message: PromptMessage, fence: string): string {
  if (message.reaction !== undefined) return reacted(message, message.reaction, fence);
  const { forwarded = false, quote, edited } = message;
  const did = edited === undefined ? "" : " changed this message to";
  const bot = message.author.isBot ? " (bot)" : "";
  const lines = [
    `[id ${escapeLabel(message.id, fence)}, ${timeOf(message.at)}] ${escapeLabel(message.author.name, fence)}${bot}${did}:`,
  ];
  if (forwarded !== false)
    lines.push(`  [Forwarded${forwarded === true ? "" : originOf(forwarded, fence)}]`);
  if (message.text !== "") lines.push(indent(escapeRoomText(message.text, fence)));
  for (const attachment of message.attachments) lines.push(attached(attachment, fence));
  for (const link of message.links ?? []) lines.push(linked(link, fence));
  if (message.replyTo !== null) lines.push(`  ${parentOf(message.replyTo, fence)}`);
  if (quote !== undefined) lines.push(`  ${quoted(quote, fence)}`);
  if (edited !== undefined) {
    const before = escapeLine(edited.before, quoteUnitsMax, fence);
    lines.push(`  [Earlier text] “${before}” [/Earlier text]`);
  }
  return lines.join("\n");
}

/** `[2025-11-21 04:40:00 UTC] Ann reacted 👍 to your message id:p1 “Hello”` */
function reacted(
  { id, at, author, text }: PromptMessage,
  { added, removed }: NonNullable<PromptMessage["reaction"]>,
  fence: string,
): string {
  const emoji = (list: readonly string[]) => escapeLine(list.join(" "), noteUnitsMax, fence);
  const instead = removed.length === 0 ? "" : ` instead of ${emoji(removed)}`;
  const did =
    added.length === 0
      ? `took back ${emoji(removed)} from`
      : `reacted ${emoji(added)}${instead} to`;
  const bot = author.isBot ? " (bot)" : "";
  const words = text === "" ? "" : ` “${escapeLine(text, quoteUnitsMax, fence)}”`;
  const name = `${escapeLabel(author.name, fence)}${bot}`;
  return `[${timeOf(at)}] ${name} ${did} your message id:${escapeLabel(id, fence)}${words}`;
}

const timeOf = (at: Millis): string =>
  `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** ` from Ann in “News” id:7, 2025-11-21 04:40:00 UTC`, as far as it is known. */
function originOf(
  { authorName, authorId, chat, messageId, sentAt }: Origin,
  fence: string,
): string {
  const author = authorName || authorId;
  const place = chat?.title || chat?.id;
  return [
    author === undefined ? "" : ` from ${escapeLabel(author, fence)}`,
    place === undefined ? "" : ` in “${escapeLabel(place, fence)}”`,
    messageId === undefined ? "" : ` id:${escapeLabel(messageId, fence)}`,
    sentAt === undefined ? "" : `, ${timeOf(sentAt)}`,
  ].join("");
}

function quoted({ text, from }: NonNullable<Inbound["quote"]>, fence: string): string {
  const origin = from === undefined ? "" : originOf(from, fence);
  const words = text === undefined ? "" : ` “${escapeLine(text, quotedPartUnitsMax, fence)}”`;
  return `[Quoting${origin}]${words} [/Quoting]`;
}

function parentOf(parent: NonNullable<PromptMessage["replyTo"]>, fence: string): string {
  const author = parent.authorIsSelf === true ? "you" : (parent.authorName ?? parent.authorId);
  const label = author === undefined ? "" : ` ${escapeLabel(author, fence)}`;
  const id = escapeLabel(parent.id, fence);
  const words =
    parent.text === undefined ? "" : ` “${escapeLine(parent.text, quoteUnitsMax, fence)}”`;
  return `[Replying to${label} id:${id}]${words} [/Replying]`;
}

/** One line of ours about an attachment, then its words, further in. */
function attached(attachment: PromptAttachment, fence: string): string {
  const { id, kind, mime, name, bytes, content, note, picture } = attachment;
  const facts = [kind, mime, name === undefined ? undefined : `“${name}”`]
    .filter((fact) => fact !== undefined)
    .map((fact) => escapeLabel(fact, fence));
  if (bytes !== undefined) facts.push(`${bytes} bytes`);
  if (picture !== undefined) facts.push(`picture ${picture} of this turn`);
  if (note !== undefined) facts.push(escapeLine(note, noteUnitsMax, fence));
  const line = `  [Attachment attachment_id:${escapeLabel(id, fence)}] ${facts.join(", ")}`;
  if (content === undefined) return line;
  return `${line}\n    ${escapeLabel(content.words, fence)}:\n${further(content.text, fence)}`;
}

function linked({ url, title, text, note }: PromptLink, fence: string): string {
  const facts = [
    escapeLine(url, urlUnitsMax, fence),
    ...(title === null ? [] : [`“${escapeLine(title, noteUnitsMax, fence)}”`]),
    ...(note === null ? [] : [escapeLine(note, noteUnitsMax, fence)]),
  ];
  const line = `  [Attachment link] ${facts.join(", ")}`;
  return text === null ? line : `${line}\n${further(text, fence)}`;
}

/** Words that somebody else found in what was sent: as little trusted as what was said. */
function further(text: string, fence: string): string {
  const shown = cut(text, limits.mediaShownUnitsMax);
  const more = shown.length < text.length ? "\n…" : "";
  return indent(indent(indent(`${escapeRoomText(shown, fence)}${more}`)));
}

/** Room text on one line of ours, cut to `unitsMax`. */
export function escapeLine(text: string, unitsMax: number, fence: string): string {
  const line = escapeRoomText(cut(text, unitsMax * 4), fence)
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= unitsMax ? line : `${cut(line, unitsMax - 1)}…`;
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
