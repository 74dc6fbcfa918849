/**
 * Agents refer to an attachment by the journal number of its message and its index. That name
 * reveals nothing of the platform and resolves only through the journal row, which says whose
 * conversation it belongs to. Cached files have another name: a hash of everything that identifies
 * the file, so it is found again after a restart and never confused.
 */
import { limits } from "../../domain/limits.ts";
import type { Attachment, Inbound } from "../../domain/message.ts";
import type { Digest, EventRow, MediaItem, MediaLink } from "../../domain/ports/index.ts";
import { cut, oneLine } from "../../domain/sanitize.ts";
import type { JournalEvent } from "../../machines/events/events.ts";
import type { PromptAttachment } from "../../machines/prompt/envelope.ts";
import { decodeEvent } from "../protocol/event-codec.ts";

export interface MediaRef {
  readonly name: string;
  readonly item: MediaItem;
}

/** A message and its journal row. */
export interface FoundMessage {
  readonly seq: number;
  readonly conv: number;
  readonly inbound: Inbound;
  /** When it was received. */
  readonly at: number;
  /** Attachments of the row before this message's own. */
  readonly offset: number;
}

const cachedNameUnits = 40;

function hashed(digest: Digest, ...parts: readonly (string | number)[]): string {
  return digest(JSON.stringify(parts)).slice(0, cachedNameUnits);
}

/** `a12-0`: the first attachment of journal row 12. */
export const attachmentName = (seq: number, index: number): string => `a${seq}-${index}`;

/** Parses a name; null when it is malformed. */
export function parseAttachmentName(name: string): { seq: number; index: number } | null {
  const found = /^a([1-9]\d{0,14})-(\d{1,5})$/.exec(name);
  return found === null ? null : { seq: Number(found[1]), index: Number(found[2]) };
}

/** The messages of a row: one, or those of a history. */
export const messagesIn = (row: EventRow): FoundMessage[] => messagesOf(row, decodeEvent(row));

export function messagesOf(
  { seq, conv }: Pick<EventRow, "seq" | "conv">,
  event: JournalEvent,
): FoundMessage[] {
  if (event.type === "message.received" || event.type === "fellow.spoke")
    return [{ seq, conv, inbound: event.message, at: event.at, offset: 0 }];
  if (event.type !== "history.seeded") return [];
  let offset = 0;
  return event.messages.map((inbound) => {
    const found = { seq, conv, inbound, at: event.at, offset };
    offset += inbound.attachments.length;
    return found;
  });
}

export function refsOf({ seq, conv, inbound, offset }: FoundMessage, digest: Digest): MediaRef[] {
  const { channel, account, chat, id: message } = inbound;
  return inbound.attachments.map((attachment: Attachment, place) => {
    const index = offset + place;
    const id = hashed(digest, conv, seq, index, channel, account, chat.id, message, attachment.id);
    return { name: attachmentName(seq, index), item: { id, channel, account, attachment } };
  });
}

const urlUnitsMax = 2_048;
/** Links end at blanks, quotes and brackets, which Markdown and people put around them. */
const linkPattern = /https?:\/\/[^\s<>"'`{}|\\^[\]]{1,2048}/giu;
const textUnitsLookedAt = 16_384;

/** The distinct links of a text, in order. */
export function linksIn(conv: number, text: string, countMax: number, digest: Digest): MediaLink[] {
  const urls = new Set<string>();
  for (const [found] of text.slice(0, textUnitsLookedAt).matchAll(linkPattern)) {
    if (urls.size >= countMax) break;
    // Punctuation after a link belongs to the sentence.
    const url = found.replace(/[.,;:!?*_~)]{1,8}$/u, "");
    if (url.length <= urlUnitsMax && URL.canParse(url)) urls.add(url);
  }
  return [...urls].map((url) => ({ id: hashed(digest, "link", conv, url), url }));
}

interface Spoken {
  readonly text: string;
  /** It is how a message reads now. */
  readonly edited?: { readonly before: string } | undefined;
  readonly attachments: readonly PromptAttachment[];
}
const joined = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n");

/** A message's own text and the transcripts of its voice messages. */
export function ownText({ text, attachments }: Spoken): string {
  const transcripts = attachments.flatMap(({ content }) =>
    content?.words === "transcript" ? [content.text] : [],
  );
  return joined([text, ...transcripts]);
}

const quotedUnitsMax = 280;

const editLine = (before: string): string => `[changed “${oneLine(before, quotedUnitsMax)}” to]`;

/** A message's text with its files by name, for the transcript and for steering. */
export function textWithFiles(message: Spoken): string {
  const files = message.attachments.flatMap(({ id, kind, name, content }) => {
    if (content?.words === "transcript") return [];
    const what = `${kind} ${id}${name === undefined ? "" : ` “${oneLine(name)}”`}`;
    if (content === undefined) return [`[${what}]`];
    return [`[${what}: ${cut(content.text, limits.mediaShownUnitsMax)}]`];
  });
  const edit = message.edited === undefined ? [] : [editLine(message.edited.before)];
  return joined([...edit, ownText(message), ...files]);
}
