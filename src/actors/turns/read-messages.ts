/**
 * Messages as a prompt shows them, read from the journal by number: each with its latest edit, and
 * with them what else was heard: reactions, and edits of messages that a turn has read before. What
 * is pruned is left out, and so is what the caller knows to be deleted.
 */
import { decodeVerdict, type Rule } from "../../domain/decision.ts";
import { type Inbound, inOneChat } from "../../domain/message.ts";
import type { EventRow, Store } from "../../domain/ports/index.ts";
import type { TurnLevels } from "../../domain/session.ts";
import type { MessageRef } from "../../machines/events/effects.ts";
import type { JournalEvent, MessageEdited, MessageReacted } from "../../machines/events/events.ts";
import type { PromptMessage } from "../../machines/prompt/envelope.ts";
import { decodeEvent } from "../protocol/event-codec.ts";
import { type FoundMessage, messagesOf } from "./attachment-names.ts";
import { type Deletions, isGone } from "./deletions.ts";
import type { Media } from "./media.ts";

export interface ReadPorts {
  readonly store: Pick<Store, "events">;
  readonly media: Pick<Media, "known">;
}

/** What was said or done in the room. */
export interface Overheard extends PromptMessage {
  readonly author: PromptMessage["author"] & { readonly id: string };
  /** Title of its thread or topic. */
  readonly topic?: string | undefined;
}

/** A message, with the rule that decided on it. */
export interface BatchMessage extends Overheard {
  readonly title: string | undefined;
  readonly rule: Rule | null;
  readonly levels: TurnLevels;
  readonly byOwner: boolean;
  /** The skill it asks for. */
  readonly skill: string | null;
  readonly found: FoundMessage;
}

type Rows = ReadonlyMap<number, EventRow>;

async function rowsOf({ store }: ReadPorts, refs: readonly MessageRef[]): Promise<Rows> {
  const seqs = refs
    .flatMap(({ seq, editSeq, was }) => [seq, editSeq, was?.seq, was?.editSeq])
    .filter((seq) => seq !== undefined);
  return new Map((await store.events([...new Set(seqs)])).map((row) => [row.seq, row]));
}

/** Reads messages by journal number, with their edits; missing ones are left out. */
export async function readMessages(
  ports: ReadPorts,
  refs: readonly MessageRef[],
): Promise<BatchMessage[]> {
  const rows = await rowsOf(ports, refs);
  return refs.flatMap((ref) => messageOf(ports, ref, rows) ?? []);
}

/**
 * The same with all else that was heard, but without what is deleted. `missing` counts what is not
 * known any more.
 */
export async function readOverheard(
  ports: ReadPorts,
  refs: readonly MessageRef[],
  gone: Deletions = new Map(),
): Promise<{ readonly shown: readonly Overheard[]; readonly missing: number }> {
  const rows = await rowsOf(ports, refs);
  const read = refs.map((ref) => overheardOf(ports, ref, rows, gone));
  const shown = netReactions(read.flatMap((one) => one ?? []));
  return { shown, missing: read.filter((one) => one === null).length };
}

/** Null: it is not known any more. */
function overheardOf(
  ports: ReadPorts,
  ref: MessageRef,
  rows: Rows,
  gone: Deletions,
): readonly Overheard[] | null {
  const row = rows.get(ref.seq);
  const event = row === undefined ? null : decodeEvent(row);
  if (event?.type === "message.reacted") return [reactionOf(event)];
  if (event?.type === "message.edited") return editOf(ports, ref, event, rows, gone);
  const message = messageOf(ports, ref, rows);
  if (message === null) return null;
  return isGone(message.found.inbound, gone) ? [] : [message];
}

function messageOf(
  { media }: ReadPorts,
  { seq, id, editSeq }: MessageRef,
  rows: Rows,
): BatchMessage | null {
  const row = rows.get(seq);
  const event = row === undefined ? null : decodeEvent(row);
  const message = row === undefined || event === null ? null : messageIn(row, event, id);
  if (row === undefined || event === null || message === null) return null;
  const edited = editSeq === undefined ? null : editedText(rows.get(editSeq), message.inbound);
  const { author, replyTo, sentAt, chat, thread, quote, forwarded } = message.inbound;
  return {
    id,
    // A message cannot be later than its receipt, whatever the platform's clock says.
    at: Math.min(sentAt ?? message.at, message.at),
    author: { id: author.id, name: author.name, isBot: author.isBot },
    text: edited ?? message.inbound.text,
    attachments: media.known(message).attachments,
    replyTo,
    quote,
    forwarded,
    title: chat.title,
    topic: thread?.title,
    rule: decodeVerdict(row.code ?? 0)?.rule ?? null,
    ...messagesIn(event),
    found: edited === null ? message : withText(message, edited),
  };
}

const withText = (message: FoundMessage, text: string): FoundMessage => ({
  ...message,
  inbound: { ...message.inbound, text },
});

/** The message with this id in a row: its message, or one of a history. */
function messageIn(row: EventRow, event: JournalEvent, id: string): FoundMessage | null {
  const found = messagesOf(row, event);
  return event.type === "message.received"
    ? (found[0] ?? null)
    : (found.find(({ inbound }) => inbound.id === id) ?? null);
}

function messagesIn(event: JournalEvent): Pick<BatchMessage, "levels" | "byOwner" | "skill"> {
  if (event.type !== "message.received") return { levels: {}, byOwner: false, skill: null };
  const { levels = {}, authority, skill = null } = event;
  return { levels, byOwner: authority.owner, skill };
}

function editedText(row: EventRow | undefined, message: Inbound): string | null {
  if (row === undefined) return null;
  const event = decodeEvent(row);
  if (event.type !== "message.edited" || !inOneChat(event.edit, message)) return null;
  return event.edit.text;
}

/** An edit with the text that a turn has read; nothing where both are the same. */
function editOf(
  ports: ReadPorts,
  { id, was }: MessageRef,
  { at, edit }: MessageEdited,
  rows: Rows,
  gone: Deletions,
): readonly Overheard[] {
  const before = was === undefined ? null : messageOf(ports, { id, ...was }, rows);
  const { text, editedAt = at } = edit;
  if (before === null || before.text === text) return [];
  const { inbound } = before.found;
  if (!inOneChat(edit, inbound) || isGone(inbound, gone)) return [];
  const { author } = before;
  const edited = { before: before.text };
  return [{ id, at: Math.min(editedAt, at), author, text, attachments: [], replyTo: null, edited }];
}

function reactionOf({ at, reaction }: MessageReacted): Overheard {
  const { id, author, added, removed, text = "", reactedAt = at } = reaction;
  return {
    id,
    at: Math.min(reactedAt, at),
    author: { id: author.id, name: author.name, isBot: author.isBot },
    text,
    attachments: [],
    replyTo: null,
    reaction: { added, removed },
  };
}

/** The reactions of one author to one message as one, where the last of them is. */
function netReactions(read: readonly Overheard[]): readonly Overheard[] {
  const net = new Map<string, { readonly last: Overheard; readonly all: Overheard }>();
  const nameOf = ({ author, id }: Overheard) => JSON.stringify([author.id, id]);
  for (const message of read) {
    const { reaction: now } = message;
    if (now === undefined) continue;
    const { added, removed } = net.get(nameOf(message))?.all.reaction ?? { added: [], removed: [] };
    const reaction = {
      added: [...new Set([...added.filter((one) => !now.removed.includes(one)), ...now.added])],
      removed: [
        ...removed.filter((one) => !now.added.includes(one)),
        ...now.removed.filter((one) => !added.includes(one)),
      ],
    };
    net.set(nameOf(message), { last: message, all: { ...message, reaction } });
  }
  return read.flatMap((message) => {
    if (message.reaction === undefined) return [message];
    const { last, all } = net.get(nameOf(message)) ?? { last: null, all: message };
    const { added = [], removed = [] } = all.reaction ?? {};
    return last === message && added.length + removed.length > 0 ? [all] : [];
  });
}
