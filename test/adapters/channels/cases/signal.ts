/** Signal: signal-cli's manual, https://github.com/AsamK/signal-cli/wiki. */
import { absent, type Column, contract, tested } from "./case.ts";

const messages = (name: string) => `messages.test.ts > ${name}`;
const manual = "https://github.com/AsamK/signal-cli/blob/master/man/signal-cli-jsonrpc.5.adoc";

export const signal: Column = {
  edits: tested(
    messages("an edit of an edit belongs to the first message, and a deletion and a reaction, too"),
  ),
  deletions: tested(
    messages("an edit of an edit belongs to the first message, and a deletion and a reaction, too"),
    messages("an admin deletes somebody else's message"),
  ),
  albums: tested(messages("an album is one message with its files; a voice message is audio")),
  captions: tested(messages("an album is one message with its files; a voice message is audio")),
  forwards: absent("a forwarded message has no mark: it is a new one of who forwards it", manual),
  quotes: tested(messages("a quote is a reply, with its author and text")),
  threads: absent("groups have no threads: a quote names a message, and that is all", manual),
  anonymous: tested(messages("%s says nothing")),
  bots: absent("nothing in a message says that a program has written it", manual),
  system: tested(
    messages("%s says nothing"),
    messages("a group keeps its name, and gets a new one"),
  ),
  moved: tested(messages("the account is known by its ACI once it was heard with its number")),
  gone: absent("signal-cli passes on nothing of contacts that are blocked", manual),
  rich: tested(
    messages("names stand where people are mentioned, and what lies behind moves, in UTF-16 units"),
  ),
  short: tested(messages("%s comes as it was written")),
  longest: tested(messages("%s comes as it was written")),
  own: contract("echo"),
};
