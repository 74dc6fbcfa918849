/**
 * Messages as a prompt shows them, read from the journal by number: each with its latest edit, and
 * with them what else was heard: reactions, and edits of messages that a turn has read before. What
 * is deleted or pruned is left out.
 */
import { decodeVerdict, type Rule } from "../../domain/decision.ts";
import type { Inbound } from "../../domain/message.ts";
import type { EventRow, Store } from "../../domain/ports/index.ts";
import type { TurnLevels } from "../../domain/session.ts";
import type { MessageRef } from "../../machines/events/effects.ts";
import type { JournalEvent, MessageEdited, MessageReacted } from "../../machines/events/events.ts";
import type { PromptMessage } from "../../machines/prompt/envelope.ts";
import { deliveryOf, isText } from "../outbox/row-body.ts";
import { decodeEvent } from "../protocol/event-codec.ts";
import { type FoundMessage, messagesOf } from "./attachment-names.ts";
import type { Media } from "./media.ts";

export interface ReadPorts {
  readonly store: Pick<Store, "events" | "eventsByMessage" | "outboxRow" | "sessionOf">;
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
  const seqs = refs.flatMap(({ seq, editSeq }) => (editSeq === undefined ? [seq] : [seq, editSeq]));
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

/** The same with all else that was heard. `missing` counts what is not known any more. */
export async function readOverheard(
  ports: ReadPorts,
  refs: readonly MessageRef[],
): Promise<{ readonly shown: readonly Overheard[]; readonly missing: number }> {
  const rows = await rowsOf(ports, refs);
  const read = await Promise.all(refs.map((ref) => overheardOf(ports, ref, rows)));
  const shown = netReactions(read.flatMap((one) => one ?? []));
  return { shown, missing: read.filter((one) => one === null).length };
}

/** Null: it is not known any more. */
function overheardOf(
  ports: ReadPorts,
  ref: MessageRef,
  rows: Rows,
): readonly Overheard[] | Promise<readonly Overheard[]> | null {
  const row = rows.get(ref.seq);
  const event = row === undefined ? null : decodeEvent(row);
  if (row !== undefined && event?.type === "message.reacted") return reactionOf(ports, row, event);
  if (row !== undefined && event?.type === "message.edited")
    return editOf(ports, row, event, ref.since ?? ref.seq);
  const message = messageOf(ports, ref, rows);
  return message === null ? null : [message];
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
  const edited = editSeq === undefined ? null : editedText(rows.get(editSeq));
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

function editedText(row: EventRow | undefined): string | null {
  if (row === undefined) return null;
  const event = decodeEvent(row);
  return event.type === "message.edited" ? event.edit.text : null;
}

/**
 * An edit with the text that it replaces for the agent, which is the last one before `since`. Nothing
 * where both are the same, and where the message is unknown or of another session.
 */
async function editOf(
  ports: ReadPorts,
  { conv, seq }: EventRow,
  { at, edit }: MessageEdited,
  since: number,
): Promise<readonly Overheard[]> {
  const { id, channel, account, chat, text, editedAt = at } = edit;
  const rows = (await ports.store.eventsByMessage(id)).filter((row) => {
    const place = row.conv === conv ? textPlaceOf(decodeEvent(row)) : null;
    const isThere = place?.channel === channel && place.account === account;
    return isThere && place.chat.id === chat.id;
  });
  const [original] = rows;
  if (original === undefined || !(await isOneSession(ports, conv, original.seq, seq))) return [];
  const editSeq = rows.slice(1).findLast((row) => row.seq < since)?.seq;
  const ref = { id, seq: original.seq, ...(editSeq === undefined ? {} : { editSeq }) };
  const before = messageOf(ports, ref, new Map(rows.map((row) => [row.seq, row])));
  if (before === null || before.text === text) return [];
  const { author } = before;
  const edited = { before: before.text };
  return [{ id, at: Math.min(editedAt, at), author, text, attachments: [], replyTo: null, edited }];
}

/** Where a message or its edit was posted; null: it is neither. */
function textPlaceOf(event: JournalEvent): Pick<Inbound, "channel" | "account" | "chat"> | null {
  if (event.type === "message.received") return event.message;
  return event.type === "message.edited" ? event.edit : null;
}

async function isOneSession(
  { store }: ReadPorts,
  conv: number,
  first: number,
  second: number,
): Promise<boolean> {
  const [one, other] = await Promise.all([
    store.sessionOf(conv, first),
    store.sessionOf(conv, second),
  ]);
  return one?.sessionId === other?.sessionId;
}

async function reactionOf(
  { store }: ReadPorts,
  { conv }: EventRow,
  { at, reaction }: MessageReacted,
): Promise<readonly Overheard[]> {
  const { id, author, added, removed, reactedAt = at } = reaction;
  const message = {
    id,
    at: Math.min(reactedAt, at),
    author: { id: author.id, name: author.name, isBot: author.isBot },
    text: (await ownTextOf(store, conv, id)) ?? reaction.text ?? "",
    attachments: [],
    replyTo: null,
    reaction: { added, removed },
  };
  return [message];
}

/** The text of a message of ours, as it was sent last; null: it is no longer known. */
async function ownTextOf(
  store: ReadPorts["store"],
  conv: number,
  id: string,
): Promise<string | null> {
  const sent = (await store.eventsByMessage(id)).findLast((row) => row.conv === conv);
  const event = sent === undefined ? null : decodeEvent(sent);
  if (event?.type !== "delivery.sent") return null;
  const row = await store.outboxRow(`${event.turnId}:${event.index}`);
  const delivery = row === null ? null : deliveryOf(row);
  return delivery !== null && isText(delivery) ? delivery.body.text : null;
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
