/**
 * From an engaged message to the batch of a turn. Lines that one person says in quick succession
 * gather in a forming batch; when its window closes it becomes a flush, and flushes wait in line
 * for turns.
 *
 * Order is never broken: batches close in the order of their first messages, media closes what is
 * open before it and goes by itself (an album together), and the first flush in line is the next
 * turn's. Only journal numbers are kept; the one line of text is for the note about what a full
 * queue dropped.
 */
import { limits } from "../../domain/limits.ts";
import { type AuthorId, type Millis, type Route, sameRoute } from "../../domain/message.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { DropReason, MessageRef } from "../events/effects.ts";
import { closesAt } from "./timing.ts";

/** An engaged message that no turn has taken yet. */
export interface PendingMessage {
  readonly seq: number;
  readonly id: string;
  readonly at: Millis;
  readonly author: AuthorId;
  readonly editSeq?: number;
  /** The reaction it carries until its turn is over; null: none. */
  readonly ack: string | null;
  /** What a "dropped while busy" note would say about it. */
  readonly gist: string;
  /** Its author wants the running turn to take it in. */
  readonly steer?: true;
}

/** A pending message as effects name it. */
export function refOf({ seq, id, editSeq }: MessageRef): MessageRef {
  return editSeq === undefined ? { seq, id } : { seq, id, editSeq };
}

interface Batch {
  readonly route: Route;
  readonly messages: readonly PendingMessage[];
  /** Typing is shown for it from the start. */
  readonly instant: boolean;
  /** Its authors count as credited while it waits. */
  readonly holds: boolean;
  /** Someone else has spoken in its place since. */
  readonly overtaken: boolean;
}

/** A batch whose window is open: lines of one author in one place. */
export interface Forming extends Batch {
  readonly author: AuthorId;
  /** The album it is; null: text. */
  readonly group: string | null;
  readonly firstAt: Millis;
  readonly closesAt: Millis;
}

/** A closed batch in line for a turn. */
export interface Flush extends Batch {
  /** A turn has run while it was in line: where the mode says so, it may share the next one. */
  readonly backlog: boolean;
  /** The running turn took it in after this many blocks; null: it did not. */
  readonly steeredAt: number | null;
  /** Sessions that somebody has begun since it was said; absent: none. */
  readonly past?: number;
}

/** An engaged message on its way into a batch. */
export interface Arrival {
  readonly message: PendingMessage;
  readonly route: Route;
  /** It waits for no other message: it has files, or is for the running turn. */
  readonly media: boolean;
  readonly group: string | null;
  readonly instant: boolean;
}

export interface Gathered {
  readonly forming: readonly Forming[];
  /** Batches that are closed by now, in order. */
  readonly closed: readonly Forming[];
}

type Debounce = ConversationSettings["debounce"];

/** The forming batches after one more message, and those that it closed. */
export function gather(
  forming: readonly Forming[],
  arrival: Arrival,
  debounce: Debounce,
): Gathered {
  const { at } = arrival.message;
  const due = closeDue(forming, at);
  const closed = [...due.closed];
  const open = [...due.forming];
  const place = joins(open, arrival);
  if (place === -1) {
    if (arrival.media) closed.push(...open.splice(0));
    open.push(begin(arrival, debounce));
  } else {
    const joined = open[place] as Forming;
    open[place] = {
      ...joined,
      messages: inOrder(joined.messages, arrival.message),
      closesAt: closesAt(joined.firstAt, at, debounce),
      instant: joined.instant || arrival.instant,
      holds: true,
      overtaken: false,
    };
  }
  const touched = place === -1 ? open.length - 1 : place;
  const alone = arrival.media && arrival.group === null;
  const full = (open[touched] as Forming).messages.length >= limits.batchMessagesCountMax;
  if (alone || full) closed.push(...open.splice(0, touched + 1));
  const settled = closeDue(open, at);
  return { forming: settled.forming, closed: [...closed, ...settled.closed] };
}

/** A message that was put to a judge may join later than what was said after it. */
function inOrder(
  messages: readonly PendingMessage[],
  one: PendingMessage,
): readonly PendingMessage[] {
  const after = messages.findIndex(({ seq }) => seq > one.seq);
  return after === -1 ? [...messages, one] : messages.toSpliced(after, 0, one);
}

/**
 * Splits off the batches whose window has closed by `at`. One waits for those that began before it;
 * that never takes it past its own cap, as the earlier ones' caps end sooner.
 */
export function closeDue(forming: readonly Forming[], at: Millis): Gathered {
  const open = forming.findIndex((batch) => batch.closesAt > at);
  if (open === 0 || forming.length === 0) return { forming, closed: [] };
  if (open === -1) return { forming: [], closed: forming };
  return { forming: forming.slice(open), closed: forming.slice(0, open) };
}

/** The author's own newest batch in that place, if the message may join it. */
function joins(open: readonly Forming[], { message, route, group, media }: Arrival): number {
  const place = open.findLastIndex(
    (batch) => batch.author === message.author && sameRoute(batch.route, route),
  );
  if (place === -1 || open[place]?.group !== group) return -1;
  return media && group === null ? -1 : place;
}

function begin({ message, route, group, instant }: Arrival, debounce: Debounce): Forming {
  return {
    author: message.author,
    route,
    group,
    messages: [message],
    instant,
    holds: true,
    overtaken: false,
    firstAt: message.at,
    closesAt: closesAt(message.at, message.at, debounce),
  };
}

/** A closed batch as it waits in the queue. */
export function flushOf(batch: Forming, backlog: boolean): Flush {
  const { route, messages, instant, holds, overtaken } = batch;
  return { route, messages, instant, holds, overtaken, backlog, steeredAt: null };
}

export interface Queued {
  readonly inbox: readonly Flush[];
  readonly dropped: readonly Flush[];
  readonly why: DropReason;
  /** Notes for the next prompt about what was dropped. */
  readonly notes: readonly string[];
}

/**
 * The line after one more flush. At the cap the policy says who goes; what goes is always named.
 */
export function enqueue(
  inbox: readonly Flush[],
  flush: Flush,
  { cap, drop }: ConversationSettings["queue"],
): Queued {
  const most = Math.max(1, Math.min(cap, limits.inboxFlushesMax));
  if (inbox.length < most)
    return { inbox: [...inbox, flush], dropped: [], why: "queue-cap-old", notes: [] };
  if (drop === "new") return { inbox, dropped: [flush], why: "queue-cap-new", notes: [] };
  const over = inbox.length + 1 - most;
  const dropped = inbox.slice(0, over);
  const kept = [...inbox.slice(over), flush];
  if (drop === "old") return { inbox: kept, dropped, why: "queue-cap-old", notes: [] };
  const notes = dropped.flatMap(({ messages }) => messages.map(({ gist }) => gist));
  return { inbox: kept, dropped, why: "queue-cap-summarized", notes };
}

export interface Taken {
  /** What the next turn answers, as one batch; null: nothing is in line. */
  readonly flush: Flush | null;
  readonly inbox: readonly Flush[];
  /** Older flushes that an interrupting one made void. */
  readonly dropped: readonly Flush[];
}

/**
 * Takes the next turn's batch out of the line. `collect` joins what piled up behind a turn for the
 * same place and session; `interrupt` goes straight to the newest of the same person in the same
 * place; all others take the first.
 */
export function takeNext(
  inbox: readonly Flush[],
  mode: ConversationSettings["queue"]["mode"],
): Taken {
  const [first, ...rest] = inbox;
  if (first === undefined) return { flush: null, inbox, dropped: [] };
  if (mode === "interrupt") {
    const own = inbox.filter((flush) => isSameAsker(first, flush));
    const newest = own.at(-1) as Flush;
    return {
      flush: newest,
      inbox: rest.filter((flush) => !own.includes(flush)),
      dropped: own.slice(0, -1),
    };
  }
  if (mode !== "collect" || !first.backlog) return { flush: first, inbox: rest, dropped: [] };
  return { ...collect(first, rest), dropped: [] };
}

/** A batch in line has one author: lines of several are joined only when a turn takes them. */
const isSameAsker = (one: Flush, other: Flush): boolean =>
  sameRoute(one.route, other.route) && one.messages[0]?.author === other.messages[0]?.author;

function collect(first: Flush, rest: readonly Flush[]): { flush: Flush; inbox: Flush[] } {
  let flush = first;
  const inbox: Flush[] = [];
  let full = false;
  for (const next of rest) {
    const room = flush.messages.length + next.messages.length <= limits.batchMessagesCountMax;
    // Once one had to stay behind, later ones may not overtake it.
    if (sameRoute(first.route, next.route) && !room) full = true;
    if (first.past !== next.past) full = true;
    if (full || !sameRoute(first.route, next.route)) {
      inbox.push(next);
      continue;
    }
    flush = {
      ...flush,
      messages: [...flush.messages, ...next.messages],
      instant: flush.instant || next.instant,
      holds: flush.holds || next.holds,
      overtaken: next.overtaken,
    };
  }
  return { flush, inbox };
}
