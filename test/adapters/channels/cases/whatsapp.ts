/** WhatsApp's Cloud API: https://developers.facebook.com/documentation/business-messaging/whatsapp. */
import { absent, type Column, contract, tested } from "./case.ts";

const messages = (name: string) => `messages.test.ts > ${name}`;
const webhooks =
  "https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages";

export const whatsapp: Column = {
  edits: tested(messages("an edit and a deletion name the message that they change")),
  deletions: tested(messages("an edit and a deletion name the message that they change")),
  albums: absent(
    "each picture of an album is a message of its own, and none names the others",
    webhooks,
  ),
  captions: tested(messages("%s with a caption is its text and its file")),
  forwards: tested(messages("what is %s says so")),
  quotes: tested(messages("a reply names the message and whose it is: ours, or somebody's")),
  threads: absent("chats have no threads: a reply names a message, and that is all", webhooks),
  anonymous: tested(
    messages("a person who shows no number is known by the id that they have for this business"),
  ),
  bots: absent("nothing in a message says that a program has written it", webhooks),
  system: tested(
    messages("a system message says nothing: neither a new number nor a new identity"),
  ),
  moved: tested(
    "payloads.test.ts > after a change of number the conversation goes on, and the number's next owner is another",
  ),
  gone: absent(
    "who is blocked can send nothing to the business",
    "https://developers.facebook.com/documentation/business-messaging/whatsapp/block-users",
  ),
  rich: tested(
    messages("what WhatsApp shows as code or as a quote is marked, the rest is what was typed"),
  ),
  short: contract("always"),
  longest: contract("longest"),
  own: tested(messages("what another client of the account's number has sent is ours")),
};
