/** Discord: https://docs.discord.com/developers/resources/message. */
import { absent, type Column, contract, tested } from "./case.ts";

const messages = (name: string) => `messages.test.ts > ${name}`;

export const discord: Column = {
  edits: contract("edit"),
  deletions: tested(
    messages("a deletion is a deletion, and a preview that Discord adds is no edit"),
  ),
  albums: tested(
    messages(
      "several files are one message, with what was written to them; so are a sticker and a poll",
    ),
  ),
  captions: tested(
    messages(
      "several files are one message, with what was written to them; so are a sticker and a poll",
    ),
  ),
  forwards: tested(messages("a forwarded message is somebody else's text")),
  quotes: contract("always"),
  threads: tested(messages("a post of a forum is a thread of it, with its title and author")),
  anonymous: tested(
    messages("what a followed channel announces is signed by that channel, and counts as a bot's"),
  ),
  bots: tested(messages("a webhook counts as a bot, and its embeds are text")),
  system: tested(messages("joins and pins say nothing; a reply to a deleted message keeps its id")),
  moved: absent(
    "a channel keeps its id for as long as it exists",
    "https://docs.discord.com/developers/reference#snowflakes",
  ),
  gone: tested(messages("a message of somebody who has left has their name, and no roles")),
  rich: tested(
    messages("the bot's own role is the bot, another role is not, and code is shown as it is"),
  ),
  short: contract("always"),
  longest: contract("longest"),
  own: contract("echo"),
};
