/** What a program may post, in the form of docs/channels/webhook.md and docs/guide/scenarios.md. */
import { expect, test } from "vitest";
import { z } from "zod";
import { postedEvents } from "../../../../src/adapters/channels/webhook/events.ts";
import { limits } from "../../../../src/domain/limits.ts";

const place = {
  channel: z.literal("webhook").default("webhook"),
  account: z.literal("shop").default("shop"),
};
const read = (body: unknown) => postedEvents(place, true).bodyFor(body).parse(body);
const said = (text: string, more: object = {}) => ({
  chat: { id: "orders", kind: "group" },
  id: "o-17",
  author: { id: "clerk-7" },
  text,
  ...more,
});
const heard = (text: string, more: object = {}) => {
  const [event] = read(said(text, more));
  if (event?.type !== "message") throw new Error("no message");
  return event.message;
};

test("an edit and a deletion stand beside messages in one body", () => {
  expect(
    read([
      said("17 is late"),
      { edit: { chat: "orders", id: "o-17", text: "17 is on its way" } },
      { delete: { chat: "orders", id: "o-17" } },
    ]),
  ).toMatchObject([
    { type: "message", message: { channel: "webhook", account: "shop", outside: true } },
    { type: "edit", edit: { id: "o-17", text: "17 is on its way", chat: { kind: "group" } } },
    { type: "delete", deletion: { id: "o-17" } },
  ]);
});

test("several files are one message, with words or without", () => {
  const attachments = [
    { id: "1", kind: "image", mime: "image/png", url: "https://shop.example/1.png" },
    { id: "2", kind: "file", name: "bill.pdf", bytes: 12 },
  ];
  expect(heard("both", { attachments })).toMatchObject({ text: "both", attachments });
  expect(heard("", { attachments })).toMatchObject({ text: "", attachments });
});

test("what is forwarded, and what is quoted from elsewhere, says whose it is", () => {
  const from = { authorName: "Eve", chat: { id: "news", title: "News" }, messageId: "9" };
  expect(heard("look", { forwarded: from })).toMatchObject({ forwarded: from });
  const replyTo = { id: "o-16", authorId: "clerk-8", authorIsSelf: false, text: "16 and 17" };
  const quote = { text: "17" };
  expect(heard("this one", { replyTo, quote })).toMatchObject({ replyTo, quote });
  expect(heard("that", { quote: { text: "sale", from } })).toMatchObject({ quote: { from } });
});

test("a thread and a topic have their id, their title and who began them", () => {
  const thread = { id: "t-1", kind: "topic", title: "Late ones", rootAuthorId: "clerk-8" };
  expect(heard("17", { thread })).toMatchObject({ thread });
  expect(heard("17")).toMatchObject({ thread: null });
});

test("an author without a name has their id, a program says that it is one, and we know ourselves", () => {
  expect(heard("hi").author).toMatchObject({ id: "clerk-7", name: "clerk-7", isBot: false });
  expect(heard("hi", { author: { id: "till", isBot: true } }).author).toMatchObject({
    isBot: true,
    isSelf: false,
  });
  expect(heard("hi", { author: { id: "scout", isSelf: true } }).author.isSelf).toBe(true);
});

test("what is shown as code or as a quote is marked where it stands", () => {
  expect(heard("run `ls` now", { verbatim: [[4, 8]] }).verbatim).toEqual([[4, 8]]);
});

test.each([
  ["one character", "k"],
  ["right to left", "\u200fשלום עולם — مرحبا"],
  ["combining marks, and emoji of several parts", "Z͑ͫaͣlg͔o 👩‍👩‍👧 🇩🇪"],
  ["the longest that is taken", "x".repeat(limits.textUnitsMax)],
])("%s is taken as it was written", (_name, text) => {
  expect(heard(text).text).toBe(text);
});
