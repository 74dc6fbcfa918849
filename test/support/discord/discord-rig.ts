/**
 * The Discord server as the channel contract sees it: Ann, Bob and another bot in a channel, and a thread.
 */
import type { APIMessage } from "discord-api-types/v10";
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";
import { sampleToken, startDiscordServer } from "./discord-server.ts";

export async function discordWorld(): Promise<ChannelWorld> {
  const server = await startDiscordServer();
  const { world, gateway, faults } = server;
  const ann = world.user("Ann");
  const bob = world.user("Bob");
  const robot = world.user("Robot", { bot: true });
  const guild = world.guild("House");
  const kitchen = world.channel(guild, "kitchen");
  const thread = world.thread(guild, kitchen, ann, "Plans");
  const direct = world.direct();
  const parents = {
    us: world.build(kitchen, world.bot, "I said so"),
    other: world.build(kitchen, bob, "Bob said so"),
  };
  const ours = () => world.answers(kitchen).filter(({ id }) => id !== parents.us.id);
  const place = (what: SpokenMessage) => ({ group: kitchen, direct, thread })[what.in ?? "group"];
  const say = async (what: SpokenMessage) => {
    const named = what.mentions === "us" ? world.bot : bob;
    const mention = what.mentions === undefined ? "" : `<@${named.id}> `;
    const message = world.say(place(what), what.by === "bot" ? robot : ann, mention + what.text, {
      ...(what.mentions === undefined ? {} : { mentions: [named] }),
      ...(what.repliesTo === undefined ? {} : { replyTo: parents[what.repliesTo] }),
    });
    return message.id;
  };
  return {
    config: { token: sampleToken, apiRoot: server.apiRoot },
    secrets: [sampleToken, "canary"],
    classified: [
      [{ text: "hi", in: "direct" }, { chat: { kind: "direct", id: direct.id } }],
      [{ text: "hi" }, { chat: { kind: "group", title: "kitchen" }, thread: null, mentions: [] }],
      [
        { text: "hi", mentions: "us" },
        { mentions: [{ id: world.bot.id, isSelf: true }], text: "@Scout hi" },
      ],
      [{ text: "hi", mentions: "other" }, { mentions: [{ id: bob.id, isSelf: false }] }],
      [
        { text: "hi", repliesTo: "us" },
        { replyTo: { authorId: world.bot.id, authorIsSelf: true }, mentions: [] },
      ],
      [
        { text: "hi", repliesTo: "other" },
        { replyTo: { authorId: bob.id, authorIsSelf: false, text: "Bob said so" } },
      ],
      [{ text: "hi", by: "bot" }, { author: { isBot: true, isSelf: false, name: "Robot" } }],
      [
        { text: "hi", in: "thread" },
        {
          chat: { id: kitchen.id },
          thread: { id: thread.id, kind: "thread", rootAuthorId: ann.id, title: "Plans" },
          replyTo: null,
        },
      ],
    ],
    say,
    route: () => ({
      channel: "discord",
      account: "default",
      chat: { id: kitchen.id, kind: "group" },
      thread: null,
    }),
    async shown(count) {
      await server.until(() => ours().length >= count, `${count} messages`);
      return ours().map((message) => ({
        id: message.id,
        text: message.content,
        replyTo: message.message_reference?.message_id ?? null,
      }));
    },
    echo: async (text) => world.say(kitchen, world.bot, text).id,
    edit: async (id, text) => world.edit(kitchen, id, text),
    react: async (id, emoji, on) => world.react(kitchen, id, ann, emoji, on),
    reactions: (id) => kitchen.reactions.get(id) ?? [],
    typings: () => server.called("typing").length,
    pings: () => ours().filter(pings).length,
    limitNext: (seconds) =>
      faults.add("createMessage", { kind: "refuse", status: 429, retryAfter: seconds }),
    refuseNext: () => faults.add("createMessage", { kind: "refuse", status: 400 }),
    disconnect: () => server.down(),
    reconnect: () => server.up(),
    redeliver() {
      gateway.copies = 2;
    },
    garbage() {
      gateway.raw("not even JSON");
      world.emit("MESSAGE_CREATE", { id: 7, channel_id: null });
      world.emit("MESSAGE_CREATE", "not even an object");
      world.emit("MESSAGE_UPDATE", null);
      world.emit("SOMETHING_NEW", { a: 1 });
    },
    revoke() {
      server.token = "revoked";
      gateway.end(4004);
    },
    close: () => server.down(),
  };
}

const pings = ({ mention_everyone, mentions }: APIMessage): boolean =>
  mention_everyone || mentions.length > 0;
