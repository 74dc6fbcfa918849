/** WhatsApp Web's protocol, which WhatsApp does not document: the library's definitions of it. */
import { absent, type Column, contract, tested } from "./case.ts";

const messages = (name: string) => `messages.test.ts > ${name}`;
const definitions = "https://github.com/WhiskeySockets/Baileys/blob/master/WAProto/WAProto.proto";

export const whatsappLinked: Column = {
  edits: tested(messages("an edit is its author's, and a program cannot edit what others wrote")),
  deletions: tested(
    messages(
      "a deletion is the author's or an admin's, and a program cannot delete what others wrote",
    ),
  ),
  albums: tested(messages("the files of an album are one group, and its announcement is nothing")),
  captions: tested(messages("a file with a caption is its text and its file")),
  forwards: tested(messages("what is forwarded says so")),
  quotes: tested(messages("a reply has the author and the words of the other message")),
  threads: absent("chats have no threads: a reply names a message, and that is all", definitions),
  anonymous: tested(
    messages("a person who hides the number is known by the lid, for good once it is known so"),
  ),
  bots: absent("nothing in a message says that a program has written it", definitions),
  system: tested(messages("joins, a new name of the group and status updates are no messages")),
  moved: tested(
    messages("a person who begins to hide the number stays the same person, in the same chat"),
  ),
  gone: absent(
    "the server passes on nothing of a person who is blocked or has left the group",
    "https://faq.whatsapp.com/1142481766359885",
  ),
  rich: tested(messages("what is shown as code or as a quote is marked")),
  short: contract("always"),
  longest: contract("longest"),
  own: contract("echo"),
};
