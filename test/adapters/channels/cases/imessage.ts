/** iMessage with each of its two programs: imsg and a BlueBubbles server. */
import { absent, type Column, contract, tested } from "./case.ts";

const messages = (name: string) => `messages.test.ts > ${name}`;
const json = "https://github.com/openclaw/imsg/blob/main/docs/json.md";
const api = "https://documenter.getpostman.com/view/765844/UV5RnfwM";

const both = {
  albums: tested(messages("several pictures are one message, with what was written to them")),
  captions: tested(messages("several pictures are one message, with what was written to them")),
  quotes: tested(
    messages("a reply names its message, whose it is and what it says, where that was heard"),
  ),
  threads: tested(
    messages("a reply names its message, whose it is and what it says, where that was heard"),
  ),
  system: tested(
    messages("who joins, leaves or renames a group, and a new picture of it, say nothing"),
  ),
  gone: tested(
    messages("a person who has left was heard all the same; a row of nobody says nothing"),
  ),
  short: contract("always"),
  longest: contract("longest"),
  own: contract("echo"),
} as const;

export const imsg: Column = {
  ...both,
  edits: absent("a row that was reported is not reported again when it changes", json),
  deletions: absent("a row that was reported is not reported again when it changes", json),
  forwards: absent("no field says that a message was forwarded", json),
  anonymous: absent("each message has the handle of its sender", json),
  bots: absent("no field says that a program has written a message", json),
  moved: absent("no field names an earlier guid of a chat or an earlier handle of a person", json),
  rich: absent("the text is given without its styles", json),
};

export const blueBubbles: Column = {
  ...both,
  edits: tested(
    messages("an edit and an unsend come by the webhook; that a message was read is no edit"),
  ),
  deletions: tested(
    messages("an edit and an unsend come by the webhook; that a message was read is no edit"),
  ),
  forwards: absent("Messages copies a message that is forwarded, without a mark", api),
  anonymous: absent("each message has the handle of its sender", api),
  bots: absent("no field says that a program has written a message", api),
  moved: absent("no field names an earlier guid of a chat or an earlier handle of a person", api),
  rich: tested(messages("what is set in bold or with an effect is its words")),
};
