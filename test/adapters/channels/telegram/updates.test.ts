/** Updates as Telegram sends them, and the channel event that must come of each. */
import { describe, expect, test } from "vitest";
import { TelegramChats } from "../../../../src/adapters/channels/telegram/chats.ts";
import { target } from "../../../../src/adapters/channels/telegram/client.ts";
import { eventOf } from "../../../../src/adapters/channels/telegram/normalise.ts";
import { updateSchema } from "../../../../src/adapters/channels/telegram/wire.ts";
import { editSchema, inboundSchema, routeOf } from "../../../../src/domain/message.ts";

const self = { id: "4242", username: "scout_bot", name: "Scout" };
const ann = { id: 7_001, is_bot: false, first_name: "Ann", last_name: "Lee", username: "ann" };
const bob = { id: 7_002, is_bot: false, first_name: "Bob" };
const bot = { id: 4_242, is_bot: true, first_name: "Scout", username: "scout_bot" };
const group = { id: -1_001_234, type: "supergroup", title: "Kitchen", is_forum: true };

const receiver = { account: "default", self, chats: new TelegramChats() };

const message = (over: object) => ({
  message_id: 11,
  date: 1_763_700_000,
  chat: group,
  from: ann,
  text: "hello",
  ...over,
});
const inbound = (over: object) => {
  const update = updateSchema.parse({ update_id: 1, message: message(over) });
  const event = eventOf(update, receiver);
  if (event?.type !== "message") throw new Error(`no message but ${event?.type}`);
  expect(inboundSchema.parse(event.message)).toEqual(event.message);
  return event.message;
};

describe("telegram updates", () => {
  test("a plain message keeps who, where, when and what", () => {
    expect(inbound({})).toEqual({
      channel: "telegram",
      account: "default",
      chat: { id: "-1001234", kind: "group", title: "Kitchen" },
      thread: null,
      id: "11",
      author: { id: "7001", name: "Ann Lee", username: "ann", isBot: false, isSelf: false },
      text: "hello",
      mentions: [],
      mentionsEveryone: false,
      replyTo: null,
      attachments: [],
      explicitOnly: false,
      sentAt: 1_763_700_000_000,
    });
  });

  test("what is forwarded says so, and what is shown as code or as a quote is marked", () => {
    const forward_origin = { type: "user", sender_user: bob, date: 1 };
    expect(inbound({ text: "/stop", forward_origin })).toMatchObject({
      forwarded: { authorId: "7002", authorName: "Bob", sentAt: 1_000 },
      explicitOnly: true,
    });
    const text = "see /stop or /new there";
    const entities = [
      { type: "code", offset: 4, length: 5 },
      { type: "bold", offset: 0, length: 3 },
      { type: "blockquote", offset: 13, length: 400 },
    ];
    expect(inbound({ text, entities }).verbatim).toEqual([
      [4, 9],
      [13, text.length],
    ]);
    expect(inbound({ text }).verbatim).toBeUndefined();
  });

  const entity = (type: string, text: string, covered: string, extra: object = {}) => ({
    text,
    entities: [{ type, offset: text.indexOf(covered), length: covered.length, ...extra }],
  });

  test.each([
    ["our username", entity("mention", "hey @scout_bot", "@scout_bot"), ["4242", true]],
    ["our username in capitals", entity("mention", "@SCOUT_BOT hi", "@SCOUT_BOT"), ["4242", true]],
    ["another username", entity("mention", "hey @Bob", "@Bob"), ["@bob", false]],
    [
      "someone without a username",
      entity("text_mention", "hey Bob", "Bob", { user: bob }),
      ["7002", false],
    ],
    ["us by text mention", entity("text_mention", "hey you", "you", { user: bot }), ["4242", true]],
    [
      "a command for us",
      entity("bot_command", "/help@scout_bot", "/help@scout_bot"),
      ["4242", true],
    ],
    [
      "a command for another",
      entity("bot_command", "/help@x_bot", "/help@x_bot"),
      ["@x_bot", false],
    ],
    ["a name after emoji", entity("mention", "👩‍👩‍👧 @scout_bot", "@scout_bot"), ["4242", true]],
  ])("a mention of %s", (_what, words, [id, isSelf]) => {
    expect(inbound(words).mentions).toMatchObject([{ id, isSelf }]);
  });

  test("a bare command, a hashtag or an @ that Telegram did not mark mentions nobody", () => {
    expect(inbound(entity("bot_command", "/help", "/help")).mentions).toEqual([]);
    expect(inbound(entity("hashtag", "#scout_bot", "#scout_bot")).mentions).toEqual([]);
    expect(inbound({ text: "mail me at x@scout_bot" }).mentions).toEqual([]);
  });

  test("an entity out of bounds is not guessed into a mention", () => {
    const entities = [{ type: "mention", offset: 500, length: 10 }];
    expect(inbound({ entities }).mentions).toEqual([]);
  });

  test("a mention in a caption counts, with the photo's largest size", () => {
    const photo = [
      { file_id: "small", file_unique_id: "s", width: 90, height: 90, file_size: 100 },
      { file_id: "large", file_unique_id: "l", width: 900, height: 900, file_size: 9_000 },
    ];
    const caption_entities = [{ type: "mention", offset: 0, length: 10 }];
    const got = inbound({
      text: undefined,
      photo,
      caption: "@scout_bot look",
      caption_entities,
      media_group_id: "album-1",
    });
    expect(got).toMatchObject({
      text: "@scout_bot look",
      mentions: [{ isSelf: true }],
      attachments: [{ id: "large", kind: "image", mime: "image/jpeg", bytes: 9_000 }],
      groupId: "album-1",
    });
  });

  const file = { file_id: "f1", file_unique_id: "u1", file_size: 5 };
  test.each<[string, object, object]>([
    [
      "document",
      { ...file, file_name: "a.pdf", mime_type: "application/pdf" },
      { kind: "file", name: "a.pdf" },
    ],
    ["document", { ...file, mime_type: "image/png" }, { kind: "image" }],
    [
      "voice",
      { ...file, mime_type: "audio/ogg", duration: 2 },
      { kind: "audio", mime: "audio/ogg" },
    ],
    ["audio", { ...file, duration: 2 }, { kind: "audio" }],
    ["video", { ...file, width: 1, height: 1, duration: 1 }, { kind: "video" }],
    ["video_note", { ...file, length: 1, duration: 1 }, { kind: "video", mime: "video/mp4" }],
    [
      "sticker",
      { ...file, emoji: "🙂", is_animated: false, is_video: false },
      { kind: "image", name: "🙂" },
    ],
  ])("a %s is metadata with its kind", (name, value, expected) => {
    expect(inbound({ text: undefined, [name]: value }).attachments).toMatchObject([
      { id: "f1", bytes: 5, ...expected },
    ]);
  });

  test("an animation is one attachment, not also the document that repeats it", () => {
    const got = inbound({ text: undefined, animation: file, document: file });
    expect(got.attachments).toMatchObject([{ kind: "video" }]);
  });

  test("a reply names the author of its parent, and whether that is us", () => {
    const parent = { message_id: 5, date: 1, chat: group, from: bot, text: "as I said" };
    expect(inbound({ reply_to_message: parent }).replyTo).toEqual({
      id: "5",
      authorId: "4242",
      authorName: "Scout",
      authorIsSelf: true,
      text: "as I said",
    });
    const other = { ...parent, from: bob };
    expect(inbound({ reply_to_message: other, quote: { text: "said" } }).replyTo).toMatchObject({
      authorId: "7002",
      authorIsSelf: false,
      text: "said",
    });
  });

  test("a line in a topic belongs to the topic and replies to nothing", () => {
    const opener = { message_id: 3, date: 1, chat: group, from: bob, forum_topic_created: {} };
    const topic = { message_thread_id: 3, is_topic_message: true };
    expect(inbound({ ...topic, reply_to_message: opener })).toMatchObject({
      thread: { id: "3", kind: "topic" },
      replyTo: null,
    });
    const bare = { message_id: 3, date: 1, chat: group, from: bob };
    expect(inbound({ ...topic, reply_to_message: bare }).replyTo).toBeNull();
  });

  test("a reply chain in a group without topics is no thread", () => {
    expect(inbound({ message_thread_id: 3 }).thread).toBeNull();
  });

  test("an anonymous admin is the chat, never the stand-in user and never a plain id", () => {
    const standIn = { id: 1_087_968_824, is_bot: true, first_name: "Group" };
    const got = inbound({ from: standIn, sender_chat: group, author_signature: "boss" });
    expect(got.author).toEqual({
      id: "chat:-1001234",
      name: "boss, Kitchen",
      isBot: false,
      isSelf: false,
      isChat: true,
    });
  });

  test("a channel post is heard in a channel, in the channel's own name", () => {
    const channel = { id: -1_005, type: "channel", title: "News" };
    const channel_post = message({ chat: channel, from: undefined, sender_chat: channel });
    const event = eventOf(updateSchema.parse({ update_id: 1, channel_post }), receiver);
    expect(event).toMatchObject({
      type: "message",
      message: { chat: { kind: "channel" }, author: { id: "chat:-1005", name: "News" } },
    });
  });

  test("forwarded words call and name nobody", () => {
    const got = inbound({
      ...entity("mention", "hey @scout_bot", "@scout_bot"),
      forward_origin: { type: "user", date: 1, sender_user: bob },
    });
    expect(got).toMatchObject({ mentions: [], explicitOnly: true });
  });

  test("bots are bots, and our own lines are ours", () => {
    const peer = { id: 9, is_bot: true, first_name: "Peer" };
    expect(inbound({ from: peer }).author).toMatchObject({ isBot: true, isSelf: false });
    expect(inbound({ from: bot }).author).toMatchObject({ isBot: true, isSelf: true });
  });

  test("an edit has the platform's time of the edit", () => {
    const edited_message = message({ text: "hullo", edit_date: 1_763_700_060 });
    const update = updateSchema.parse({ update_id: 1, edited_message });
    const event = eventOf(update, { ...receiver, account: "main" });
    if (event?.type !== "edit") throw new Error("no edit");
    expect(editSchema.parse(event.edit)).toEqual(event.edit);
    expect(event.edit).toMatchObject({
      account: "main",
      id: "11",
      text: "hullo",
      author: { id: "7001" },
      editedAt: 1_763_700_060_000,
      editId: "1",
    });
  });

  const news = { id: -1_005, type: "channel", title: "News" };
  test.each<[string, object, object]>([
    [
      "a hidden person",
      { type: "hidden_user", date: 2, sender_user_name: "Eve" },
      { authorName: "Eve", sentAt: 2_000 },
    ],
    [
      "a channel",
      { type: "channel", date: 2, chat: news, message_id: 5, author_signature: "ed" },
      { authorName: "ed", chat: { id: "-1005", title: "News" }, messageId: "5", sentAt: 2_000 },
    ],
    [
      "an anonymous admin",
      { type: "chat", date: 2, sender_chat: group },
      { chat: { id: "-1001234", title: "Kitchen" }, sentAt: 2_000 },
    ],
  ])("what is forwarded from %s says from whom", (_who, forward_origin, forwarded) => {
    expect(inbound({ forward_origin }).forwarded).toEqual(forwarded);
  });

  test("a quote that was chosen is said apart from the message it is a part of", () => {
    const parent = { message_id: 5, date: 1, chat: group, from: bob, text: "tea, then soup" };
    const quote = { text: "soup", position: 10, is_manual: true };
    expect(inbound({ reply_to_message: parent, quote })).toMatchObject({
      replyTo: { id: "5", text: "tea, then soup" },
      quote: { text: "soup" },
    });
    const cut = inbound({ reply_to_message: parent, quote: { text: "tea", position: 0 } });
    expect(cut).toMatchObject({ replyTo: { text: "tea" } });
    expect(cut).not.toHaveProperty("quote");
  });

  test("a reply to a message of another chat quotes it, and replies to nothing here", () => {
    const origin = { type: "channel", date: 2, chat: news, message_id: 9 };
    const external_reply = { origin, chat: news, message_id: 9, poll: { question: "Tea?" } };
    expect(inbound({ external_reply })).toMatchObject({
      replyTo: null,
      quote: {
        text: "[poll: Tea?]",
        from: { chat: { id: "-1005", title: "News" }, messageId: "9", sentAt: 2_000 },
      },
    });
    const quote = { text: "tea", position: 3 };
    expect(inbound({ external_reply, quote }).quote).toMatchObject({ text: "tea" });
  });

  test("a topic has the name that its opener says", () => {
    const opener = { message_id: 3, date: 1, chat: group, from: bob };
    const forum_topic_created = { name: "Soups", icon_color: 1 };
    const topic = { message_thread_id: 3, is_topic_message: true };
    expect(
      inbound({ ...topic, reply_to_message: { ...opener, forum_topic_created } }).thread,
    ).toEqual({ id: "3", kind: "topic", title: "Soups" });
  });

  test("what somebody writes to a channel is a direct talk of its own", () => {
    const chat = { id: -1_006, type: "supergroup", title: "News", is_direct_messages: true };
    const got = inbound({ chat, direct_messages_topic: { topic_id: 7_001, user: ann } });
    expect(got).toMatchObject({
      chat: { id: "-1006", kind: "direct", title: "News" },
      thread: { id: "7001", kind: "topic" },
      author: { id: "7001" },
    });
    expect(target(routeOf(got))).toEqual({ chat_id: -1_006, direct_messages_topic_id: 7_001 });
    const forum = { id: 7_001, type: "private", first_name: "Ann" };
    const topic = { message_thread_id: 3, is_topic_message: true };
    const own = inbound({ chat: forum, ...topic });
    expect(target(routeOf(own))).toEqual({ chat_id: 7_001, message_thread_id: 3 });
  });

  test.each<[string, object]>([
    ["a join", { new_chat_members: [bob] }],
    ["a departure", { left_chat_member: bob }],
    ["a title change", { new_chat_title: "x" }],
    ["a pinned message", { pinned_message: { message_id: 1, date: 1, chat: group } }],
  ])("%s says nothing", (_what, content) => {
    const raw = { update_id: 1, message: message({ text: undefined, ...content }) };
    expect(eventOf(updateSchema.parse(raw), receiver)).toBeNull();
  });

  test("an unknown kind of update says nothing and is no error", () => {
    const update = updateSchema.parse({ update_id: 1, poll_answer: { anything: true } });
    expect(eventOf(update, receiver)).toBeNull();
  });

  test.each<[string, unknown]>([
    ["text of the wrong type", message({ text: 7 })],
    ["no chat", message({ chat: undefined })],
    ["an id that no double holds", message({ message_id: 2 ** 53 })],
    ["a chat of an unknown type", message({ chat: { id: 1, type: "planet" } })],
    [
      "more entities than any message has",
      message({ entities: Array(5_000).fill({ type: "mention", offset: 0, length: 1 }) }),
    ],
  ])("%s is refused at the edge", (_what, wrong) => {
    expect(updateSchema.safeParse({ update_id: 1, message: wrong }).success).toBe(false);
  });

  test("keys that reach for prototypes change nothing", () => {
    const raw: unknown = JSON.parse(
      '{"update_id":1,"__proto__":{"polluted":1},"message":{"constructor":{"prototype":{"polluted":1}}}}',
    );
    expect(updateSchema.safeParse(raw).success).toBe(false);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});
