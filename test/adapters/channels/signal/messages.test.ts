/**
 * What signal-cli's JSON becomes: envelopes in the form that its manual shows, with everything that
 * happens in real rooms.
 */
import { expect, test } from "vitest";
import { SignalNames } from "../../../../src/adapters/channels/signal/names.ts";
import { eventOf } from "../../../../src/adapters/channels/signal/normalise.ts";
import { eventSchema } from "../../../../src/adapters/channels/signal/wire.ts";
import { checkedEvent } from "../../../support/every-channel/checked-event.ts";

const self = "+4930555000111";
const selfUuid = "aaaaaaaa-0000-4000-8000-000000000001";
const ann = "bbbbbbbb-0000-4000-8000-000000000001";
const bob = "cccccccc-0000-4000-8000-000000000002";
const group = "Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI=";
const groupInfo = { groupId: group, groupName: "kitchen", revision: 3, type: "DELIVER" };

/** Reads envelopes as one account does. */
function reader() {
  const names = new SignalNames(self, "Scout");
  return (envelope: object, more: object = {}) => {
    const read = eventSchema.parse({ account: self, envelope, ...more });
    const event = read.envelope ? eventOf(read.envelope, { account: "default", names }) : null;
    return checkedEvent(event);
  };
}

const from = (uuid: string, name: string, timestamp: number, number: string | null = null) => ({
  source: number ?? uuid,
  sourceNumber: number,
  sourceUuid: uuid,
  sourceName: name,
  sourceDevice: 1,
  timestamp,
  serverReceivedTimestamp: timestamp + 5,
  serverDeliveredTimestamp: timestamp + 9,
});

const data = (timestamp: number, message: string | null, more: object = {}) => ({
  timestamp,
  message,
  expiresInSeconds: 0,
  viewOnce: false,
  ...more,
});

const said = (message: string | null, more: object = {}) => ({
  ...from(ann, "Ann", 1_631_458_508_784),
  dataMessage: data(1_631_458_508_784, message, { groupInfo, ...more }),
});

test("the example of the manual is a direct message", () => {
  const event = reader()({
    source: "+33123456789",
    sourceNumber: "+33123456789",
    sourceUuid: ann,
    sourceName: "name",
    sourceDevice: 1,
    timestamp: 1_631_458_508_784,
    dataMessage: data(1_631_458_508_784, "foobar", { mentions: [], attachments: [], contacts: [] }),
  });
  expect(event).toMatchObject({
    message: {
      id: `${ann}:1631458508784`,
      chat: { id: ann, kind: "direct", title: "name" },
      author: { id: ann, name: "name", isSelf: false },
      text: "foobar",
      sentAt: 1_631_458_508_784,
      replyTo: null,
    },
  });
});

test("an event of the manual receive mode is the same, wrapped once more", () => {
  const read = eventSchema.parse({
    subscription: 0,
    result: { envelope: said("hi"), account: self },
  });
  expect(read.envelope?.dataMessage?.message).toBe("hi");
});

test("names stand where people are mentioned, and what lies behind moves, in UTF-16 units", () => {
  const read = reader();
  read({ ...from(bob, "Bob", 5), dataMessage: data(5, "hi", { groupInfo }) });
  const event = read(
    said("😀 \ufffc and \ufffc run ls", {
      mentions: [
        { name: bob, number: null, uuid: bob, start: 9, length: 1 },
        { name: self, number: self, uuid: selfUuid, start: 3, length: 1 },
      ],
      textStyles: [{ style: "MONOSPACE", start: 15, length: 2 }],
    }),
  );
  if (event?.type !== "message") throw new Error("no message");
  const { text, mentions, verbatim } = event.message;
  expect(text).toBe("😀 @Scout and @Bob run ls");
  expect(mentions).toEqual([
    { id: self, name: "Scout", isSelf: true },
    { id: bob, name: "Bob", isSelf: false },
  ]);
  const [start = 0, end = 0] = verbatim?.[0] ?? [];
  expect(text.slice(start, end)).toBe("ls");
});

test("mentions that do not fit the text are passed over", () => {
  const event = reader()(
    said("hi", { mentions: [{ number: self, uuid: null, start: 7, length: 1 }] }),
  );
  expect(event).toMatchObject({ message: { text: "hi", mentions: [] } });
});

test("a quote is a reply, with its author and text", () => {
  const quote = {
    id: 1_600_000_000_000,
    author: self,
    authorNumber: self,
    authorUuid: selfUuid,
    text: "\ufffc hello",
    attachments: [],
    mentions: [{ number: null, uuid: bob, start: 0, length: 1 }],
  };
  expect(reader()(said("why?", { quote }))).toMatchObject({
    message: {
      replyTo: {
        id: `${self}:1600000000000`,
        authorId: self,
        authorIsSelf: true,
        text: `@${bob} hello`,
      },
    },
  });
});

test("the account is known by its ACI once it was heard with its number", () => {
  const read = reader();
  const sent = { ...data(7, "from my phone"), destinationUuid: ann };
  const own = read({ ...from(selfUuid, "Me", 7, self), syncMessage: { sentMessage: sent } });
  expect(own).toMatchObject({
    message: { id: `${self}:7`, chat: { id: ann, kind: "direct" }, author: { isSelf: true } },
  });
  const quote = { id: 7, authorNumber: null, authorUuid: selfUuid, text: "x", attachments: [] };
  expect(read(said("?", { quote }))).toMatchObject({
    message: { replyTo: { id: `${self}:7`, authorIsSelf: true } },
  });
});

test("an edit of an edit belongs to the first message, and a deletion and a reaction, too", () => {
  const read = reader();
  const edit = (timestamp: number, target: number, text: string) => ({
    ...from(ann, "Ann", timestamp),
    editMessage: { targetSentTimestamp: target, dataMessage: data(timestamp, text, { groupInfo }) },
  });
  const first = `${ann}:1631458508784`;
  read(said("one"));
  expect(read(edit(1_631_458_509_000, 1_631_458_508_784, "two"))).toMatchObject({
    edit: { id: first, text: "two", editedAt: 1_631_458_509_000, chat: { id: group } },
  });
  expect(read(edit(1_631_458_510_000, 1_631_458_509_000, "three"))).toMatchObject({
    edit: { id: first, text: "three", editId: `${ann}:1631458510000` },
  });
  const reaction = {
    emoji: "👍🏽",
    targetAuthor: ann,
    targetAuthorNumber: null,
    targetAuthorUuid: ann,
    targetSentTimestamp: 1_631_458_510_000,
    isRemove: false,
  };
  expect(
    read({ ...from(bob, "Bob", 9), dataMessage: data(9, null, { groupInfo, reaction }) }),
  ).toMatchObject({
    reaction: { id: first, added: ["👍🏽"], removed: [], ofSelf: false, text: "three" },
  });
  expect(read(said(null, { remoteDelete: { timestamp: 1_631_458_510_000 } }))).toMatchObject({
    deletion: { id: first, chat: { id: group, kind: "group" } },
  });
});

test("an admin deletes somebody else's message", () => {
  const adminDelete = { targetAuthorNumber: null, targetAuthorUuid: bob, targetSentTimestamp: 4 };
  expect(reader()(said(null, { adminDelete }))).toMatchObject({ deletion: { id: `${bob}:4` } });
});

test("an album is one message with its files; a voice message is audio", () => {
  const file = (id: string, contentType: string, filename: string | null) => ({
    id,
    contentType,
    filename,
    size: 1_234,
    width: null,
    height: null,
    caption: null,
  });
  const attachments = [
    file("a1.jpg", "image/jpeg", "one.jpg"),
    file("a2.mp4", "video/mp4", null),
    file("a3.aac", "audio/aac", null),
    { ...file("x", "image/png", "late.png"), id: null },
  ];
  expect(reader()(said("look", { attachments }))).toMatchObject({
    message: {
      text: "look\n[file that was not received: late.png]",
      attachments: [
        { id: "a1.jpg", kind: "image", mime: "image/jpeg", bytes: 1_234, name: "one.jpg" },
        { id: "a2.mp4", kind: "video" },
        { id: "a3.aac", kind: "audio" },
      ],
    },
  });
  expect(reader()(said(null, { attachments: attachments.slice(0, 1) }))).toMatchObject({
    message: { text: "", attachments: [{ id: "a1.jpg" }] },
  });
});

test.each([
  [{ sticker: { packId: "p", stickerId: 3 } }, "[sticker]"],
  [{ contacts: [{ name: { given: "Zoe", family: "Moe" } }] }, "[contact: Zoe Moe]"],
  [{ contacts: [{ name: null }] }, "[contact: without a name]"],
  [
    { pollCreate: { question: "Tea?", allowMultiple: false, options: ["yes", "no"] } },
    "[poll: Tea? · yes / no]",
  ],
  [{ payment: { note: "thanks", receipt: "" } }, "[payment]"],
])("what a prompt cannot show is a line: %j", (more, text) => {
  expect(reader()(said(null, more))).toMatchObject({ message: { text } });
});

test.each([
  ["a receipt", { ...from(ann, "Ann", 1), receiptMessage: { when: 1, isDelivery: true } }],
  ["typing", { ...from(ann, "Ann", 1), typingMessage: { action: "STARTED", timestamp: 1 } }],
  ["a call", { ...from(ann, "Ann", 1), callMessage: { offerMessage: { id: 1 } } }],
  ["a story", { ...from(ann, "Ann", 1), storyMessage: { allowsReplies: true } }],
  ["an answer to a story", said("nice", { storyContext: { sentTimestamp: 1 } })],
  ["a change of the group", said(null, { groupInfo: { ...groupInfo, type: "UPDATE" } })],
  ["a timer", said(null, { isExpirationUpdate: true, expiresInSeconds: 60 })],
  ["a vote", said(null, { pollVote: { authorUuid: ann, optionIndexes: [0], voteCount: 1 } })],
  ["a pin", said(null, { pinMessage: { targetSentTimestamp: 1 } })],
  [
    "other synchronisation",
    { ...from(selfUuid, "Me", 1, self), syncMessage: { readMessages: [] } },
  ],
  ["a sender that nobody knows", { timestamp: 1, dataMessage: data(1, "boo") }],
])("%s says nothing", (_what, envelope) => {
  expect(reader()(envelope)).toBeNull();
});

test.each([
  ["one character", "a"],
  ["the longest", "x".repeat(64_000)],
  ["right to left", "שלום עולם — مرحبا"],
  ["combining marks", "Z͑ͫaͣlg͔o"],
  ["newlines and markup", "**not bold**\n> no quote\n\ttab"],
])("%s comes as it was written", (_what, text) => {
  expect(reader()(said(text))).toMatchObject({ message: { text } });
});

test("a group keeps its name, and gets a new one", () => {
  const read = reader();
  read(said("hi"));
  const renamed = { ...groupInfo, groupName: "garden", type: "UPDATE" };
  read(said(null, { groupInfo: renamed }));
  const later = said("hi", { groupInfo: { groupId: group, type: "DELIVER" } });
  expect(read(later)).toMatchObject({ message: { chat: { title: "garden" } } });
});
