/** XMPP: https://xmpp.org/extensions/. */
import { absent, type Column, contract, tested } from "./case.ts";

const messages = (name: string) => `messages.test.ts > ${name}`;

export const xmpp: Column = {
  edits: tested(
    "corrections.test.ts > a correction is the author's own; of another's message it is none",
  ),
  deletions: tested(messages("a retraction is the author's own, or a moderator's")),
  albums: absent(
    "out-of-band data has one address a message",
    "https://xmpp.org/extensions/xep-0066.html#x",
  ),
  captions: tested(messages("files come as attachments, and their address is no text")),
  forwards: absent(
    "a message inside another one is an archive's or a carbon: clients forward by copying",
    "https://xmpp.org/extensions/xep-0297.html#security",
  ),
  quotes: tested(
    messages("a reply without the quote for other clients, with the author of what was heard"),
  ),
  threads: absent(
    "a thread's id is a hint without a first message, and clients do not show it",
    "https://xmpp.org/extensions/xep-0201.html",
  ),
  anonymous: tested(
    "rooms.test.ts > who changes the nick stays the same person, and who takes it is another one",
    "rooms.test.ts > a room that shows addresses: these are the ids, and nobody can claim another one",
  ),
  bots: absent(
    "an occupant of a room has a role and an affiliation, and neither says bot",
    "https://xmpp.org/extensions/xep-0045.html#user",
  ),
  system: tested(messages("states, receipts, subjects, invitations and errors are no messages")),
  moved: tested(
    "rooms.test.ts > a room that was destroyed: the state says where it goes on, and it is not made again",
    "rooms.test.ts > who changes the nick stays the same person, and who takes it is another one",
  ),
  gone: tested(
    messages("a private chat through a room goes to the person, not to the nick"),
    "rooms.test.ts > banned, and a password that is missing: the state says it, other rooms go on",
  ),
  rich: tested(messages("what is shown as code or as a quote is marked, unless it is unstyled")),
  short: tested(messages("%s arrives as it was written, both ways")),
  longest: contract("longest"),
  own: contract("echo"),
};
