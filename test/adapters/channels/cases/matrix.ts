/** Matrix: https://spec.matrix.org/latest/client-server-api/. */
import { absent, type Column, tested } from "./case.ts";

const messages = (name: string) => `messages.test.ts > ${name}`;
const spec = "https://spec.matrix.org/latest/client-server-api/#instant-messaging";

export const matrix: Column = {
  edits: tested(messages("an edit is of its author's message; anybody else's is not believed")),
  deletions: tested(messages("a deletion, %s")),
  albums: absent("each file is an event of its own, and none names the others", spec),
  captions: tested(
    messages("a picture with a caption, one without, a voice message and a sticker"),
  ),
  forwards: absent(
    "an event that is forwarded is a new one of who forwards it, without a mark",
    spec,
  ),
  quotes: tested(
    messages("a reply with the quote of older clients is only what its author says"),
    messages(
      "the author of a message that was not heard is asked for once; one that is gone stays unknown",
    ),
  ),
  threads: tested(
    messages(
      "a thread names its first message and its author; the fallback is no reply, a reply in it is",
    ),
  ),
  anonymous: tested(messages("a person without a name in the room has the first part of their id")),
  bots: tested(messages("a notice is automatic; an action is what its author says")),
  system: tested(messages("state, redacted and unknown events are no messages")),
  moved: tested(
    "recovery.test.ts > an upgraded room is followed: the conversation keeps its id and answers go to the new room",
  ),
  gone: tested(
    "recovery.test.ts > a person who changes their name, and ours, does not hide what was said before it",
  ),
  rich: tested(messages("what is shown as code or quote is marked, in the plain text")),
  short: tested(messages("%s stays as it is")),
  longest: tested(messages("%s stays as it is")),
  own: tested(messages("messages of another login of the account are marked as ours")),
};
