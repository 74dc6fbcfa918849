/** A bot in a room with Ann and Bob, for what happens there. */
import { onTestFinished } from "vitest";
import { xmppChannel } from "../../../src/adapters/channels/xmpp/channel.ts";
import type { Inbound, Route } from "../../../src/domain/message.ts";
import type { ChannelDefinition } from "../../../src/domain/ports/index.ts";
import { type OpenedChannel, openChannel } from "../../../src/testing/open-channel.ts";
import { startTcpProxy, type TcpProxy } from "../servers/tcp-proxy.ts";
import { archivedRooms, domain, type Prosody } from "./prosody.ts";
import { stanzaLength } from "./stanzas.ts";
import { botPassword, type XmppPeople } from "./xmpp-rig.ts";

export const never = new AbortController().signal;
export const self = `scout@${domain}`;
let count = 0;

export interface Bot {
  readonly room: string;
  readonly nick: string;
  readonly channel: OpenedChannel;
  readonly proxy: TcpProxy;
  readonly config: object;
  send(text: string, route?: Route): Promise<string>;
  /** Texts of others so far. */
  heard(): readonly string[];
  /** The message with this text, now or later. */
  said(text: string): Promise<Inbound>;
  /** What the account's state says. */
  detail(): string;
}

export const routeTo = (id: string, kind: "group" | "direct" = "group"): Route => ({
  channel: "xmpp",
  account: "default",
  chat: { id, kind },
  thread: null,
});

/** Polls until there is something. */
export async function until<Found>(find: () => Found | undefined, what: string): Promise<Found> {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not in time: ${what}`);
}

export interface EnterOptions {
  /** Of the account. */
  readonly config?: object;
  readonly service?: string;
  /** Of the room, which Ann makes. */
  readonly room?: Readonly<Record<string, string>>;
  /** Before the bot is there. */
  readonly before?: (room: string, nick: string) => Promise<void>;
  /** Whether to wait until it is live. @default true */
  readonly live?: boolean;
  /** Of an earlier run. */
  readonly cursors?: Map<string, string>;
}

/** A room that Ann owns, Bob in it, and the bot behind a proxy. */
export async function enter(
  server: Prosody,
  { ann, bob }: XmppPeople,
  options: EnterOptions = {},
): Promise<Bot> {
  count += 1;
  const { config = {}, service = archivedRooms, live = true } = options;
  const room = `hall${count}@${service}`;
  const nick = `bot${count}`;
  await ann.join(room, "ann", options.room);
  await bob.join(room);
  await options.before?.(room, nick);
  const proxy = await startTcpProxy(server, stanzaLength);
  const whole = {
    jid: self,
    password: botPassword,
    host: "127.0.0.1",
    port: proxy.port,
    tls: "off",
    nick,
    rooms: [room],
    ...config,
  };
  const channel = openChannel(xmppChannel as ChannelDefinition, whole, options.cursors);
  onTestFinished(async () => {
    await channel.stop();
    for (const [person, name] of [[ann, "ann"] as const, [bob, "bob"] as const])
      await person.leave(room, name);
    await proxy.close();
  });
  if (live) await channel.live();
  let sends = 0;
  const others = () => channel.messages().filter(({ author }) => !author.isSelf);
  return {
    room,
    nick,
    channel,
    proxy,
    config: whole,
    async send(text, route = routeTo(room)) {
      sends += 1;
      const request = { route, id: `t:${sends}`, text, signal: never };
      return (await channel.outbound.sendText(request)).messageIds[0] as string;
    },
    heard: () => others().map(({ text }) => text),
    said: (text) => until(() => others().find((one) => one.text === text), `"${text}"`),
    detail: () => channel.states.at(-1)?.detail ?? "",
  };
}
