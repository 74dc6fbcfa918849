/** What happens to a message happens where it was said, whatever short form a line has. */
import { expect, test } from "vitest";
import { decisions, drops, ends, play, prompts, starts } from "../support/replay/replay.ts";

const thread = { id: "t1", kind: "thread" };
const places = [
  ["a direct chat", { id: "room", kind: "direct" }, null],
  ["a group", { id: "room", kind: "group" }, null],
  ["a channel", { id: "room", kind: "channel" }, null],
  ["a thread", { id: "room", kind: "group" }, thread],
] as const;
const message = (chat: unknown, place: unknown, id: string, text: string) => ({
  channel: "irc",
  chat,
  thread: place,
  id,
  author: { id: "ann" },
  text,
  mentions: [{ id: "bot", isSelf: true }],
});

test.each(places)("an edit in %s, by the chat's id alone", async (_name, chat, place) => {
  const lines = await play(
    [
      { t: 0, in: message(chat, place, "m1", "before") },
      { t: 100, edit: { channel: "irc", chat: "room", id: "m1", text: "after" } },
    ],
    { prompts: true },
  );
  expect(prompts(lines)).toHaveLength(1);
  expect(prompts(lines)[0]?.text).toMatch(/\bafter\b/);
  expect(prompts(lines)[0]?.text).not.toMatch(/\bbefore\b/);
});

test.each(places)("a deletion in %s, by the chat's id alone", async (_name, chat, place) => {
  const lines = await play([
    { t: 0, in: message(chat, place, "m1", "hello") },
    { t: 100, delete: { channel: "irc", chat: "room", id: "m1" } },
  ]);
  expect(decisions(lines)).toHaveLength(1);
  expect(drops(lines).map(({ message, why }) => [message, why])).toEqual([["m1", "deleted"]]);
  expect(starts(lines)).toEqual([]);
});

test("members and history of a channel, before anybody spoke in it", async () => {
  const chat = { id: "room", kind: "channel" };
  const older = { ...message(chat, null, "h1", "long ago"), mentions: [] };
  const lines = await play(
    [
      { t: 0, membership: { channel: "irc", chat: "room", humans: 3, bots: 1 } },
      { t: 0, history: { channel: "irc", chat: "room", messages: [older] } },
      { t: 10, in: { ...message(chat, null, "m1", "hm"), mentions: [] } },
      { t: 20, in: message(chat, null, "m2", "you?") },
    ],
    { prompts: true },
  );
  expect(decisions(lines).map(({ rule }) => rule)).toEqual(["default", "mention"]);
  expect(prompts(lines)[0]?.text).toContain("long ago");
  expect(ends(lines)).toHaveLength(1);
});
