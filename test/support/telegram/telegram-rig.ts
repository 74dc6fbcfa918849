/**
 * The Telegram server as the channel contract sees it: Ann, Bob and another bot in a forum group.
 */
import type { Message } from "@grammyjs/types";
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";
import { sampleToken, startTelegramServer } from "../servers/telegram.ts";

export async function telegramWorld(): Promise<ChannelWorld> {
  const server = await startTelegramServer();
  const { world } = server;
  const ann = world.user("Ann");
  const bob = world.user("Bob");
  const robot = world.user("Robot", { is_bot: true, username: "robot_bot" });
  const group = world.group("Kitchen", [ann, bob, robot], { is_forum: true });
  const direct = world.direct(ann);
  const topic = world.topic(group, ann, "Plans");
  // It was opened before the bot came.
  world.queue = [];
  const known = new Map<string, Message>();
  const parents = {
    us: world.build(group, world.bot, { text: "I said so" }),
    other: world.build(group, bob, { text: "Bob said so" }),
  };
  const say = async (what: SpokenMessage) => {
    const names = { us: `@${world.bot.username}`, other: "@bob" };
    const prefix = what.mentions === undefined ? "" : `${names[what.mentions]} `;
    const replyTo = what.repliesTo === undefined ? {} : { replyTo: parents[what.repliesTo] };
    const message = world.say(
      what.in === "direct" ? direct : group,
      what.by === "bot" ? robot : ann,
      prefix + what.text,
      { ...replyTo, ...(what.in === "thread" ? { topic } : {}) },
    );
    known.set(String(message.message_id), message);
    return String(message.message_id);
  };
  const ours = () =>
    world.answers(group).filter(({ message_id }) => message_id !== parents.us.message_id);
  return {
    config: { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 20 },
    secrets: [sampleToken, "canary"],
    classified: [
      [{ text: "hi", in: "direct" }, { chat: { kind: "direct", id: String(ann.id) } }],
      [{ text: "hi" }, { chat: { kind: "group", title: "Kitchen" }, thread: null, mentions: [] }],
      [{ text: "hi", mentions: "us" }, { mentions: [{ id: "4242", isSelf: true }] }],
      [{ text: "hi", mentions: "other" }, { mentions: [{ id: "@bob", isSelf: false }] }],
      [{ text: "hi", repliesTo: "us" }, { replyTo: { authorId: "4242", authorIsSelf: true } }],
      [
        { text: "hi", repliesTo: "other" },
        { replyTo: { authorId: String(bob.id), authorIsSelf: false, text: "Bob said so" } },
      ],
      [{ text: "hi", by: "bot" }, { author: { isBot: true, isSelf: false, name: "Robot" } }],
      [
        { text: "hi", in: "thread" },
        { thread: { id: String(topic), kind: "topic" }, replyTo: null },
      ],
    ],
    say,
    route: () => ({
      channel: "telegram",
      account: "default",
      chat: { id: String(group.chat.id), kind: "group" },
      thread: null,
    }),
    async shown(count) {
      await server.until(() => ours().length >= count, `${count} messages`);
      return ours().map(({ message_id, text = "", reply_to_message }) => ({
        id: String(message_id),
        text,
        replyTo: reply_to_message === undefined ? null : String(reply_to_message.message_id),
      }));
    },
    async echo(text) {
      const message = world.say(group, world.bot, text);
      return String(message.message_id);
    },
    async edit(id, text) {
      world.edit(group, known.get(id) as Message, text);
    },
    reactions: (id) => group.reactions.get(Number(id)) ?? [],
    typings: () => server.calls("sendChatAction").length,
    pings: () =>
      ours().flatMap(({ entities = [] }) =>
        entities.filter(
          (entity) =>
            entity.type === "text_mention" ||
            (entity.type === "text_link" && !/^https?:/.test(entity.url)),
        ),
      ).length,
    limitNext: (seconds) =>
      server.faults.add("sendMessage", { kind: "refuse", status: 429, retryAfter: seconds }),
    refuseNext: () => server.faults.add("sendMessage", { kind: "refuse", status: 400 }),
    loseAnswer: () => server.faults.add("sendMessage", { kind: "reset", done: true }),
    disconnect: () => server.down(),
    reconnect: () => server.up(),
    redeliver: () => server.faults.add("getUpdates", { kind: "duplicate" }),
    garbage() {
      world.post({ message: { message_id: "seven", chat: null } });
      world.post({ message: "not even an object" });
      world.post({ something_new: { a: 1 } });
      world.queue.push({ update_id: Number.NaN });
    },
    revoke() {
      server.token = "0:revoked";
      world.post({ something_new: {} });
    },
    close: () => server.close(),
  };
}
