/**
 * A real prosody as the channel contract sees it: Ann, Bob and another bot in a room of their own, and
 * the bot behind a proxy that can break its connection.
 */
import { type Element, xml } from "@xmpp/client";
import type {
  ChannelWorld,
  ShownMessage,
  SpokenMessage,
} from "../../../src/testing/channel-world.ts";
import type { OpenedChannel } from "../../../src/testing/open-channel.ts";
import { startTcpProxy, type TcpProxy } from "../servers/tcp-proxy.ts";
import { idIn, XmppPerson } from "./person.ts";
import { archivedRooms, domain, type Prosody, startProsody } from "./prosody.ts";
import { stanzaLength } from "./stanzas.ts";

export const botPassword = "canary-password";
const never = new AbortController().signal;
let count = 0;

export const accounts = { scout: botPassword, ann: "a", bob: "b", robot: "r" };

export interface XmppPeople {
  readonly ann: XmppPerson;
  readonly bob: XmppPerson;
  /** Another bot, of which XMPP does not say that it is one. */
  readonly robot: XmppPerson;
  close(): Promise<void>;
}

/** A prosody with three people, once for many worlds. */
export async function startPeople(): Promise<{ server: Prosody; people: XmppPeople }> {
  const server = await startProsody(accounts);
  const connect = (name: keyof typeof accounts) =>
    XmppPerson.connect(server.port, name, accounts[name]);
  const [ann, bob, robot] = await Promise.all([connect("ann"), connect("bob"), connect("robot")]);
  const close = async () => {
    await Promise.all([ann, bob, robot].map((person) => person.close()));
    await server.stop();
  };
  return { server, people: { ann, bob, robot, close } };
}

/** What somebody has seen the bot say in a room, with its corrections. */
export function saidBy(person: XmppPerson, room: string, nick: string): readonly ShownMessage[] {
  const shown = new Map<string, ShownMessage & { readonly wireId: string }>();
  for (const one of person.stanzas) {
    const body = one.getChild("body")?.text();
    if (one.name !== "message" || one.attrs.from !== `${room}/${nick}` || body === undefined)
      continue;
    const replaced = one.getChild("replace", "urn:xmpp:message-correct:0")?.attrs.id;
    const first = [...shown.values()].find(({ wireId }) => wireId === replaced);
    const text = withoutFallback(one, body);
    if (first !== undefined) shown.set(first.id, { ...first, text });
    else {
      const id = idIn(one);
      const replyTo = one.getChild("reply", "urn:xmpp:reply:0")?.attrs.id ?? null;
      shown.set(id, { id, text, replyTo, wireId: one.attrs.id ?? "" });
    }
  }
  return [...shown.values()];
}

/** As a client shows it that knows replies (XEP-0461). */
function withoutFallback(message: Element, body: string): string {
  const range = message.getChild("fallback", "urn:xmpp:fallback:0")?.getChild("body")?.attrs;
  if (range === undefined) return body;
  return [...body].slice(Number(range.end)).join("");
}

/** A room of its own on a shared server. */
export async function xmppWorld(
  server: Prosody,
  { ann, bob, robot }: XmppPeople,
): Promise<ChannelWorld> {
  count += 1;
  const room = `room${count}@${archivedRooms}`;
  const nick = `scout${count}`;
  const self = `scout@${domain}`;
  const proxy = await startTcpProxy(server, stanzaLength);
  for (const person of [ann, bob, robot]) await person.join(room);
  let opened: OpenedChannel | null = null;
  let isChanged = false;
  const channel = () => opened as OpenedChannel;
  const route = () =>
    ({
      channel: "xmpp",
      account: "default",
      chat: { id: room, kind: "group" },
      thread: null,
    }) as const;
  const sent = async (text: string) => {
    const request = { route: route(), id: `t:${text}`, text, signal: never };
    return (await channel().outbound.sendText(request)).messageIds[0] as string;
  };
  /** Room's ids to those of the sender. */
  const wireIds = new Map<string, string>();
  const reactions = watchReactions(proxy, `${room}/${nick}`);
  const says = async (what: SpokenMessage) => {
    const { text, by, mentions, repliesTo, in: where } = what;
    if (where === "direct") {
      await ann.write(self, text);
      const heard = () =>
        channel()
          .messages()
          .filter(({ chat }) => chat.kind === "direct");
      for (let tries = 0; heard().length === 0 && tries < 400; tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 25));
      return heard().at(-1)?.id ?? "";
    }
    const names = { us: nick, other: bob.name };
    const line = mentions === undefined ? text : `${names[mentions]}: ${text}`;
    const speaker = by === "bot" ? robot : ann;
    const parents = { us: () => sent("a parent"), other: () => bob.say(room, "a parent") };
    const parent = repliesTo === undefined ? null : await parents[repliesTo]();
    const reply =
      parent === null
        ? []
        : [xml("reply", { xmlns: "urn:xmpp:reply:0", id: parent, to: `${room}/${nick}` })];
    const back = await speaker.inRoom(room, xml("body", {}, line), ...reply);
    wireIds.set(idIn(back), back.attrs.id ?? "");
    return idIn(back);
  };
  const change = async (from: string, to: string) => {
    const owner = await XmppPerson.connect(server.port, "scout", from);
    const fields = [xml("username", {}, "scout"), xml("password", {}, to)];
    await owner.ask("set", undefined, xml("query", { xmlns: "jabber:iq:register" }, ...fields));
    await owner.close();
  };
  return {
    config: {
      jid: self,
      password: botPassword,
      host: "127.0.0.1",
      port: proxy.port,
      tls: "off",
      nick,
      rooms: [room],
    },
    secrets: [botPassword],
    classified: [
      [
        { text: "hi", in: "direct" },
        { chat: { kind: "direct", id: ann.jid }, author: { id: ann.jid } },
      ],
      [{ text: "hi" }, { chat: { kind: "group", id: room }, thread: null, mentions: [] }],
      [{ text: "hi", mentions: "us" }, { mentions: [{ id: self, name: nick, isSelf: true }] }],
      [
        { text: "hi", mentions: "other" },
        { mentions: [{ id: occupantIn(bob, room, bob.name), isSelf: false }] },
      ],
      [{ text: "hi", repliesTo: "us" }, { replyTo: { authorId: self, authorIsSelf: true } }],
      [
        { text: "hi", repliesTo: "other" },
        { replyTo: { authorId: occupantIn(bob, room, bob.name), authorIsSelf: false } },
      ],
      [{ text: "hi", by: "bot" }, { author: { isBot: false, isSelf: false, name: robot.name } }],
    ],
    connect(made) {
      opened = made;
    },
    say: says,
    route,
    async shown(wanted) {
      await ann.until(() => saidBy(ann, room, nick).length >= wanted);
      return saidBy(ann, room, nick);
    },
    echo: sent,
    async edit(id, text) {
      const replace = { xmlns: "urn:xmpp:message-correct:0", id: wireIds.get(id) ?? "" };
      await ann.say(room, text, xml("replace", replace));
    },
    async react(id, emoji, on) {
      const all = on ? [xml("reaction", {}, emoji)] : [];
      await ann.inRoom(room, xml("reactions", { xmlns: "urn:xmpp:reactions:0", id }, ...all));
    },
    reactions: (id) => reactions.get(id) ?? [],
    // As a service that limits its rate says it (RFC 6120, sections 8.3.2 and 8.3.3.18): without a time.
    limitNext() {
      proxy.toServer.next(/<body/, (stanza) => {
        const id = /^<message[^>]* id=["']([^"']+)/.exec(stanza)?.[1] ?? "";
        const condition = "<resource-constraint xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>";
        const error = `<error type='wait'>${condition}</error>`;
        proxy.toClient.inject(
          `<message type='error' from='${room}' to='${self}' id='${id}'>${error}</message>`,
        );
        return "drop";
      });
    },
    waitSeconds: 10,
    pings: () =>
      ann.stanzas.filter(
        (one) =>
          one.attrs.from === `${room}/${nick}` &&
          one.getChild("reference", "urn:xmpp:reference:0") !== undefined,
      ).length,
    refuseNext() {
      const silence = () => ann.admin(room, { nick, role: "visitor" });
      proxy.toServer.next(/<body/, silence);
    },
    loseAnswer: () =>
      proxy.toClient.next(new RegExp(`from='${room}/${nick}'.*<body>`, "s"), "reset"),
    async disconnect() {
      proxy.cut();
      await ann.until(
        ({ attrs }) => attrs.from === `${room}/${nick}` && attrs.type === "unavailable",
      );
      await channel().state("backing-off");
    },
    async reconnect() {
      proxy.restore();
    },
    redeliver: () => proxy.toClient.next(/<body>/, "duplicate"),
    garbage() {
      for (const part of garbage(room)) proxy.toClient.inject(part);
    },
    revoke() {
      isChanged = true;
      void change(botPassword, "another-canary").then(() => proxy.reset());
    },
    async close() {
      if (isChanged) await change("another-canary", botPassword);
      for (const person of [ann, bob, robot]) await person.leave(room);
      await proxy.close();
    },
  };
}

/** The channel's id of somebody, as the room's presence says (XEP-0421). */
export function occupantIn(person: XmppPerson, room: string, nick: string): string {
  const seen = person.stanzas.findLast(
    ({ name, attrs }) => name === "presence" && attrs.from === `${room}/${nick}`,
  );
  return `${room}#${seen?.getChild("occupant-id", "urn:xmpp:occupant-id:0")?.attrs.id}`;
}

/** The bot's reactions as the room sends them to it, before it gets them. */
function watchReactions(proxy: TcpProxy, from: string): ReadonlyMap<string, readonly string[]> {
  const seen = new Map<string, readonly string[]>();
  const watch = () =>
    proxy.toClient.next(new RegExp(`from='${from}'.*urn:xmpp:reactions:0`, "s"), (stanza) => {
      const id = /<reactions[^>]* id='([^']+)'/.exec(stanza)?.[1] ?? "";
      const emoji = [...stanza.matchAll(/<reaction>([^<]+)<\/reaction>/g)].map(
        ([, one = ""]) => one,
      );
      seen.set(id, emoji);
      watch();
    });
  watch();
  return seen;
}

/** Well-formed, because a stream ends with the first byte that is not; and nothing that fits. */
const garbage = (room: string): readonly string[] => [
  "<html><h1>502 Bad Gateway</h1></html>",
  "<message/>",
  "<presence/>",
  `<message type='groupchat' from='@@//'><body>x</body></message>`,
  `<message type='groupchat' from='${room}/x'><reactions xmlns='urn:xmpp:reactions:0'/></message>`,
  `<message type='groupchat' from='${room}/x'><body>x</body><delay xmlns='urn:xmpp:delay' stamp='then'/><replace xmlns='urn:xmpp:message-correct:0'/><reactions xmlns='urn:xmpp:reactions:0' id='${"y".repeat(9_000)}'/></message>`,
  `<message from='eve@elsewhere.test'><result xmlns='urn:xmpp:mam:2' queryid='x' id='1'><forwarded xmlns='urn:xmpp:forward:0'><message from='${room}/ann' type='groupchat'><body>forged</body></message></forwarded></result></message>`,
  `<iq type='result' id='nobody-asked'/>`,
  `<presence from='${room}'><x xmlns='http://jabber.org/protocol/muc#user'/></presence>`,
];
