/**
 * Chats of one session
 * ====================
 * A session may hold several chats, and platforms number messages within each of them: there an id
 * names a message only together with its chat. Where a session has one chat nothing is kept of it.
 */
import type { ChatPlace } from "../../domain/message.ts";
import type { ConversationSettings } from "../../domain/settings.ts";

/** A message that is remembered. */
export interface Placed {
  readonly id: string;
  /** Its chat; absent: the session has only one, or an older version has written it. */
  readonly chat?: string;
}

/** The chat of a place as it is remembered; undefined: the session has only one. */
export function chatOf(
  { severalChats }: Pick<ConversationSettings, "severalChats">,
  { channel, account, chat }: ChatPlace,
): string | undefined {
  return severalChats ? JSON.stringify([channel, account, chat.id]) : undefined;
}

/** What a message is known by in its session. */
export const placedIn = (
  settings: Pick<ConversationSettings, "severalChats">,
  message: ChatPlace & { readonly id: string },
): Placed => placed({ id: message.id }, chatOf(settings, message));

/** A message with its chat, whatever its session is: for comparing it with one that is remembered. */
export const nameOfMessage = (message: ChatPlace & { readonly id: string }): Placed =>
  placedIn({ severalChats: true }, message);

/** A message of a chat, as it is remembered. */
export const placed = <Message extends { readonly id: string }>(
  message: Message,
  chat: string | undefined,
): Message & Placed => (chat === undefined ? message : { ...message, chat });

/** Whether two are the same message. */
export const isSame = (one: Placed, other: Placed): boolean =>
  one.id === other.id &&
  (one.chat === undefined || other.chat === undefined || one.chat === other.chat);

/** No chat has a line break: it is JSON. */
const mark = "\n";

/** An id as a list remembers it. */
export const nameIn = (chat: string | undefined, id: string): string =>
  chat === undefined ? id : chat + mark + id;

/** The same of several. */
export const namesIn = (chat: string | undefined, ids: readonly string[]): readonly string[] =>
  chat === undefined ? ids : ids.map((id) => nameIn(chat, id));

/** The message of a name. */
export function placedOf(name: string): Placed {
  const end = name.indexOf(mark);
  return end === -1 ? { id: name } : { id: name.slice(end + 1), chat: name.slice(0, end) };
}

/** The ids of a list that may be of this chat. */
export function idsIn(list: readonly string[], chat: string | undefined): readonly string[] {
  if (chat === undefined) return list;
  const own = chat + mark;
  return list.flatMap((name) => {
    if (name.startsWith(own)) return [name.slice(own.length)];
    return name.includes(mark) ? [] : [name];
  });
}
