/** Telegram: https://core.telegram.org/bots/api. */
import { type Column, contract, tested } from "./case.ts";

const updates = (name: string) => `updates.test.ts > ${name}`;

export const telegram: Column = {
  edits: tested(
    updates("an edit has the platform's time of the edit"),
    "edits.test.ts > edits and reactions before a kill -9, workers %i",
    "end-to-end.test.ts > an edit before the turn starts is what the agent reads, workers %i",
  ),
  // The Bot API reports deletions for business accounts only.
  deletions: tested("business.test.ts > edits and deletions are heard"),
  albums: tested(
    "assembly.test.ts > an album is one message with all its files, at the id of the caption wherever it stands",
    "media.test.ts > an album is one turn with all its pictures, a voice message is its words",
  ),
  captions: tested(updates("a mention in a caption counts, with the photo's largest size")),
  forwards: tested(
    updates("what is forwarded from %s says from whom"),
    updates("forwarded words call and name nobody"),
  ),
  quotes: tested(
    updates("a reply names the author of its parent, and whether that is us"),
    updates("a quote that was chosen is said apart from the message it is a part of"),
    updates("a reply to a message of another chat quotes it, and replies to nothing here"),
  ),
  threads: tested(
    updates("a line in a topic belongs to the topic and replies to nothing"),
    updates("a reply chain in a group without topics is no thread"),
    updates("what somebody writes to a channel is a direct talk of its own"),
  ),
  anonymous: tested(
    updates("an anonymous admin is the chat, never the stand-in user and never a plain id"),
    updates("a channel post is heard in a channel, in the channel's own name"),
  ),
  bots: tested(updates("bots are bots, and our own lines are ours")),
  system: tested(
    updates("%s says nothing"),
    "content-lines.test.ts > %j is a line that calls nobody",
  ),
  moved: tested(
    "supergroup.test.ts > its messages keep the room, and none is taken for an old one of the same number",
    "supergroup.test.ts > what it was is stored with the update that reports it, and known after a restart",
  ),
  gone: tested(
    updates("%s says nothing"),
    "gateway.test.ts > a chat that blocked the bot is refused for good",
  ),
  rich: tested(
    updates("what is forwarded says so, and what is shown as code or as a quote is marked"),
    "content-lines.test.ts > a rich message is its text, and one nested deeper than Telegram's is no error",
  ),
  short: contract("always"),
  longest: contract("longest"),
  own: contract("echo"),
};
