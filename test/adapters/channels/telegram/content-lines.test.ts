/** What Telegram posts that is neither text nor a file: one honest line each, or the text it holds. */
import { describe, expect, test } from "vitest";
import { TelegramChats } from "../../../../src/adapters/channels/telegram/chats.ts";
import { eventOf } from "../../../../src/adapters/channels/telegram/normalise.ts";
import { updateSchema } from "../../../../src/adapters/channels/telegram/wire.ts";
import { inboundSchema } from "../../../../src/domain/message.ts";

const self = { id: "4242", username: "scout_bot", name: "Scout" };
const ann = { id: 7_001, is_bot: false, first_name: "Ann", last_name: "Lee", username: "ann" };
const bob = { id: 7_002, is_bot: false, first_name: "Bob" };
const group = { id: -1_001_234, type: "supergroup", title: "Kitchen", is_forum: true };
const news = { id: -1_005, type: "channel", title: "News" };
const file = { file_id: "f", file_unique_id: "f" };

const posted = (over: object, chats = new TelegramChats()) => {
  const message = { message_id: 11, date: 1_763_700_000, chat: group, from: ann, ...over };
  const update = updateSchema.parse({ update_id: 1, message });
  return eventOf(update, { account: "default", self, chats });
};
const inbound = (over: object, chats?: TelegramChats) => {
  const event = posted(over, chats);
  if (event?.type !== "message") throw new Error(`no message but ${event?.type}`);
  expect(inboundSchema.parse(event.message)).toEqual(event.message);
  return event.message;
};

describe("a post without text", () => {
  const tasks = [
    { id: 1, text: "milk", completion_date: 1_763_700_000 },
    { id: 2, text: "eggs" },
    { id: 3, text: "tea", completion_date: 0 },
  ];
  const checklist_message = {
    message_id: 1,
    date: 1,
    chat: group,
    checklist: { title: "Shop", tasks },
  };
  const sticker = { ...file, emoji: "🧸" };
  test.each<[string, object, string]>([
    ["poll", { poll: { question: "Tea?", options: [] } }, "[poll: Tea?]"],
    [
      "poll with options",
      { poll: { question: "Tea?", options: [{ text: "yes" }, { text: "no" }] } },
      "[poll: Tea? — yes, no]",
    ],
    ["location", { location: { latitude: 1.5, longitude: 2 } }, "[location: 1.5, 2]"],
    [
      "venue",
      {
        venue: { location: { latitude: 1, longitude: 2 }, title: "Café", address: "Main St 1" },
        location: { latitude: 1, longitude: 2 },
      },
      "[place: Café, Main St 1]",
    ],
    ["contact", { contact: { first_name: "Bob", phone_number: "1" } }, "[contact: Bob]"],
    ["dice", { dice: { emoji: "🎲", value: 4 } }, "[🎲 4]"],
    ["story", { story: { chat: news, id: 4 } }, "[story of News]"],
    [
      "checklist",
      { checklist: { title: "Shop", tasks } },
      "[checklist: Shop; open: eggs, tea; done: milk]",
    ],
    [
      "task that is done",
      { checklist_tasks_done: { checklist_message, marked_as_done_task_ids: [2] } },
      "[checklist: Shop; now done: eggs]",
    ],
    [
      "task that is not done any more",
      { checklist_tasks_done: { marked_as_not_done_task_ids: [1] } },
      "[checklist; no longer done: task 1]",
    ],
    [
      "new task",
      { checklist_tasks_added: { checklist_message, tasks: [{ id: 4, text: "jam" }] } },
      "[checklist: Shop; added: jam]",
    ],
    [
      "paid medium",
      { paid_media: { star_count: 5, paid_media: [{ type: "preview" }, { type: "photo" }] } },
      "[paid media: 2 items for 5 stars]",
    ],
    [
      "gift",
      { gift: { gift: { id: "g", sticker, star_count: 50 }, text: "for you" } },
      "[gift: 🧸 50 stars. for you]",
    ],
    [
      "unique gift",
      {
        unique_gift: {
          gift: { base_name: "Plush Pepe", name: "PlushPepe-7", number: 7 },
          origin: "transfer",
        },
      },
      "[gift: Plush Pepe #7]",
    ],
    [
      "game",
      { game: { title: "Chess", description: "A board game", photo: [] } },
      "[game: Chess. A board game]",
    ],
    [
      "invoice",
      { invoice: { title: "Tea", description: "Two cups", currency: "XTR", total_amount: 2 } },
      "[invoice: Tea. Two cups]",
    ],
    [
      "giveaway",
      { giveaway: { chats: [news], winners_selection_date: 1, winner_count: 3 } },
      "[giveaway: 3 winners]",
    ],
    [
      "giveaway that is over",
      {
        giveaway_winners: {
          chat: news,
          winner_count: 1,
          winners: [bob],
          prize_description: "a mug",
        },
      },
      "[giveaway that is over: a mug, 1 winner]",
    ],
    [
      "upgrade of a gift",
      { gift_upgrade_sent: { gift: { id: "g", sticker, star_count: 50 } } },
      "[upgrade of a gift: 🧸 50 stars]",
    ],
    [
      "story of a person",
      { story: { chat: { id: 1, type: "private", first_name: "Cy" } } },
      "[story of Cy]",
    ],
    ["payment", { successful_payment: { currency: "XTR", total_amount: 1 } }, "[paid: 1 star]"],
    [
      "payment in yen",
      { successful_payment: { currency: "JPY", total_amount: 500 } },
      "[paid: JPY 500]",
    ],
    [
      "refund",
      { refunded_payment: { currency: "EUR", total_amount: 1_250 } },
      "[refunded: EUR 12.50]",
    ],
    [
      "refund in an unknown currency",
      { refunded_payment: { currency: "?", total_amount: 7 } },
      "[refunded: 7 ?]",
    ],
    [
      "choice of people",
      {
        users_shared: { request_id: 1, users: [{ user_id: 1, first_name: "Cy" }, { user_id: 2 }] },
      },
      "[shared 2 persons: Cy]",
    ],
    [
      "choice of a chat",
      { chat_shared: { request_id: 1, chat_id: -5, title: "News" } },
      "[shared a chat: News]",
    ],
    [
      "web app's data",
      { web_app_data: { button_text: "Order", data: "two teas\n[boosted this chat 9 times]" } },
      "[web app Order: two teas [boosted this chat 9 times]]",
    ],
  ])("a %s is one line", (_what, content, text) => {
    expect(inbound({ text: undefined, ...content }).text).toBe(text);
  });

  test("a caption stays above the line", () => {
    const paid_media = { star_count: 5, paid_media: [{ type: "preview" }] };
    expect(inbound({ text: undefined, caption: "look", paid_media }).text).toBe(
      "look\n[paid media: 1 item for 5 stars]",
    );
  });
});

test("a rich message is its text, and one nested deeper than Telegram's is no error", () => {
  const blocks = [
    { type: "heading", size: 1, text: "Plan" },
    { type: "paragraph", text: ["buy ", { type: "bold", text: "tea" }] },
    { type: "list", items: [{ label: "1", blocks: [{ type: "paragraph", text: "green" }] }] },
  ];
  expect(inbound({ rich_message: { blocks } })).toMatchObject({
    text: "Plan\nbuy tea\ngreen",
    explicitOnly: false,
  });
  let text: unknown = "deep";
  for (let depth = 0; depth < 5_000; depth += 1) text = { type: "bold", text };
  const deep = { blocks: [{ type: "paragraph", text }] };
  expect(inbound({ rich_message: deep, caption: "on top" }).text).toBe("on top");
});

describe("a notice of Telegram's", () => {
  const opener = { message_id: 3, date: 1, chat: group, from: bob };
  const topic = { message_thread_id: 3, is_topic_message: true };
  const notices: [object, string][] = [
    [{ giveaway_created: {} }, "[giveaway created]"],
    [{ giveaway_completed: { winner_count: 0 } }, "[giveaway that is over: 0 winners]"],
    [{ boost_added: { boost_count: 1 } }, "[boosted this chat 1 time]"],
    [{ suggested_post_approved: { send_date: 1 } }, "[suggested post approved]"],
    [
      { suggested_post_approval_failed: { price: { currency: "XTR", amount: 5 } } },
      "[suggested post not approved: its price could not be paid]",
    ],
    [{ suggested_post_declined: { comment: "too long" } }, "[suggested post declined: too long]"],
    [{ suggested_post_paid: { currency: "XTR" } }, "[suggested post paid]"],
    [{ suggested_post_refunded: { reason: "post_deleted" } }, "[suggested post refunded]"],
    [{ ...topic, forum_topic_created: { name: "Soups" } }, "[topic created: Soups]"],
    [{ ...topic, forum_topic_edited: { name: "Stews" } }, "[topic renamed: Stews]"],
    [{ ...topic, forum_topic_edited: { icon_custom_emoji_id: "1" } }, "[topic edited]"],
    [{ ...topic, forum_topic_closed: {} }, "[topic closed]"],
    [{ ...topic, forum_topic_reopened: {} }, "[topic reopened]"],
  ];

  test.each(notices)("%j is a line that calls nobody", (content, text) => {
    expect(inbound(content)).toMatchObject({ text, explicitOnly: true });
  });

  test.each(notices)("%j is not heard in a private chat, where it would be answered", (content) => {
    expect(
      posted({ chat: { id: 7_001, type: "private", first_name: "Ann" }, ...content }),
    ).toBeNull();
  });

  test("that renames a topic gives its later messages the new name", () => {
    const chats = new TelegramChats();
    const forum_topic_created = { name: "Soups", icon_color: 1 };
    const said = { ...topic, text: "hi", reply_to_message: { ...opener, forum_topic_created } };
    expect(inbound(said, chats).thread).toMatchObject({ title: "Soups" });
    expect(inbound({ ...topic, forum_topic_edited: { name: "Stews" } }, chats).thread).toEqual({
      id: "3",
      kind: "topic",
      title: "Stews",
    });
    expect(inbound(said, chats).thread).toMatchObject({ title: "Stews" });
    expect(inbound({ ...topic, message_thread_id: 4, text: "hi" }, chats).thread).toEqual({
      id: "4",
      kind: "topic",
    });
  });
});

test("a reply to a story quotes it", () => {
  const got = inbound({ text: "nice", reply_to_story: { chat: news, id: 3 } });
  expect(got).toMatchObject({
    text: "nice",
    replyTo: null,
    quote: { text: "[story of News]", from: {} },
  });
});
