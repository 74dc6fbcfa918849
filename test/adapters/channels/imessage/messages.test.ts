/**
 * What rows of the Messages database become: as a BlueBubbles server serialises them (MessageSerializer and
 * AttachmentSerializer of https://github.com/BlueBubblesApp/bluebubbles-server), and as imsg does (its page
 * JSON output, https://github.com/openclaw/imsg/blob/main/docs/json.md).
 */
import { expect, test } from "vitest";
import {
  rowOf as bubblesRow,
  messageSchema as bubblesSchema,
} from "../../../../src/adapters/channels/imessage/bluebubbles-wire.ts";
import {
  rowOf as imsgRow,
  messageSchema as imsgSchema,
} from "../../../../src/adapters/channels/imessage/imsg-wire.ts";
import {
  changeOf,
  createHeard,
  eventOf,
} from "../../../../src/adapters/channels/imessage/normalise.ts";
import { checkedEvent } from "../../../support/every-channel/checked-event.ts";

const ann = "+4930111111";
const sentAt = Date.UTC(2026, 10, 25, 8, 30);

/** What an account hears with BlueBubbles: by asking, and what its webhook posts. */
function bubbles() {
  const receiver = { account: "default", heard: createHeard() };
  const read = (payload: object) => bubblesRow(bubblesSchema.parse(payload));
  return {
    hear: (payload: object) => checkedEvent(eventOf(read(payload), receiver)),
    posted: (payload: object) => checkedEvent(changeOf(read(payload), receiver)),
  };
}

function imsg() {
  const receiver = { account: "default", heard: createHeard() };
  return (payload: object) => checkedEvent(eventOf(imsgRow(imsgSchema.parse(payload)), receiver));
}

const handle = {
  originalROWID: 5,
  address: ann,
  service: "iMessage",
  country: "de",
  uncanonicalizedId: null,
};
const kitchen = {
  originalROWID: 2,
  guid: "iMessage;+;chat100200300",
  style: 43,
  chatIdentifier: "chat100200300",
  isArchived: false,
  displayName: "kitchen",
};

/** A message of Ann in a group, as the server serialises it. */
const row = (text: string | null, more: object = {}) => ({
  originalROWID: 1_042,
  guid: "5F2A0B0C-1A2B-4C3D-8E4F-5A6B7C8D9E0F",
  text,
  attributedBody: null,
  handle,
  handleId: 5,
  otherHandle: 0,
  attachments: [],
  subject: null,
  error: 0,
  dateCreated: sentAt,
  dateRead: null,
  dateDelivered: null,
  isFromMe: false,
  hasDdResults: false,
  isArchived: false,
  itemType: 0,
  groupTitle: null,
  groupActionType: 0,
  balloonBundleId: null,
  associatedMessageGuid: null,
  associatedMessageType: null,
  expressiveSendStyleId: null,
  threadOriginatorGuid: null,
  hasPayloadData: false,
  country: null,
  isDelayed: false,
  isAutoReply: false,
  isSystemMessage: false,
  isServiceMessage: false,
  isForward: false,
  threadOriginatorPart: null,
  isCorrupt: false,
  datePlayed: null,
  cacheRoomnames: "chat100200300",
  isSpam: false,
  isExpired: false,
  isAudioMessage: false,
  replyToGuid: "AAAAAAAA-0000-4000-8000-000000000001",
  shareStatus: false,
  chats: [kitchen],
  messageSummaryInfo: null,
  payloadData: null,
  dateEdited: null,
  dateRetracted: null,
  partCount: 1,
  ...more,
});

const file = (guid: string, mimeType: string, transferName: string, more: object = {}) => ({
  originalROWID: 77,
  guid,
  uti: "public.data",
  mimeType,
  transferName,
  totalBytes: 30_334,
  transferState: 5,
  isOutgoing: false,
  hideAttachment: false,
  isSticker: false,
  originalGuid: guid,
  hasLivePhoto: false,
  height: 640,
  width: 640,
  metadata: { size: null, height: 640, width: 640 },
  ...more,
});

/** The same of imsg: what does not apply is left out. */
const line = (text: string, more: object = {}) => ({
  id: 1_042,
  cursor: 1_042,
  chat_id: 2,
  chat_identifier: "chat100200300",
  chat_guid: "iMessage;+;chat100200300",
  chat_name: "kitchen",
  participants: [ann, "bob@icloud.test"],
  is_group: true,
  guid: "5F2A0B0C-1A2B-4C3D-8E4F-5A6B7C8D9E0F",
  sender: ann,
  sender_name: "Ann",
  is_from_me: false,
  text,
  created_at: new Date(sentAt).toISOString(),
  attachments: [],
  reactions: [],
  is_read: false,
  ...more,
});

const stored = (name: string, mime_type: string, more: object = {}) => ({
  filename: `~/Library/Messages/Attachments/ab/11/${name}`,
  transfer_name: name,
  uti: "public.data",
  mime_type,
  byte_size: 30_334,
  is_sticker: false,
  missing: false,
  path: `/Users/scout/Library/Messages/Attachments/ab/11/${name}`,
  ...more,
});

test("a message of a group has who, where, when and what, from both programs", () => {
  const message = {
    id: "5F2A0B0C-1A2B-4C3D-8E4F-5A6B7C8D9E0F",
    text: "soup?",
    author: { id: ann, isBot: false, isSelf: false },
    chat: { id: "iMessage;+;chat100200300", kind: "group", title: "kitchen" },
    thread: null,
    replyTo: null,
    sentAt,
  };
  expect(bubbles().hear(row("soup?"))).toMatchObject({ type: "message", message });
  expect(imsg()(line("soup?"))).toMatchObject({
    type: "message",
    message: { ...message, author: { ...message.author, name: "Ann" } },
  });
});

test("an edit and an unsend come by the webhook; that a message was read is no edit", () => {
  const { hear, posted } = bubbles();
  hear(row("soop?"));
  expect(posted(row("soop?", { dateRead: sentAt + 2_000 }))).toBeNull();
  expect(posted(row("soup?", { dateEdited: sentAt + 4_000 }))).toMatchObject({
    type: "edit",
    edit: { id: row("").guid, text: "soup?", author: { id: ann }, editedAt: sentAt + 4_000 },
  });
  expect(posted(row(null, { dateRetracted: sentAt + 9_000 }))).toMatchObject({
    type: "delete",
    deletion: { id: row("").guid, chat: { id: kitchen.guid } },
  });
});

test("several pictures are one message, with what was written to them", () => {
  // Messages has a letter in the place of each file.
  const text = "\ufffc\ufffcthe soup\ufffc";
  const kinds = [
    { kind: "image", name: "IMG_1.jpeg", mime: "image/jpeg", bytes: 30_334 },
    { kind: "image", name: "IMG_2.heic" },
    { kind: "video", name: "IMG_3.mov" },
  ];
  const attachments = [
    file("at_0_5F2A0B0C", "image/jpeg", "IMG_1.jpeg"),
    file("at_1_5F2A0B0C", "image/heic", "IMG_2.heic"),
    file("at_2_5F2A0B0C", "video/quicktime", "IMG_3.mov"),
  ];
  expect(bubbles().hear(row(text, { attachments, partCount: 4 }))).toMatchObject({
    message: { text: "the soup", attachments: kinds },
  });
  const files = [
    stored("IMG_1.jpeg", "image/jpeg"),
    stored("IMG_2.heic", "image/heic"),
    stored("IMG_3.mov", "video/quicktime"),
  ];
  expect(imsg()(line(text, { attachments: files }))).toMatchObject({
    message: { text: "the soup", attachments: kinds },
  });
});

test("a file that is a preview's is none; one that is not on the Mac is named", () => {
  const hidden = file("at_0_1", "application/octet-stream", "x.pluginPayloadAttachment", {
    hideAttachment: true,
  });
  expect(bubbles().hear(row("https://example.org", { attachments: [hidden] }))).toMatchObject({
    message: { text: "https://example.org", attachments: [] },
  });
  const gone = stored("IMG_9.heic", "image/heic", { missing: true, path: "" });
  expect(imsg()(line("\ufffc", { attachments: [gone] }))).toMatchObject({
    message: { text: "[file that is not there: IMG_9.heic]", attachments: [] },
  });
});

test("a sticker that was put on a message is its file, as a reply to that message", () => {
  const { hear } = bubbles();
  hear(row("soup?"));
  const sticker = row("\ufffcfor you", {
    originalROWID: 1_043,
    guid: "6F2A0B0C-1A2B-4C3D-8E4F-5A6B7C8D9E0F",
    associatedMessageGuid: `p:0/${row("").guid}`,
    associatedMessageType: "sticker",
    attachments: [file("at_0_6F2A0B0C", "image/heic", "sticker.heic", { isSticker: true })],
  });
  expect(hear(sticker)).toMatchObject({
    type: "message",
    message: {
      text: "for you",
      attachments: [{ kind: "image", name: "sticker.heic" }],
      replyTo: { id: row("").guid, authorId: ann, text: "soup?" },
    },
  });
  const sent = stored("sticker.heic", "image/heic", { is_sticker: true });
  expect(imsg()(line("\ufffc", { attachments: [sent] }))).toMatchObject({
    message: { text: "", attachments: [{ kind: "image", name: "sticker.heic" }] },
  });
});

test("a subject is the first line of what was said", () => {
  expect(bubbles().hear(row("who has time?", { subject: "Dinner" }))).toMatchObject({
    message: { text: "Dinner\nwho has time?" },
  });
  expect(bubbles().hear(row(null, { subject: "Dinner" }))).toMatchObject({
    message: { text: "Dinner" },
  });
});

test("a reply names its message, whose it is and what it says, where that was heard", () => {
  const reply = { guid: "7F2A0B0C-1A2B-4C3D-8E4F-5A6B7C8D9E0F" };
  const known = {
    replyTo: { id: row("").guid, authorId: ann, authorIsSelf: false, text: "soup?" },
  };
  const { hear } = bubbles();
  hear(row("soup?"));
  // The column reply_to_guid is the message before, whatever that was: it is no reply.
  expect(hear(row("more", { guid: "8F2A", replyToGuid: row("").guid }))).toMatchObject({
    message: { replyTo: null },
  });
  const threaded = { threadOriginatorGuid: row("").guid, threadOriginatorPart: "0:0:5" };
  expect(hear(row("yes", { ...reply, ...threaded }))).toMatchObject({ message: known });
  const read = imsg();
  read(line("soup?"));
  const originator = { reply_to_guid: row("").guid, thread_originator_guid: row("").guid };
  expect(read(line("yes", { ...reply, ...originator }))).toMatchObject({ message: known });
  expect(imsg()(line("yes", { ...reply, ...originator }))?.type).toBe("message");
});

test("who joins, leaves or renames a group, and a new picture of it, say nothing", () => {
  const { hear } = bubbles();
  // item_type 1: joined (group_action_type 0) or removed (1); 2: renamed; 3: left, or a new picture.
  for (const more of [
    { itemType: 1, groupActionType: 0, otherHandle: 6 },
    { itemType: 1, groupActionType: 1, otherHandle: 6 },
    { itemType: 2, groupTitle: "the kitchen" },
    { itemType: 3, groupActionType: 0 },
    { itemType: 3, groupActionType: 1 },
  ])
    expect(hear(row(null, more)), JSON.stringify(more)).toBeNull();
  expect(imsg()(line("", { balloon_bundle_id: undefined }))).toBeNull();
});

test("a person who has left was heard all the same; a row of nobody says nothing", () => {
  const left = line("bye", { participants: ["bob@icloud.test"] });
  expect(imsg()(left)).toMatchObject({ message: { text: "bye", author: { id: ann } } });
  expect(imsg()(line("?", { sender: "" }))).toBeNull();
  expect(bubbles().hear(row("?", { handle: null, handleId: 0 }))).toBeNull();
});

test("what is set in bold or with an effect is its words", () => {
  const attributedBody = [
    {
      string: "soup is ready",
      runs: [
        {
          range: [0, 4],
          attributes: { __kIMMessagePartAttributeName: 0, __kIMTextBoldAttributeName: 1 },
        },
        {
          range: [4, 9],
          attributes: { __kIMMessagePartAttributeName: 0, __kIMTextEffectAttributeName: 5 },
        },
      ],
    },
  ];
  const loud = row("soup is ready", {
    attributedBody,
    expressiveSendStyleId: "com.apple.MobileSMS.expressivesend.loud",
  });
  expect(bubbles().hear(loud)).toMatchObject({
    message: { text: "soup is ready", mentions: [] },
  });
});

test("a mention is of the handle that Messages confirmed", () => {
  const attributedBody = [
    {
      string: "Bob, soup?",
      runs: [
        {
          range: [0, 3],
          attributes: {
            __kIMMessagePartAttributeName: 0,
            __kIMMentionConfirmedMention: "bob@icloud.test",
          },
        },
        { range: [3, 7], attributes: { __kIMMessagePartAttributeName: 0 } },
      ],
    },
  ];
  expect(bubbles().hear(row("Bob, soup?", { attributedBody }))).toMatchObject({
    message: { mentions: [{ id: "bob@icloud.test", name: "Bob", isSelf: false }] },
  });
});

test.each([
  ["love", null, "❤️", true],
  ["-emphasize", null, "‼️", false],
  ["2006", "🎉", "🎉", true],
  ["3006", "🎉", "🎉", false],
])("the tapback %s is a reaction, and not its sentence", (type, emoji, shown, isAdded) => {
  const { hear } = bubbles();
  hear(row("soup?"));
  const tapback = row("Reacted to “soup?”", {
    guid: "9F2A0B0C-1A2B-4C3D-8E4F-5A6B7C8D9E0F",
    associatedMessageGuid: `p:0/${row("").guid}`,
    associatedMessageType: type,
    associatedMessageEmoji: emoji,
  });
  expect(hear(tapback)).toMatchObject({
    type: "reaction",
    reaction: {
      id: row("").guid,
      author: { id: ann },
      added: isAdded ? [shown] : [],
      removed: isAdded ? [] : [shown],
    },
  });
});

test("a tapback whose emoji is not told says nothing", () => {
  const unknown = { associatedMessageGuid: `p:0/${row("").guid}`, associatedMessageType: "2006" };
  expect(bubbles().hear(row("Reacted 🎉 to “soup?”", unknown))).toBeNull();
});

test("a poll of Messages is a line with its question and options", () => {
  const poll = {
    kind: "created",
    event: "imessage.poll.created",
    poll_guid: "A1B2",
    question: "Dinner?",
    options: [
      { id: "opt-1", text: "Pizza" },
      { id: "opt-2", text: "Sushi" },
    ],
  };
  const made = line("", {
    balloon_bundle_id: "com.apple.messages.MSMessageExtensionBalloonPlugin",
    poll,
  });
  expect(imsg()(made)).toMatchObject({ message: { text: "[poll: Dinner? · Pizza / Sushi]" } });
});
