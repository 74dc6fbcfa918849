/**
 * What platforms post or are asked for, each as bytes: Telegram, WhatsApp, the plain webhook, and both
 * ways to iMessage.
 */
import { ZodError } from "zod";
import * as blueBubbles from "../../../src/adapters/channels/imessage/bluebubbles-wire.ts";
import * as imsg from "../../../src/adapters/channels/imessage/imsg-wire.ts";
import * as apple from "../../../src/adapters/channels/imessage/normalise.ts";
import { TelegramChats } from "../../../src/adapters/channels/telegram/chats.ts";
import { readUpdate } from "../../../src/adapters/channels/telegram/gateway.ts";
import { createWebhookHook } from "../../../src/adapters/channels/webhook/hook.ts";
import { eventOf as whatsappEventOf } from "../../../src/adapters/channels/whatsapp/normalise.ts";
import { WhatsAppPeople } from "../../../src/adapters/channels/whatsapp/people.ts";
import {
  messageSchema,
  postedSchema,
  valueSchema,
} from "../../../src/adapters/channels/whatsapp/wire.ts";
import { hookJson } from "../../../src/adapters/http/hook-body.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { ChannelEvent } from "../../../src/domain/ports/index.ts";
import { frames, type Log, type Target } from "../harness/target.ts";

const json = (...values: readonly unknown[]) =>
  frames(...values.map((value) => JSON.stringify(value)));
const isRefused = (error: unknown) =>
  error instanceof ZodError ||
  (error instanceof EarshotError && error.code === "EAR_INBOUND_INVALID");

const ann = { id: 7, is_bot: false, first_name: "Ann", username: "ann" };
const group = { id: -1001, type: "supergroup", title: "Kitchen", username: "kitchen" };
const said = { message_id: 5, date: 1_700_000_000, chat: group, from: ann };
const file = { file_id: "f1", file_size: 12, file_name: "a.png", mime_type: "image/png" };
const telegram: Target = {
  name: "telegram",
  claim: "an update is events, or is logged once and skipped",
  seeds: [
    {
      name: "said",
      frames: json({
        update_id: 1,
        message: {
          ...said,
          text: "@scout lunch at https://x.example, 👩‍💻?",
          entities: [
            { type: "mention", offset: 0, length: 6 },
            { type: "text_mention", offset: 7, length: 5, user: ann },
            { type: "bold", offset: 7, length: 5 },
            { type: "code", offset: 16, length: 3 },
          ],
          is_topic_message: true,
          message_thread_id: 3,
          reply_to_message: { ...said, message_id: 4, text: "hello", photo: [file] },
          quote: { text: "hel", is_manual: true },
          forward_origin: { type: "user", date: 1, sender_user: ann },
        },
      }),
    },
    {
      name: "files",
      frames: json({
        update_id: 2,
        message: {
          ...said,
          caption: "see",
          caption_entities: [{ type: "url", offset: 0, length: 3 }],
          photo: [file, file],
          document: file,
          voice: file,
          sticker: { ...file, emoji: "👍" },
          media_group_id: "m",
          external_reply: {
            origin: { type: "chat", sender_chat: group },
            chat: group,
            message_id: 2,
          },
        },
      }),
    },
    {
      name: "content lines",
      frames: json({
        update_id: 3,
        message: {
          ...said,
          location: { latitude: 1, longitude: 2 },
          contact: { first_name: "Bo", phone_number: "1" },
          poll: { question: "Which?", options: [{ text: "a" }, { text: "b" }] },
        },
      }),
    },
    {
      name: "edited",
      frames: json({
        update_id: 4,
        edited_message: { ...said, edit_date: 1_700_000_001, text: "x" },
      }),
    },
    {
      name: "reaction",
      frames: json({
        update_id: 5,
        message_reaction: {
          chat: group,
          message_id: 5,
          user: ann,
          date: 1_700_000_000,
          old_reaction: [{ type: "emoji", emoji: "👍" }],
          new_reaction: [{ type: "emoji", emoji: "❤" }],
        },
      }),
    },
    {
      name: "pressed",
      frames: json({
        update_id: 6,
        callback_query: {
          id: "1",
          from: ann,
          message: { ...said, text: "Which?" },
          data: "ear:1:a",
        },
      }),
    },
    {
      name: "moved",
      frames: json({ update_id: 7, message: { ...said, migrate_to_chat_id: -1002 } }),
    },
  ],
  read(bodies, log) {
    const receiver = {
      account: "default",
      self: { id: "42", username: "scout", name: "Scout" },
      chats: new TelegramChats(),
    };
    const context = { log, config: {} } as unknown as Parameters<typeof readUpdate>[2];
    return bodies.map((body) => readUpdate(hookJson(body), receiver, context));
  },
  refuses: isRefused,
};

function whatsappEvents(body: unknown, log: Log): unknown {
  const posted = postedSchema.safeParse(body);
  if (!posted.success) return log("warn", "whatsapp.unreadable", { what: "body" });
  const receiver = { account: "default", self: "4915", people: new WhatsAppPeople() };
  return posted.data.entry.flatMap(({ changes }) =>
    changes.flatMap(({ value }) => {
      const { messages = [], contacts = [] } = valueSchema.safeParse(value).data ?? {};
      return messages.flatMap((raw) => {
        const { data } = messageSchema.safeParse(raw);
        return data === undefined ? [] : (whatsappEventOf(data, contacts, receiver) ?? []);
      });
    }),
  );
}

const whatsappMessage = { id: "wamid.1", from: "491701", timestamp: "1700000000" };
const whatsappPosted = (...messages: readonly object[]) =>
  json({
    object: "whatsapp_business_account",
    entry: [
      {
        id: "1",
        changes: [
          {
            field: "messages",
            value: {
              metadata: { phone_number_id: "123", display_phone_number: "+49 15" },
              contacts: [{ wa_id: "491701", profile: { name: "Ann", username: "ann" } }],
              messages: messages.map((message) => ({ ...whatsappMessage, ...message })),
            },
          },
        ],
      },
    ],
  });
const whatsapp: Target = {
  name: "whatsapp",
  claim: "a post is events, or is logged and skipped",
  seeds: [
    {
      name: "said",
      frames: whatsappPosted(
        {
          type: "text",
          text: { body: "*hello* @4915 https://x.example" },
          context: { id: "wamid.0", from: "4915" },
        },
        { type: "image", image: { id: "m1", mime_type: "image/png", caption: "see" } },
        { type: "location", location: { latitude: 1, longitude: 2, name: "Home" } },
        {
          type: "contacts",
          contacts: [{ name: { formatted_name: "Bo" }, phones: [{ phone: "1" }] }],
        },
        {
          type: "interactive",
          interactive: { type: "button_reply", button_reply: { id: "a", title: "A" } },
        },
      ),
    },
    {
      name: "changes",
      frames: whatsappPosted(
        { type: "reaction", reaction: { message_id: "wamid.1", emoji: "👍" } },
        {
          type: "order",
          order: { text: "two", product_items: [{ product_retailer_id: "p", quantity: 2 }] },
        },
        {
          type: "edit",
          edit: { original_message_id: "wamid.1", message: { type: "text", text: { body: "x" } } },
        },
        { type: "revoke", revoke: { original_message_id: "wamid.1" } },
        { type: "system", system: { type: "user_changed_number", wa_id: "491702" } },
      ),
    },
  ],
  read: (bodies, log) => bodies.map((body) => whatsappEvents(hookJson(body), log)),
  refuses: isRefused,
};

const posted = {
  chat: { id: "kitchen", kind: "group", title: "Kitchen" },
  id: "1",
  author: { id: "ann", name: "Ann" },
};
const webhook: Target = {
  name: "webhook",
  claim: "a post is events, or refused with EAR_INBOUND_INVALID and the path",
  seeds: [
    {
      name: "one",
      frames: json({
        ...posted,
        text: "hello @Scout",
        mentions: [{ id: "scout", isSelf: true }],
        replyTo: { id: "0", authorId: "bo", text: "?" },
        attachments: [
          { id: "https://x.example/a.png", kind: "image", mime: "image/png", bytes: 3 },
        ],
        thread: { id: "t", kind: "topic" },
        sentAt: 1_700_000_000_000,
      }),
    },
    {
      name: "many",
      frames: json([
        { ...posted, text: "a" },
        { ...posted, id: "2", text: "b" },
      ]),
    },
    {
      name: "reaction",
      frames: json({ reaction: { ...posted, added: ["👍"], removed: [], reactionId: "r" } }),
    },
    { name: "deletion", frames: json({ delete: { chat: posted.chat, id: "1" } }) },
  ],
  async read([body = Buffer.alloc(0)]) {
    const taken: ChannelEvent[] = [];
    const deliver = async (events: readonly ChannelEvent[]) => void taken.push(...events);
    const hook = createWebhookHook({ accountId: "default", deliver } as never, {
      secret: "a-secret-of-a-test",
      windowSeconds: 300,
    });
    const answer = await hook.receive(body, {} as never);
    return [taken, answer];
  },
  refuses: isRefused,
};

/** A body is a list of messages: one that cannot be read is passed over. */
const rowsOf = <Row>(body: Uint8Array, read: (raw: unknown) => Row | null): readonly Row[] => {
  const value = hookJson(body);
  return (Array.isArray(value) ? value.slice(0, 1_000) : [value]).flatMap((raw) => read(raw) ?? []);
};
const appleEvents = (row: Parameters<typeof apple.eventOf>[0]) => {
  const receiver = { account: "default", heard: apple.createHeard() };
  return [apple.eventOf(row, receiver), apple.changeOf(row, receiver)];
};

const imsgTarget: Target = {
  name: "imessage-imsg",
  claim: "a row of imsg is an event, or is passed over",
  seeds: [
    {
      name: "rows",
      frames: json([
        {
          id: 1,
          guid: "G1",
          chat_guid: "iMessage;+;chat1",
          chat_name: "Kitchen",
          sender: "+491701",
          is_from_me: false,
          text: "hello \ufffc",
          created_at: "2026-01-01T00:00:00Z",
          reply_to_guid: "p:0/G0",
          attachments: [
            { path: "/a.png", mime_type: "image/png", total_bytes: 3 },
            { missing: true },
          ],
          poll: { kind: "created", question: "Which?", options: [{ text: "a" }] },
        },
        {
          id: 2,
          guid: "G2",
          chat_guid: "iMessage;-;+491701",
          sender: "+491701",
          is_from_me: false,
          is_reaction: true,
          reaction_type: "love",
          is_reaction_add: true,
          reacted_to_guid: "p:0/G1",
        },
      ]),
    },
  ],
  read: ([body = Buffer.alloc(0)]) =>
    rowsOf(body, (raw) => imsg.messageSchema.safeParse(raw).data ?? null).map((message) =>
      appleEvents(imsg.rowOf(message)),
    ),
  refuses: isRefused,
};

const blueBubblesTarget: Target = {
  name: "imessage-bluebubbles",
  claim: "a row of BlueBubbles is an event, or is passed over",
  seeds: [
    {
      name: "rows",
      frames: json([
        {
          originalROWID: 1,
          guid: "G1",
          text: "hello Ann \ufffc",
          subject: "Lunch",
          attributedBody: [
            {
              string: "hello Ann",
              runs: [{ range: [6, 3], attributes: { __kIMMentionConfirmedMention: "+491702" } }],
            },
          ],
          handle: { address: "+491701" },
          chats: [{ guid: "iMessage;+;chat1", displayName: "Kitchen" }],
          attachments: [
            { guid: "A1", mimeType: "image/png", totalBytes: 3, transferName: "a.png" },
          ],
          isFromMe: false,
          dateCreated: 1_700_000_000_000,
          dateEdited: 1_700_000_000_001,
          threadOriginatorGuid: "p:0/G0",
        },
        {
          originalROWID: 2,
          guid: "G2",
          handle: { address: "+491701" },
          chats: [{ guid: "iMessage;-;+491701" }],
          isFromMe: false,
          associatedMessageGuid: "p:0/G1",
          associatedMessageType: "3001",
          associatedMessageEmoji: "👍",
        },
      ]),
    },
  ],
  read: ([body = Buffer.alloc(0)]) =>
    rowsOf(body, (raw) => blueBubbles.messageSchema.safeParse(raw).data ?? null).map((message) =>
      appleEvents(blueBubbles.rowOf(message)),
    ),
  refuses: isRefused,
};

export const postedTargets: readonly Target[] = [
  telegram,
  whatsapp,
  webhook,
  imsgTarget,
  blueBubblesTarget,
];
