/**
 * From Meta's payloads to events
 * ==============================
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages
 * A reply names the author and the id of the other message, not its text. Mentions in groups stand in the text
 * as @ and the number. Edits and deletions are reported only for numbers that are used in the WhatsApp
 * Business app as well.
 */
import { limits } from "../../../domain/limits.ts";
import type { Inbound } from "../../../domain/message.ts";
import type { ChannelEvent } from "../../../domain/ports/index.ts";
import { cut } from "../../../domain/sanitize.ts";
import { verbatimIn } from "../shared/whatsapp-marks.ts";
import { contentOf } from "./content.ts";
import type { WhatsAppPeople } from "./people.ts";
import type { WhatsAppContent, WhatsAppMessage, WhatsAppValue } from "./wire.ts";

export interface Receiver {
  readonly account: string;
  /** The digits of the account's own number. */
  readonly self: string;
  readonly people: WhatsAppPeople;
}

type Contacts = NonNullable<WhatsAppValue["contacts"]>;
type Author = Inbound["author"];

export const digitsOf = (number: string) => number.replace(/\D/g, "");

/** The event of a message; null: it is none for a conversation. */
export function eventOf(
  message: WhatsAppMessage,
  contacts: Contacts,
  receiver: Receiver,
): ChannelEvent | null {
  const address = message.from ?? message.from_user_id;
  if (address === undefined) return null;
  const author = authorOf(address, message, contacts, receiver);
  const place = placeOf(message, address, author, receiver);
  const at = Number(message.timestamp) * 1_000;
  switch (message.type) {
    case "system":
      return null;
    case "reaction": {
      if (message.reaction === undefined) return null;
      const { message_id, emoji } = message.reaction;
      // A removal does not say which one: a person has one at most.
      const change = emoji
        ? { added: [emoji], removed: [] }
        : { added: [], removed: receiver.people.reactions.get(`${message_id} ${author.id}`) ?? [] };
      receiver.people.reactions.set(`${message_id} ${author.id}`, change.added);
      return {
        type: "reaction",
        reaction: {
          ...place,
          ...change,
          id: message_id,
          author,
          reactedAt: at,
          reactionId: message.id,
        },
      };
    }
    case "revoke":
      if (message.revoke === undefined) return null;
      return { type: "delete", deletion: { ...place, id: message.revoke.original_message_id } };
    case "edit": {
      if (message.edit === undefined) return null;
      const { original_message_id: id, message: edited } = message.edit;
      const { text } = contentOf(edited);
      return {
        type: "edit",
        edit: { ...place, id, text, author, editedAt: at, editId: message.id },
      };
    }
    default:
      return { type: "message", message: inboundOf(message, { author, place, at }, receiver) };
  }
}

function inboundOf(
  message: WhatsAppMessage,
  { author, place, at }: { author: Author; place: ReturnType<typeof placeOf>; at: number },
  receiver: Receiver,
): Inbound {
  const { text, attachments, isKnown } = contentOf(message);
  const isForwarded =
    message.context?.forwarded === true || message.context?.frequently_forwarded === true;
  const verbatim = message.text === undefined ? [] : verbatimIn(text);
  return {
    ...place,
    id: message.id,
    author,
    text: cut(text, limits.textUnitsMax),
    mentions: message.group_id === undefined ? [] : mentionsIn(text, receiver),
    mentionsEveryone: false,
    replyTo: replyOf(message.context, receiver),
    attachments: [...attachments],
    explicitOnly: !isKnown,
    sentAt: at,
    ...(isForwarded && { forwarded: true }),
    ...(verbatim.length > 0 && { verbatim }),
  };
}

function authorOf(
  address: string,
  { from, from_user_id }: WhatsAppMessage,
  contacts: Contacts,
  { people, self }: Receiver,
): Author {
  const contact = contacts.find(
    ({ wa_id, user_id }) =>
      (from !== undefined && wa_id === from) ||
      (from_user_id !== undefined && user_id === from_user_id),
  );
  const id = people.idOf(address);
  const { name, username } = contact?.profile ?? {};
  return {
    id,
    name: name || username || address,
    ...(username !== undefined && { username }),
    isBot: false,
    isSelf: address === self,
  };
}

function placeOf(
  { group_id }: WhatsAppMessage,
  address: string,
  author: Author,
  { account }: Receiver,
) {
  const chat =
    group_id === undefined
      ? {
          id: author.id,
          kind: "direct" as const,
          title: author.name,
          ...(author.id !== address && { movedTo: address }),
        }
      : { id: group_id, kind: "group" as const };
  return { channel: "whatsapp", account, chat, thread: null };
}

function replyOf(
  context: WhatsAppContent["context"],
  { people, self }: Receiver,
): Inbound["replyTo"] {
  if (context?.id === undefined) return null;
  const from = context.from ?? context.from_user_id;
  if (from === undefined) return { id: context.id };
  const digits = digitsOf(from);
  return from === self || digits === self
    ? { id: context.id, authorId: self, authorIsSelf: true }
    : { id: context.id, authorId: people.idOf(from), authorIsSelf: false };
}

function mentionsIn(text: string, { self, people }: Receiver): Inbound["mentions"] {
  const numbers = [...text.matchAll(/(?<![\w@])@\+?(\d{7,15})(?!\d)/g)].map(([, digits]) => digits);
  return [...new Set(numbers)].slice(0, limits.mentionsCountMax).flatMap((digits) => {
    if (digits === undefined) return [];
    return [{ id: digits === self ? self : people.idOf(digits), isSelf: digits === self }];
  });
}
