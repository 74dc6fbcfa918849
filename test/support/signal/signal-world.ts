/**
 * The daemon as the channel contract sees it: Ann, Bob and another bot, which Signal does not know as one,
 * in a group with the account.
 */
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";
import { startSignalDaemon } from "./signal-daemon.ts";

export const proxyToken = "canary-proxy-token";

export async function signalWorld(): Promise<ChannelWorld> {
  const daemon = await startSignalDaemon({ token: proxyToken });
  const { rooms } = daemon;
  const ann = rooms.person("Ann");
  const bob = rooms.person("Bob", false);
  const robot = rooms.person("Robot");
  const group = rooms.group("kitchen", [ann, bob, robot]);
  const parents = {
    us: { id: 1_700_000_000_001, number: rooms.account, uuid: rooms.aci, text: "I said so" },
    other: { id: 1_700_000_000_002, number: bob.number, uuid: bob.uuid, text: "Bob said so" },
  };
  const people = { us: { number: rooms.account, uuid: rooms.aci }, other: bob };
  const idOf = (author: string, sentAt: number) => `${author}:${sentAt}`;
  const say = async ({ text, by, mentions, repliesTo, in: where }: SpokenMessage) => {
    const speaker = by === "bot" ? robot : ann;
    const parent = repliesTo === undefined ? null : parents[repliesTo];
    const person = mentions === undefined ? null : people[mentions];
    const quote = parent && {
      id: parent.id,
      author: parent.number ?? parent.uuid,
      authorNumber: parent.number,
      authorUuid: parent.uuid,
      text: parent.text,
      attachments: [],
    };
    const mention = person && {
      name: person.number ?? person.uuid,
      number: person.number,
      uuid: person.uuid,
      start: 0,
      length: 1,
    };
    const sentAt = rooms.say(speaker, where === "direct" ? null : group, {
      message: mention ? `\ufffc ${text}` : text,
      ...(quote && { quote }),
      ...(mention && { mentions: [mention] }),
    });
    return idOf(speaker.uuid, sentAt);
  };
  const self = { id: rooms.account, isSelf: true };
  return {
    config: { account: rooms.account, url: daemon.url, name: "Scout", token: proxyToken },
    secrets: [proxyToken],
    classified: [
      [{ text: "hi", in: "direct" }, { chat: { kind: "direct", id: ann.uuid, title: "Ann" } }],
      [{ text: "hi" }, { chat: { kind: "group", title: "kitchen" }, thread: null, mentions: [] }],
      [
        { text: "hi", mentions: "us" },
        { text: "@Scout hi", mentions: [{ ...self, name: "Scout" }] },
      ],
      [{ text: "hi", mentions: "other" }, { mentions: [{ id: bob.uuid, isSelf: false }] }],
      [
        { text: "hi", repliesTo: "us" },
        {
          replyTo: {
            id: idOf(rooms.account, parents.us.id),
            authorId: rooms.account,
            authorIsSelf: true,
            text: "I said so",
          },
        },
      ],
      [
        { text: "hi", repliesTo: "other" },
        { replyTo: { id: idOf(bob.uuid, parents.other.id), authorIsSelf: false } },
      ],
      // Nothing at Signal says that it is one.
      [{ text: "hi", by: "bot" }, { author: { isBot: false, isSelf: false, name: "Robot" } }],
    ],
    say,
    route: () => ({
      channel: "signal",
      account: "default",
      thread: null,
      chat: { id: group.id, kind: "group" },
    }),
    async shown(count) {
      await daemon.until(() => rooms.sent.length >= count, `${count} messages`);
      return rooms.sent.map(({ timestamp, message, quote }) => ({
        id: idOf(rooms.account, timestamp),
        text: message,
        replyTo: quote === null ? null : idOf(quote.author, quote.timestamp),
      }));
    },
    echo: async (text) => idOf(rooms.account, rooms.sync(group, { message: text })),
    async edit(id, message) {
      rooms.edit(ann, group, Number(id.split(":")[1]), { message });
    },
    async react(id, emoji, on) {
      const reaction = {
        emoji,
        targetAuthor: rooms.account,
        targetAuthorNumber: rooms.account,
        targetAuthorUuid: rooms.aci,
        targetSentTimestamp: Number(id.split(":")[1]),
        isRemove: !on,
      };
      rooms.say(ann, group, { reaction });
    },
    reactions: (id) => [rooms.reactions.get(id)].filter((emoji) => emoji !== undefined),
    typings: () => rooms.typings.filter(({ stop }) => stop !== true).length,
    pings: () => rooms.sent.filter(({ mentions }) => mentions.length > 0).length,
    limitNext: (seconds) =>
      daemon.faults.add("send", { kind: "refuse", status: 429, retryAfter: seconds }),
    refuseNext: () => daemon.faults.add("send", { kind: "refuse", status: 400 }),
    loseAnswer: () => daemon.faults.add("send", { kind: "reset", done: true }),
    disconnect: () => daemon.down(),
    reconnect: () => daemon.up(),
    redeliver: () => daemon.faults.add("event", { kind: "duplicate" }),
    garbage() {
      daemon.raw("event:receive\ndata:not JSON\n\n");
      daemon.raw("data\n\nnonsense without a colon\n\n: a comment\n\n");
      daemon.raw(`event:receive\ndata:${JSON.stringify({ envelope: { timestamp: "now" } })}\n\n`);
      daemon.raw('event:receive\ndata:{"envelope":{"timestamp":1,"dataMessage":7}}\n\n');
      rooms.say({ number: null, uuid: "", name: "" }, group, { message: 7 });
    },
    revoke() {
      daemon.isRegistered = false;
      daemon.cut();
    },
    close: () => daemon.down(),
  };
}
