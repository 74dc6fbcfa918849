/**
 * Messages of real life in the form of Meta's webhook reference
 * (https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages).
 */
import { expect, test } from "vitest";
import { eventOf } from "../../../../src/adapters/channels/whatsapp/normalise.ts";
import { WhatsAppPeople } from "../../../../src/adapters/channels/whatsapp/people.ts";
import { messageSchema, valueSchema } from "../../../../src/adapters/channels/whatsapp/wire.ts";
import { checkedEvent } from "../../../support/every-channel/checked-event.ts";

const ann = "16505551234";
const self = "15550783881";

/** Reads the messages of one account, each in the value of a webhook as Meta posts it. */
function reader() {
  const people = new WhatsAppPeople();
  return (fields: object, from = ann) => {
    const value = valueSchema.parse({
      messaging_product: "whatsapp",
      metadata: { display_phone_number: self, phone_number_id: "106540352242922" },
      contacts: [{ profile: { name: "Ann" }, wa_id: from }],
      messages: [
        { from, id: "wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQ", timestamp: "1749416383", ...fields },
      ],
    });
    const [message] = value.messages ?? [];
    const receiver = { account: "default", self, people };
    const event = eventOf(messageSchema.parse(message), value.contacts ?? [], receiver);
    return checkedEvent(event);
  };
}

const said = (body: string, more: object = {}) => ({ type: "text", text: { body }, ...more });

test("a text has who, where and when", () => {
  expect(reader()(said("Does it come in another color?"))).toMatchObject({
    message: {
      text: "Does it come in another color?",
      author: { id: ann, name: "Ann", isBot: false, isSelf: false },
      chat: { id: ann, kind: "direct", title: "Ann" },
      thread: null,
      sentAt: 1_749_416_383_000,
    },
  });
});

test("an edit and a deletion name the message that they change", () => {
  const read = reader();
  const edit = {
    original_message_id: "wamid.1",
    message: { type: "text", text: { body: "soup at seven" }, context: { id: "M0" } },
  };
  expect(read({ id: "wamid.2", type: "edit", edit })).toMatchObject({
    type: "edit",
    edit: { id: "wamid.1", text: "soup at seven", editId: "wamid.2", author: { id: ann } },
  });
  const caption = {
    type: "image",
    image: { id: "7", mime_type: "image/png", caption: "the soup" },
  };
  const of = { original_message_id: "wamid.1", message: caption };
  expect(read({ id: "wamid.3", type: "edit", edit: of })).toMatchObject({
    edit: { id: "wamid.1", text: "the soup" },
  });
  const revoke = { original_message_id: "wamid.1" };
  expect(read({ id: "wamid.4", type: "revoke", revoke })).toMatchObject({
    type: "delete",
    deletion: { id: "wamid.1", chat: { id: ann } },
  });
});

test.each([
  ["image", { caption: "look", mime_type: "image/jpeg" }, { kind: "image", mime: "image/jpeg" }],
  ["video", { caption: "look", mime_type: "video/mp4" }, { kind: "video" }],
  [
    "document",
    { caption: "look", filename: "menu.pdf", mime_type: "application/pdf" },
    { kind: "file", name: "menu.pdf" },
  ],
])("%s with a caption is its text and its file", (type, file, attachment) => {
  const media = { id: "1003383421387256", sha256: "SfInY0gGKTsJlUWbwxC1k+FAD0FZHvzwfpvO0zX0GUI=" };
  expect(reader()({ type, [type]: { ...media, ...file } })).toMatchObject({
    message: { text: "look", attachments: [{ id: media.id, ...attachment }] },
  });
});

test("a voice message and a sticker are files without a text", () => {
  const media = { id: "1908647269898587", mime_type: "audio/ogg; codecs=opus", voice: true };
  expect(reader()({ type: "audio", audio: media })).toMatchObject({
    message: { text: "", attachments: [{ kind: "audio", mime: "audio/ogg; codecs=opus" }] },
  });
  const sticker = { id: "798882015472548", mime_type: "image/webp", animated: false };
  expect(reader()({ type: "sticker", sticker })).toMatchObject({
    message: { text: "", attachments: [{ kind: "image" }] },
  });
});

test.each(["forwarded", "frequently_forwarded"])("what is %s says so", (how) => {
  const event = reader()(said("This is a test message.", { context: { [how]: true } }));
  expect(event).toMatchObject({ message: { forwarded: true, replyTo: null } });
});

test("a reply names the message and whose it is: ours, or somebody's", () => {
  const context = { from: self, id: "wamid.HBgLMTQxMjU1NTA4MjkVAgASGBQ" };
  expect(reader()(said("Great", { context }))).toMatchObject({
    message: { replyTo: { id: context.id, authorId: self, authorIsSelf: true } },
  });
  const other = { from: "16505550000", id: "wamid.9" };
  expect(
    reader()(said("Great", { context: other, group_id: "HBgLMTY0NjcwNDM1OTUVAgAR" })),
  ).toMatchObject({
    message: {
      chat: { id: "HBgLMTY0NjcwNDM1OTUVAgAR", kind: "group" },
      replyTo: { id: "wamid.9", authorId: "16505550000", authorIsSelf: false },
    },
  });
});

test("a person who shows no number is known by the id that they have for this business", () => {
  const hidden = { from: undefined, from_user_id: "US.13491208655302741918" };
  expect(reader()(said("hello", hidden))).toMatchObject({
    message: { author: { id: hidden.from_user_id }, chat: { id: hidden.from_user_id } },
  });
});

test("a system message says nothing: neither a new number nor a new identity", () => {
  const body = "User A changed from 16505551234 to 12195555358";
  const moved = { body, wa_id: "12195555358", type: "user_changed_number" };
  expect(reader()({ type: "system", system: moved })).toBeNull();
  const identity = {
    body: "changed",
    identity: "sj/",
    customer: ann,
    type: "customer_identity_changed",
  };
  expect(reader()({ type: "system", system: identity })).toBeNull();
});

test("what WhatsApp shows as code or as a quote is marked, the rest is what was typed", () => {
  const text = "*see* _this_ ~no~ `rm -rf`\n> said Bob\n```let a;```";
  const event = reader()(said(text));
  const message = event?.type === "message" ? event.message : null;
  expect(message?.text).toBe(text);
  expect(message?.verbatim?.map(([from, to]) => text.slice(from, to))).toEqual([
    "`rm -rf`",
    "> said Bob",
    "```let a;```",
  ]);
});

test("what another client of the account's number has sent is ours", () => {
  expect(reader()(said("sent from the app"), self)).toMatchObject({
    message: { author: { id: self, isSelf: true } },
  });
});
