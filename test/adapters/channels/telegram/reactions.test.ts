/** Reactions of people: what Telegram reports, and what the agent learns of it. */
import { expect, test } from "vitest";
import { TelegramChats } from "../../../../src/adapters/channels/telegram/chats.ts";
import { eventOf } from "../../../../src/adapters/channels/telegram/normalise.ts";
import { updateSchema } from "../../../../src/adapters/channels/telegram/wire.ts";
import { reactionSchema } from "../../../../src/domain/message.ts";
import { openTelegramRooms } from "../../../support/telegram/telegram-rooms.ts";

const ann = { id: 7_001, is_bot: false, first_name: "Ann" };
const group = { id: -1_001_234, type: "supergroup", title: "Kitchen" };
const news = { id: -1_005, type: "channel", title: "News" };
const emoji = (...list: string[]) => list.map((one) => ({ type: "emoji", emoji: one }));

function reaction(over: object, chats = new TelegramChats()) {
  const message_reaction = { chat: group, message_id: 5, date: 60, old_reaction: [], ...over };
  const update = updateSchema.parse({ update_id: 9, message_reaction });
  const self = { id: "4242", username: "scout_bot", name: "Scout" };
  const event = eventOf(update, { account: "default", self, chats });
  if (event === null) return null;
  if (event.type !== "reaction") throw new Error(`no reaction but ${event.type}`);
  expect(reactionSchema.parse(event.reaction)).toEqual(event.reaction);
  return event.reaction;
}

test("a reaction has its author and what has changed", () => {
  const changed = { old_reaction: emoji("👍"), new_reaction: emoji("👍", "🔥") };
  expect(reaction({ ...changed, user: ann })).toMatchObject({
    id: "5",
    chat: { id: "-1001234", kind: "group", title: "Kitchen" },
    thread: null,
    author: { id: "7001", name: "Ann" },
    added: ["🔥"],
    removed: [],
    reactedAt: 60_000,
    reactionId: "9",
  });
  const same = { old_reaction: emoji("👍"), new_reaction: emoji("👍") };
  expect(reaction({ ...same, user: ann })).toBeNull();
});

test("an anonymous admin, a custom emoji and a paid reaction have no more than Telegram says", () => {
  const others = [{ type: "paid" }, { type: "custom_emoji", custom_emoji_id: "55" }];
  expect(reaction({ actor_chat: news, new_reaction: others })).toMatchObject({
    author: { id: "chat:-1005", name: "News", isChat: true },
    added: ["⭐", "(custom emoji)"],
  });
});

test("a reaction to what earshot sent into a topic belongs to the topic", () => {
  const chats = new TelegramChats();
  chats.sent({ chat_id: group.id, message_thread_id: 3 }, 5);
  const put = { user: ann, new_reaction: emoji("👍") };
  expect(reaction(put, chats)).toMatchObject({ thread: { id: "3", kind: "topic" } });
  expect(reaction({ ...put, message_id: 6 }, chats)).toMatchObject({ thread: null });
  expect(reaction({ ...put, chat: { ...group, id: -1 } }, chats)).toMatchObject({ thread: null });
});

test("the agent learns with its next turn that somebody reacted to its answer", async () => {
  const rooms = await openTelegramRooms({
    workers: 0,
    runs: ["first", "second"].map((text) => ({ steps: [{ text }] })),
  });
  const { world } = rooms.server;
  const topic = world.topic(rooms.group, rooms.people.ann as never, "Plans");
  rooms.say("ann", "@scout_bot one", { topic });
  const [answer] = await rooms.answers(1);
  await rooms.until(() => rooms.sends().length === 1, "the delivery to be known");
  world.post({
    message_reaction: {
      chat: rooms.group.chat,
      message_id: answer?.message_id,
      user: rooms.people.ann,
      date: Math.floor(Date.now() / 1_000),
      old_reaction: [],
      new_reaction: emoji("🔥"),
    },
  });
  rooms.say("ann", "@scout_bot two", { topic });
  await rooms.answers(2);
  expect(rooms.prompts()[1]).toMatch(/Ann reacted 🔥 to your message id:\d+ “first”/);
});
