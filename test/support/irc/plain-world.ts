/**
 * An ngircd as the channel contract sees it: no ids, no history, no echo, no services. The only ids of messages
 * are those that our side gives them. One server serves a world after the other: a room is gone when its last
 * member is.
 */
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";
import type { OpenedChannel } from "../../../src/testing/open-channel.ts";
import { startTcpProxy } from "../servers/tcp-proxy.ts";
import { saidBy } from "./irc-rig.ts";
import { type Ircd, startNgircd } from "./ircd.ts";
import { IrcPerson } from "./person.ts";

let count = 0;
const serverPassword = "canary-server-password";

export const startPlain = (): Promise<Ircd> => startNgircd(serverPassword);

export async function plainWorld(server: Ircd): Promise<ChannelWorld> {
  count += 1;
  const [room, nick] = [`#room${count}`, `scout${count}`];
  let revoked: Promise<void> | null = null;
  const proxy = await startTcpProxy(server);
  const connect = async (name: string) => {
    const person = await IrcPerson.connect(server.port, name, serverPassword);
    await person.join(room);
    return person;
  };
  const ann = await connect("ann");
  const bob = await connect("bob");
  let channel: OpenedChannel | null = null;
  /** What our side calls the lines that it sent. */
  const sent: string[] = [];
  /** Resolves when the channel has a message with this text, to its id. */
  const arrived = async (text: string) => {
    for (let tries = 0; tries < 2_000; tries += 1) {
      const found = channel?.messages().findLast((message) => message.text === text);
      if (found !== undefined) return found.id;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`the channel has not heard ${JSON.stringify(text)}`);
  };
  const route = {
    channel: "irc",
    account: "default",
    chat: { id: room, kind: "group" },
    thread: null,
  } as const;
  return {
    config: {
      host: "127.0.0.1",
      port: proxy.port,
      tls: false,
      nick,
      serverPassword,
      join: [room],
      lineIntervalMs: 0,
    },
    secrets: [serverPassword],
    classified: [
      [
        { text: "alone", in: "direct" },
        { chat: { kind: "direct", id: "~ann@127.0.0.1", title: "ann" }, mentions: [] },
      ],
      [{ text: "hi" }, { chat: { kind: "group", title: room }, thread: null, mentions: [] }],
      [{ text: "hi", mentions: "us" }, { mentions: [{ name: nick, isSelf: true }] }],
      [{ text: "hi", mentions: "other" }, { mentions: [{ id: "nick:bob", isSelf: false }] }],
    ],
    connect(opened) {
      channel = opened;
      const { sendText, replyText } = opened.outbound;
      Object.assign(opened.outbound, {
        async sendText(request: Parameters<typeof sendText>[0]) {
          const result = await sendText(request);
          sent.push(...result.messageIds);
          return result;
        },
        async replyText(request: Parameters<typeof replyText>[0]) {
          const result = await replyText(request);
          sent.push(...result.messageIds);
          return result;
        },
      });
    },
    async say({ text, mentions, in: where }: SpokenMessage) {
      const names = { us: nick, other: bob.nick };
      const line = mentions === undefined ? text : `${names[mentions]}: ${text}`;
      await ann.say(where === "direct" ? nick : room, line);
      return arrived(line);
    },
    route: () => route,
    async shown(wanted) {
      const lines = () => saidBy(bob, nick, room);
      await bob.until(() => lines().length >= wanted);
      return lines().map((line, n) => ({
        id: sent[n] ?? "",
        text: line.text.replace(/^ann: /, ""),
        replyTo: null,
      }));
    },
    refuseNext() {
      proxy.toServer.next(/PRIVMSG /, async () => void (await ann.ask(`MODE ${room} +m`)));
    },
    loseAnswer: () => proxy.toClient.next(/ PONG .*earshot-/, "reset"),
    garbage() {
      const parts = ["\r\n", ":\r\n", "::: :\r\n", "<html><h1>502 Bad Gateway</h1></html>\r\n"];
      for (const part of parts) proxy.toClient.inject(part);
      proxy.toClient.inject(Buffer.from([0, 255, 254, 13, 10]));
      proxy.toClient.inject(
        ":x PRIVMSG\r\n:x!y@z NOTICE\r\n:x MODE\r\n@batch=n :a!b@c PRIVMSG\r\n",
      );
      proxy.toClient.inject(`${"x".repeat(100_000)}\r\n`);
    },
    revoke() {
      revoked = server.restart("another-password");
    },
    async close() {
      for (const person of [ann, bob]) await person.quit();
      await proxy.close();
      if (revoked === null) return;
      await revoked;
      await server.restart(serverPassword);
    },
  };
}
