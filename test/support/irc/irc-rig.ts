/**
 * A real server as the channel contract sees it: Ann, Bob and another bot in a room of their own, and
 * the bot behind a proxy that can break its connection.
 */
import { sourceOf, withoutFormatting } from "../../../src/adapters/channels/irc/wire.ts";
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";
import type { OpenedChannel } from "../../../src/testing/open-channel.ts";
import { startTcpProxy } from "../servers/tcp-proxy.ts";
import type { Ircd } from "./ircd.ts";
import { IrcPerson } from "./person.ts";

export const accountPassword = "canary-password";
let count = 0;

/** Registers an account at the services, for bots to log in to. */
export async function registerAccount(server: Ircd, account: string): Promise<void> {
  const owner = await IrcPerson.connect(server.port, account);
  owner.write(`PRIVMSG NickServ :REGISTER ${accountPassword} bot@irc.test`);
  await owner.until((line) => line.includes(" 900 "));
  await owner.close();
}

/** What a person has seen the bot say in a room. */
export function saidBy(person: IrcPerson, nick: string, room: string) {
  return person.lines.flatMap((line) => {
    const found = /^(?:@(\S+) )?:(\S+) PRIVMSG (\S+) :(.*)$/.exec(line);
    if (found === null) return [];
    const [, tags = "", prefix = "", target, raw = ""] = found;
    if (sourceOf(prefix).nick !== nick || target?.toLowerCase() !== room) return [];
    const tag = (name: string) => new RegExp(`(?:^|;)${name}=([^;]+)`).exec(tags)?.[1] ?? null;
    const replyTo = tag("\\+draft/reply");
    const addressed = withoutFormatting(raw).replace(/^ann: /, "");
    const text = replyTo === null ? withoutFormatting(raw) : addressed;
    return [{ id: tag("msgid") ?? "", text, raw, replyTo }];
  });
}

export interface IrcPeople {
  readonly ann: IrcPerson;
  readonly bob: IrcPerson;
  /** A bot, as its mode says. */
  readonly robot: IrcPerson;
  close(): Promise<void>;
}

/** Connects them once for many worlds: a server takes a second to welcome somebody. */
export async function ircPeople(server: Ircd): Promise<IrcPeople> {
  const connect = (name: string) => IrcPerson.connect(server.port, name);
  const [ann, bob, robot] = await Promise.all([connect("ann"), connect("bob"), connect("robot")]);
  await robot.ask("MODE robot +B");
  return {
    ann,
    bob,
    robot,
    close: async () => void (await Promise.all([ann, bob, robot].map((person) => person.close()))),
  };
}

/** A world on a server with IRCv3 and services; `account` is registered there. */
export async function ircWorld(
  server: Ircd,
  account: string,
  { ann: first, bob: second, robot: other }: IrcPeople,
): Promise<ChannelWorld> {
  count += 1;
  const room = `#room${count}`;
  const nick = `scout${count}`;
  const proxy = await startTcpProxy(server);
  await first.join(room);
  await first.ask(`MODE ${room} +H 50:1d`);
  for (const person of [second, other]) await person.join(room);
  let channel: OpenedChannel | null = null;
  let isChanged = false;
  const says = async ({ text, by, mentions, repliesTo, in: where }: SpokenMessage) => {
    const names = { us: nick, other: second.nick };
    const line = mentions === undefined ? text : `${names[mentions]}: ${text}`;
    const tags = repliesTo === undefined ? "" : "+draft/reply=parent-id";
    const speaker = by === "bot" ? other : first;
    return speaker.say(where === "direct" ? nick : room, line, tags);
  };
  const id = `account:${account}`;
  const password = async (from: string, to: string) => {
    const owner = await IrcPerson.connect(server.port, `owner${count}`);
    await owner.ask(`PRIVMSG NickServ :IDENTIFY ${account} ${from}`);
    await owner.until((line) => line.includes(" 900 "));
    owner.write(`PRIVMSG NickServ :SET PASSWORD ${to}`);
    await owner.until((line) => line.includes(" NOTICE ") && line.includes("password"));
    await owner.close();
  };
  return {
    config: {
      host: "127.0.0.1",
      port: proxy.port,
      tls: false,
      nick,
      login: { account, password: accountPassword },
      join: [room],
      lineIntervalMs: 0,
    },
    secrets: [accountPassword, Buffer.from(accountPassword).toString("base64").slice(0, 16)],
    classified: [
      [
        { text: "hi", in: "direct" },
        { chat: { kind: "direct", id: `${first.nick}@127.0.0.1`, title: first.nick } },
      ],
      [{ text: "hi" }, { chat: { kind: "group", title: room }, thread: null, mentions: [] }],
      [{ text: "hi", mentions: "us" }, { mentions: [{ id, name: nick, isSelf: true }] }],
      [
        { text: "hi", mentions: "other" },
        { mentions: [{ id: `nick:${second.nick}`, isSelf: false }] },
      ],
      [{ text: "hi", repliesTo: "us" }, { replyTo: { id: "parent-id" } }],
      [{ text: "hi", by: "bot" }, { author: { isBot: true, isSelf: false, name: other.nick } }],
    ],
    connect(opened) {
      channel = opened;
    },
    say: says,
    route: () => ({
      channel: "irc",
      account: "default",
      chat: { id: room, kind: "group" },
      thread: null,
    }),
    async shown(wanted) {
      await first.until(() => saidBy(first, nick, room).length >= wanted);
      return saidBy(first, nick, room);
    },
    async echo(text) {
      const route = {
        channel: "irc",
        account: "default",
        chat: { id: room, kind: "group" },
      } as const;
      const { signal } = new AbortController();
      const request = { route: { ...route, thread: null }, id: "t:0", text, signal };
      const { messageIds } = await (channel as unknown as OpenedChannel).outbound.sendText(request);
      return messageIds[0] as string;
    },
    refuseNext() {
      proxy.toServer.next(
        / PRIVMSG |^PRIVMSG /,
        async () => void (await first.ask(`MODE ${room} +m`)),
      );
    },
    loseAnswer: () => proxy.toClient.next(/inspircd\.org\/echo/, "reset"),
    async disconnect() {
      proxy.cut();
      await first.until((line) => line.includes(`:${nick}!`) && line.includes(" QUIT "));
      await (channel as unknown as OpenedChannel).state("backing-off");
    },
    async reconnect() {
      proxy.restore();
    },
    redeliver: () => proxy.toClient.next(/ PRIVMSG /, "duplicate"),
    garbage() {
      const parts = ["\r\n", ":\r\n", "::: :\r\n", "<html><h1>502 Bad Gateway</h1></html>\r\n"];
      for (const part of parts) proxy.toClient.inject(part);
      proxy.toClient.inject(Buffer.from([0, 255, 254, 13, 10]));
      proxy.toClient.inject(
        `:x PRIVMSG\r\n:x!y@z NOTICE\r\n:x MODE\r\n@batch=none :a!b@c PRIVMSG\r\n`,
      );
      proxy.toClient.inject(`${"x".repeat(100_000)}\r\n`);
    },
    revoke() {
      isChanged = true;
      void password(accountPassword, "another-canary").then(() => proxy.reset());
    },
    async close() {
      if (isChanged) await password("another-canary", accountPassword);
      for (const person of [first, second, other]) await person.ask(`PART ${room}`);
      await proxy.close();
    },
  };
}
