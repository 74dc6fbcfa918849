/** The webhook, in earshot's own form: docs/channels/webhook.md. */
import { absent, type Column, tested } from "./case.ts";

const messages = (name: string) => `messages.test.ts > ${name}`;
const page = "docs/channels/webhook.md";

export const webhook: Column = {
  edits: tested(messages("an edit and a deletion stand beside messages in one body")),
  deletions: tested(messages("an edit and a deletion stand beside messages in one body")),
  albums: tested(messages("several files are one message, with words or without")),
  captions: tested(messages("several files are one message, with words or without")),
  forwards: tested(
    messages("what is forwarded, and what is quoted from elsewhere, says whose it is"),
  ),
  quotes: tested(
    messages("what is forwarded, and what is quoted from elsewhere, says whose it is"),
  ),
  threads: tested(messages("a thread and a topic have their id, their title and who began them")),
  anonymous: tested(
    messages(
      "an author without a name has their id, a program says that it is one, and we know ourselves",
    ),
  ),
  bots: tested(
    messages(
      "an author without a name has their id, a program says that it is one, and we know ourselves",
    ),
  ),
  system: absent("what is posted is said by somebody, or is an edit, a deletion or the like", page),
  moved: absent("a room has the id that its program gives it, for as long as it gives it", page),
  gone: absent(
    "the program that posts decides who may post through it, before earshot hears",
    page,
  ),
  rich: tested(messages("what is shown as code or as a quote is marked where it stands")),
  short: tested(messages("%s is taken as it was written")),
  longest: tested(messages("%s is taken as it was written")),
  own: tested(
    messages(
      "an author without a name has their id, a program says that it is one, and we know ourselves",
    ),
  ),
};
