/** The message that a judge has answered about, among those of one session with the same id. */
import { expect, test } from "vitest";
import { decidedEvents } from "../../../src/actors/effects/decided-events.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { EventRow } from "../../../src/domain/ports/index.ts";
import { chatOf } from "../../../src/machines/batching/chats.ts";

const said = (seq: number, chat: string): EventRow => {
  const place = { channel: "irc", chat: { id: chat, kind: "group" } };
  const message = inboundSchema.parse({ ...place, id: "1", author: { id: "ann" }, text: "hi" });
  const authority = { commandAuthorized: false, owner: false };
  const event = { type: "message.received", at: seq, seq, message, authority };
  return { seq, conv: 7, cfg: 1, body: JSON.stringify(event), code: 1 } as EventRow;
};
const rows = [said(1, "room"), said(2, "attic"), { ...said(3, "room"), conv: 8 }];
const { messageOf } = decidedEvents({
  events: async () => [],
  eventsByMessage: async () => rows,
});
const chat = (id: string) =>
  chatOf({ severalChats: true }, { channel: "irc", account: "default", chat: { id } }) as string;

test("is the one of the chat that the answer names", async () => {
  expect(await messageOf(7, { id: "1", chat: chat("room") })).toMatchObject({ at: 1 });
  expect(await messageOf(7, { id: "1", chat: chat("attic") })).toMatchObject({ at: 2 });
  expect(await messageOf(7, { id: "1", chat: chat("cellar") })).toBeNull();
});

test("is the newest where the answer names none", async () => {
  expect(await messageOf(7, { id: "1" })).toMatchObject({ at: 2 });
});
