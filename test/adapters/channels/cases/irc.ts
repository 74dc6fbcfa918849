/** IRC: https://modern.ircdocs.horse and https://ircv3.net/irc/. */
import { absent, type Column, contract, tested } from "./case.ts";

const servers = (name: string) => `servers.test.ts > ${name}`;
const modern = "https://modern.ircdocs.horse/#privmsg-message";
const registry = "https://ircv3.net/registry";

export const irc: Column = {
  edits: absent("a line that was sent cannot be changed, and no extension is for that", registry),
  deletions: absent("the extension for that, draft/message-redaction, is a draft", registry),
  albums: absent("a message is one line of text; files have an address in it", modern),
  captions: absent("a message is one line of text; files have an address in it", modern),
  forwards: absent("a message is one line of text, and a copy of it is as any other", modern),
  quotes: tested(servers("an answer to a message names its author")),
  threads: absent("no extension has threads: a reply names a message, and that is all", registry),
  anonymous: absent("each line has the nick, user and host of who sent it", modern),
  bots: contract("always"),
  system: tested(
    servers("notices and requests to the client are neither heard nor answered; actions are heard"),
    "netsplit.test.ts > members are right at each moment, and nothing is heard or said twice",
  ),
  moved: tested(
    servers("a person who takes another nick stays the same one, also in a direct talk"),
  ),
  gone: tested(
    servers("a direct answer reaches who asked, and not who took the nick since"),
    servers("banned: the state names the room and the server's reason"),
  ),
  rich: tested(
    servers("notices and requests to the client are neither heard nor answered; actions are heard"),
  ),
  short: contract("always"),
  longest: contract("longest"),
  own: contract("echo"),
};
