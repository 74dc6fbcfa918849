/**
 * History of the webchat's session
 * ================================
 * The journal is the only record of the chat, and this is a view of it: messages and delivered
 * reply parts, in journal order, each under the number of its row. The session may be shared with
 * direct chats of other channels; their messages are included and marked with the channel. It is
 * read forward from its last position, never beyond a number that was durable before the read
 * began, so numbers only grow, and a page that has everything up to a number has missed nothing.
 */

import { deliveryOf, isText, type TextBody } from "../../actors/outbox/row-body.ts";
import { conversationOf, decodeEvent, eventsIn } from "../../actors/protocol/event-codec.ts";
import type { AttachedFile } from "../../adapters/channels/webchat/protocol.ts";
import { decodeVerdict, type Verdict } from "../../domain/decision.ts";
import {
  type Attachment,
  type Millis,
  type Route,
  routeOf,
  sameRoute,
} from "../../domain/message.ts";
import type { OutgoingChoices, OutgoingMedia } from "../../domain/outgoing.ts";
import {
  type EventRow,
  noConversation,
  type OutboxRow,
  type Store,
} from "../../domain/ports/index.ts";
import type {
  AgentFailed,
  CommandAsked,
  DeliverySent,
  MessageReceived,
  SessionCompacted,
  SessionReset,
} from "../../machines/events/events.ts";

/** A person's message. */
export interface TakenEntry {
  readonly kind: "taken";
  readonly n: number;
  /** Unique here; for other channels it is more than the platform's id. */
  readonly id: string;
  /** The platform's id. */
  readonly message: string;
  /** The other channel it arrived through, and its author there; null: written on a page. */
  readonly via: { readonly channel: string; readonly by: string } | null;
  readonly at: Millis;
  readonly text: string;
  readonly attachments: readonly AttachedFile[];
  readonly verdict: Verdict | null;
}
/** A delivered reply part. */
export interface ReplyEntry {
  readonly kind: "said";
  readonly n: number;
  readonly id: string;
  readonly at: Millis;
  readonly text: string;
  readonly replyTo: string | null;
  readonly turnId: string;
  /** The other channel it went to; null: the pages. */
  readonly via: { readonly channel: string } | null;
  readonly attachments: readonly AttachedFile[];
  /** Buttons of a page; null: none. */
  readonly choices: OutgoingChoices | null;
}
/** A turn that was cut off, and what it had said that nobody got. */
export interface CutEntry {
  readonly kind: "cut";
  readonly n: number;
  readonly id: string;
  readonly at: Millis;
  readonly turnId: string;
  readonly outcome: "cancelled" | "failed";
  readonly text: string;
}
/** A session began, or was compacted. */
export interface BeganEntry {
  readonly kind: "session";
  readonly n: number;
  readonly id: string;
  readonly at: Millis;
  readonly why: "operator" | "command" | "policy" | "compaction" | "omission";
  readonly by: string | null;
}
export type WebchatEntry = TakenEntry | ReplyEntry | CutEntry | BeganEntry;
/** An entry of this kind. */
type Kind<Name extends WebchatEntry["kind"]> = Extract<WebchatEntry, { readonly kind: Name }>;

/** An entry's id: ids of other platforms repeat from chat to chat. */
export function entryId(
  { id, channel, chat }: { id: string; channel: string; chat: { id: string } | string },
  here: boolean,
): string {
  const place = typeof chat === "string" ? chat : chat.id;
  return here ? id : JSON.stringify([channel, place, id]);
}

/** A file of a message for pages: only files that pages uploaded are stored here. */
function shownFile({ id, url: _, ...file }: Attachment, here: boolean): AttachedFile {
  return here ? { id, ...file } : file;
}

/** A failure is shown where the agent was stopped, or had said something. */
function cutIn(row: EventRow, { at, turnId, code, unsent = "" }: AgentFailed): CutEntry | null {
  const outcome = code === "aborted" ? "cancelled" : "failed";
  if (outcome === "failed" && unsent === "") return null;
  const id = `${turnId} ${row.seq}`;
  return { kind: "cut", n: row.seq, id, at, turnId, outcome, text: unsent };
}

function beganIn({ seq }: EventRow, event: SessionReset | SessionCompacted): BeganEntry {
  const entry = { kind: "session", n: seq, id: `session ${seq}`, at: event.at, by: null } as const;
  if (event.type === "session.compacted")
    return { ...entry, why: event.summary ? "compaction" : "omission" };
  const { operator, cuts, by } = event;
  const why = operator === true ? "operator" : cuts === true ? "command" : "policy";
  return { ...entry, why, by: by ?? null };
}

/** Entries cached for pages that connect later. */
const entriesCountMax = 1_000;
/** Journal rows in the first read. */
const rowsBackMax = 200_000;

export interface WebchatHistoryOptions {
  readonly store: Pick<
    Store,
    "tail" | "lastSeqOf" | "numberBefore" | "outboxRow" | "eventsByMessage"
  >;
  /** Session keys of the chat; one for each agent that receives it. */
  readonly keys: () => readonly string[];
  readonly isHere: (place: Pick<Route, "channel" | "chat">) => boolean;
  /** Files stored with a delivered part; `media`: the file that it is, null: it is a text. */
  readonly filesOf: (
    part: string,
    media: OutgoingMedia | null,
    at: Millis,
  ) => Promise<readonly AttachedFile[]>;
}

export interface WebchatHistory {
  /** Reads new rows. Calls during a read share the next one. */
  refresh(): Promise<void>;
  /** Entries with a greater number, in order. */
  after(n: number): readonly WebchatEntry[];
  /** The entry of this kind and id, or null. */
  find<Name extends WebchatEntry["kind"]>(kind: Name, id: string): Kind<Name> | null;
  /** The messages, in order. */
  taken(): readonly TakenEntry[];
  /** Whether this row is shown once it is sent. */
  shows(row: OutboxRow): boolean;
  /** Whether a message of that platform id is here. */
  holds(message: string): boolean;
  /** A message's verdict became known after it was read. `id`: the entry's. */
  decided(id: string, verdict: Verdict): void;
  /** A delivered part has these files from now on. */
  attached(part: string, attachments: readonly AttachedFile[]): void;
  /** The number up to which everything was read. */
  readTo(): number;
}

export function createWebchatHistory(options: WebchatHistoryOptions): WebchatHistory {
  const { store, keys, isHere, filesOf } = options;
  let entries: WebchatEntry[] = [];
  let readTo = -1;
  /** The number up to which each conversation was read: those of several may come in any order. */
  const places = new Map<number, number>();

  const find: WebchatHistory["find"] = (kind, id) =>
    (entries.findLast((entry) => entry.kind === kind && entry.id === id) as
      | Kind<typeof kind>
      | undefined) ?? null;

  function takenOf(row: EventRow, { message, at }: MessageReceived): TakenEntry | null {
    const { id, channel, chat, author, text, attachments } = message;
    const here = isHere(message);
    if (!here && chat.kind !== "direct") return null;
    const verdict = row.code === null ? null : decodeVerdict(row.code);
    const via = here ? null : { channel, by: author.name };
    const files = attachments.map((file) => shownFile(file, here));
    const entry = { kind: "taken", n: row.seq, at, text, attachments: files, verdict } as const;
    return { ...entry, id: entryId(message, here), message: id, via };
  }

  /** The message of a command, which belongs to no conversation. */
  async function commandOf({ route, messageId }: CommandAsked): Promise<TakenEntry | null> {
    for (const row of await store.eventsByMessage(messageId)) {
      const event = row.conv === noConversation ? decodeEvent(row) : null;
      if (event?.type === "message.received" && sameRoute(routeOf(event.message), route))
        return takenOf(row, event);
    }
    return null;
  }

  /** The entry of a row; null: none. */
  function shownBody(row: OutboxRow): TextBody | null {
    const delivery = deliveryOf(row);
    if (!isText(delivery)) return null;
    const { route, draft, aside } = delivery.body;
    if (isHere(route)) return delivery.body;
    // On other channels a part may edit an earlier message, with its whole text.
    const isPart = route.chat.kind === "direct" && draft === undefined && aside === undefined;
    return isPart ? delivery.body : null;
  }

  async function replyOf(row: EventRow, event: DeliverySent): Promise<ReplyEntry | null> {
    const { turnId, at } = event;
    const id = `${turnId}:${event.index}`;
    const sent = await store.outboxRow(id);
    const body = sent === null ? null : shownBody(sent);
    if (body === null) return null;
    const { replyTo, route, media } = body;
    const via = isHere(route) ? null : { channel: route.channel };
    const attachments = via === null ? await filesOf(id, media ?? null, at) : [];
    // A file that is shown needs no text that names it.
    const text = media !== undefined && attachments.length > 0 ? media.caption : body.text;
    const choices = (via === null ? body.choices : undefined) ?? null;
    return { kind: "said", n: row.seq, id, at, text, replyTo, turnId, via, attachments, choices };
  }

  async function entryOf(row: EventRow): Promise<WebchatEntry | null> {
    const event = decodeEvent(row);
    if (event.type === "message.received") return takenOf(row, event);
    if (event.type === "delivery.sent") return replyOf(row, event);
    if (event.type === "session.reset" || event.type === "session.compacted")
      return beganIn(row, event);
    const cut = eventsIn(event).findLast((item) => item.type === "agent.failed");
    if (cut !== undefined) return cutIn(row, cut);
    if (event.type !== "command.applied" || event.asked === undefined) return null;
    return commandOf(event.asked);
  }

  async function newIn(key: string): Promise<readonly EventRow[]> {
    const { conv } = conversationOf(key);
    const limit = await store.lastSeqOf(conv);
    const from = places.get(conv) ?? (await store.numberBefore(limit, rowsBackMax));
    const rows = await store.tail(conv, from, limit + 1);
    places.set(conv, limit);
    return rows;
  }

  async function read(): Promise<void> {
    const tails = await Promise.all(keys().map(newIn));
    const rows = tails.flat().sort((a, b) => a.seq - b.seq);
    for (const row of rows) {
      const entry = await entryOf(row);
      if (entry !== null && find(entry.kind, entry.id) === null) entries.push(entry);
    }
    readTo = Math.max(0, ...places.values());
    // A command's message comes after the row of its effect.
    entries.sort((a, b) => a.n - b.n);
    entries = entries.slice(-entriesCountMax);
  }

  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    next = null;
    running = read().finally(() => {
      running = null;
    });
    return running;
  };
  return {
    refresh() {
      if (running === null) return start();
      next ??= running.catch(() => undefined).then(start);
      return next;
    },
    after: (n) => entries.filter((entry) => entry.n > n),
    find,
    taken: () => entries.filter((entry) => entry.kind === "taken"),
    shows: (row) => shownBody(row) !== null,
    holds: (message) =>
      entries.some((entry) => entry.kind === "taken" && entry.message === message),
    decided(id, verdict) {
      entries = entries.map((entry) =>
        entry.kind === "taken" && entry.id === id ? { ...entry, verdict } : entry,
      );
    },
    attached(part, attachments) {
      entries = entries.map((entry) =>
        entry.kind === "said" && entry.id === part ? { ...entry, attachments } : entry,
      );
    },
    readTo: () => Math.max(0, readTo),
  };
}
