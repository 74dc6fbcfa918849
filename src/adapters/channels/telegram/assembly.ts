/**
 * Messages that Telegram sends in parts
 * =====================================
 * An album is one message for each file, and a long paste is one message for each 4,096 characters.
 * Here they are one again: parts are held until the last one is there, and what follows them in the
 * same chat waits behind them, so the order stays.
 *
 * What is held is part of the account's cursor (`gateway.ts`): Telegram considers it
 * delivered, so it must survive a crash. The ids of parts that were merged stand there, too, as a
 * repeated part of an album would otherwise be a message of its own.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import {
  deletionSchema,
  editSchema,
  type Inbound,
  inboundSchema,
  isForwarded,
  type Millis,
  momentMax,
  reactionSchema,
} from "../../../domain/message.ts";
import { type ChannelEvent, placeOf } from "../../../domain/ports/index.ts";
import { businessIn } from "./chats.ts";
import { telegramTextLimit } from "./config.ts";

/** Telegram sends an album at once; its parts are ms apart. */
const albumGapMs = 500;
/** Clients send the parts of a paste one after the other, each when the last one is confirmed. */
const pasteGapMs = 1_500;
/** Telegram's limit: https://core.telegram.org/bots/api#sendmediagroup. */
const albumPartsMax = 10;
/** A client that cuts at a space or a line end sends a little less than the limit. */
const pasteUnitsMin = 4_000;

const eventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), message: inboundSchema }),
  z.object({ type: z.literal("edit"), edit: editSchema }),
  z.object({ type: z.literal("delete"), deletion: deletionSchema }),
  z.object({ type: z.literal("reaction"), reaction: reactionSchema }),
]);
const heldSchema = z.union([
  z.object({
    parts: z.array(inboundSchema).min(1),
    /** When no further part is expected. */
    until: z.number().int().min(0).max(momentMax),
  }),
  z.object({ event: eventSchema }),
]);
const assemblySchema = z.object({
  held: z.array(heldSchema).max(limits.heldEventsMax),
  merged: z.array(z.string()).max(limits.mergedPartsMax),
});

type Parts = { readonly parts: readonly Inbound[]; readonly until: Millis };
type Held = Parts | { readonly event: ChannelEvent };

/** What an account holds back, in the order of arrival. */
export interface Assembly {
  readonly held: readonly Held[];
  /** Parts of the newest merged messages, as `<chat>/<id>`. */
  readonly merged: readonly string[];
}

export const emptyAssembly: Assembly = { held: [], merged: [] };

/**
 * Reads the form that `storedAssembly` returns.
 * @throws SyntaxError or ZodError for any other text.
 */
export function readAssembly(stored: string): Assembly {
  return assemblySchema.parse(JSON.parse(stored));
}

/** One line of JSON; empty if nothing is held and nothing was merged. */
export function storedAssembly({ held, merged }: Assembly): string {
  return held.length + merged.length === 0 ? "" : JSON.stringify({ held, merged });
}

/** When the next held message can be released; null: nothing is held. */
export function nextRelease({ held }: Assembly): Millis | null {
  // The first of each chat: the others wait for it, whether they are complete or not.
  const first = new Map<string, Millis>();
  for (const entry of held)
    if ("parts" in entry && !first.has(chatOf(entry))) first.set(chatOf(entry), entry.until);
  return first.size === 0 ? null : Math.min(...first.values());
}

/** Whether an event is a part, a repeated part, or has to wait behind one. */
export function concerns({ held, merged }: Assembly, event: ChannelEvent): boolean {
  const chat = placeOf(event).chat.id;
  return (
    held.some((entry) => chatOf(entry) === chat) ||
    (event.type === "message" && (opens(event.message) || merged.includes(keyOf(event.message))))
  );
}

/**
 * Adds events in the order of their arrival.
 * @param now the time of their arrival, ms
 * @returns what is complete, in order, and what is held after that
 */
export function assemble(
  { held, merged }: Assembly,
  events: readonly ChannelEvent[],
  now: Millis,
): { readonly ready: readonly ChannelEvent[]; readonly next: Assembly } {
  const waiting = [...held];
  for (const event of events) add(waiting, merged, event, now);
  const ready: ChannelEvent[] = [];
  const kept: Held[] = [];
  const ids = [...merged];
  const blocked = new Set<string>();
  const isFull = waiting.length > limits.heldEventsMax;
  for (const entry of waiting) {
    const chat = chatOf(entry);
    const waits = blocked.has(chat) || ("parts" in entry && entry.until > now);
    if (waits && !isFull) {
      blocked.add(chat);
      kept.push(entry);
    } else if ("event" in entry) ready.push(entry.event);
    else {
      ready.push({ type: "message", message: merge(entry.parts) });
      if (entry.parts.length > 1) ids.push(...entry.parts.map(keyOf));
    }
  }
  return { ready, next: { held: kept, merged: ids.slice(-limits.mergedPartsMax) } };
}

function add(waiting: Held[], merged: readonly string[], event: ChannelEvent, now: Millis): void {
  if (event.type === "edit" && editHeld(waiting, event)) return;
  if (event.type !== "message") {
    waiting.push({ event });
    return;
  }
  const { message } = event;
  if (merged.includes(keyOf(message)) || isHeld(waiting, message)) return;
  const at = waiting.findLastIndex((entry) => "parts" in entry && continues(entry, message));
  const entry = waiting[at];
  if (entry !== undefined && "parts" in entry) {
    const parts = [...entry.parts, message];
    waiting[at] = { parts, until: untilOf(parts, now) };
    return;
  }
  endPaste(waiting, message, now);
  if (opens(message)) waiting.push({ parts: [message], until: untilOf([message], now) });
  else waiting.push({ event });
}

function isHeld(waiting: readonly Held[], message: Inbound): boolean {
  const key = keyOf(message);
  return waiting.some(
    (entry) => "parts" in entry && entry.parts.some((part) => keyOf(part) === key),
  );
}

/** Changes the text of a held part; false if the edited message is not held. */
function editHeld(waiting: Held[], { edit }: ChannelEvent & { type: "edit" }): boolean {
  const key = keyOf(edit);
  for (const [at, entry] of waiting.entries()) {
    if (!("parts" in entry) || !entry.parts.some((part) => keyOf(part) === key)) continue;
    const parts = entry.parts.map((part): Inbound => {
      if (keyOf(part) !== key) return part;
      const { verbatim: _, ...rest } = part;
      return { ...rest, text: edit.text };
    });
    waiting[at] = { parts, until: entry.until };
    return true;
  }
  return false;
}

/** Whether a message may be the first of several parts. */
const opens = (message: Inbound) => message.groupId !== undefined || isLongText(message);

const isLongText = (message: Inbound) => isPlain(message) && message.text.length >= pasteUnitsMin;

/** Notices of what happened in a chat are nobody's text. */
const isPlain = (message: Inbound) =>
  message.groupId === undefined &&
  message.attachments.length === 0 &&
  !message.explicitOnly &&
  !isForwarded(message);

function continues({ parts }: Parts, message: Inbound): boolean {
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined || !isFromSame(first, message)) return false;
  if (first.groupId !== undefined) return first.groupId === message.groupId;
  const units = parts.reduce((sum, { text }) => sum + text.length + 1, message.text.length);
  return (
    isLongText(last) &&
    isPlain(message) &&
    message.replyTo === null &&
    message.quote === undefined &&
    units <= limits.textUnitsMax
  );
}

const isFromSame = (a: Inbound, b: Inbound) =>
  a.chat.id === b.chat.id &&
  a.author.id === b.author.id &&
  (a.thread?.id ?? null) === (b.thread?.id ?? null);

/** Who writes something else has ended the paste before it. */
function endPaste(waiting: Held[], message: Inbound, now: Millis): void {
  for (const [at, entry] of waiting.entries()) {
    if (!("parts" in entry)) continue;
    const [first] = entry.parts;
    if (first === undefined || first.groupId !== undefined || !isFromSame(first, message)) continue;
    waiting[at] = { parts: entry.parts, until: Math.min(entry.until, now) };
  }
}

function untilOf(parts: readonly Inbound[], now: Millis): Millis {
  const last = parts.at(-1);
  if (last?.groupId !== undefined) return parts.length >= albumPartsMax ? now : now + albumGapMs;
  return last !== undefined && isLongText(last) ? now + pasteGapMs : now;
}

/** An album has the id of its first part with a caption: that is what people see and reply to. */
function merge(parts: readonly Inbound[]): Inbound {
  const [first] = parts as readonly [Inbound];
  if (parts.length === 1) return first;
  const isAlbum = first.groupId !== undefined;
  // Webhooks with several connections may change the order of an album.
  const ordered = isAlbum ? parts.toSorted((a, b) => numberOf(a) - numberOf(b)) : parts;
  const lead = (isAlbum ? ordered.find(({ text }) => text !== "") : first) ?? ordered[0] ?? first;
  let text = "";
  const verbatim: [number, number][] = [];
  for (const [index, part] of ordered.entries()) {
    if (part.text === "") continue;
    // A part that is shorter than the limit was cut at a line end or a space, which is not sent.
    const isCut = !isAlbum && ordered[index - 1]?.text.length === telegramTextLimit;
    if (text !== "" && !isCut) text += "\n";
    for (const [from, to] of part.verbatim ?? [])
      verbatim.push([text.length + from, text.length + to]);
    text += part.text;
  }
  const mentions = new Map(ordered.flatMap((part) => part.mentions.map((one) => [one.id, one])));
  const { groupId: _, verbatim: __, ...rest } = lead;
  return {
    ...rest,
    text: text.slice(0, limits.textUnitsMax),
    mentions: [...mentions.values()].slice(0, limits.mentionsCountMax),
    replyTo: ordered.find(({ replyTo }) => replyTo !== null)?.replyTo ?? null,
    attachments: ordered
      .flatMap(({ attachments }) => attachments)
      .slice(0, limits.attachmentsCountMax),
    ...(verbatim.length === 0 ? {} : { verbatim: verbatim.slice(0, limits.mentionsCountMax) }),
  };
}

const chatOf = (entry: Held): string =>
  "event" in entry ? placeOf(entry.event).chat.id : (entry.parts[0]?.chat.id ?? "");

/** A customer's chat with a business account has the id of the customer's chat with the bot. */
const keyOf = ({ chat, thread, id }: Pick<Inbound, "chat" | "thread" | "id">) =>
  thread !== null && businessIn({ thread }) !== null ? `${thread.id}/${id}` : `${chat.id}/${id}`;

/** Telegram's number in an id such as `7` or `-1005/7`. */
const numberOf = ({ id }: Inbound) => Number(id.slice(id.lastIndexOf("/") + 1));
