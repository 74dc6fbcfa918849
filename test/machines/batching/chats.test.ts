import { expect, test } from "vitest";
import {
  chatOf,
  idsIn,
  isSame,
  nameIn,
  nameOfMessage,
  namesIn,
  placed,
  placedIn,
} from "../../../src/machines/batching/chats.ts";

const several = { severalChats: true };
const place = {
  channel: "telegram",
  account: "default",
  chat: { id: "room", kind: "group" },
} as const;
const room = chatOf(several, place);
const attic = chatOf(several, { ...place, chat: { id: "attic" } });

test("a chat is kept only where a session has several, and accounts and channels are apart", () => {
  expect(chatOf({ severalChats: false }, place)).toBeUndefined();
  const others = [
    attic,
    chatOf(several, { ...place, account: "b" }),
    chatOf(several, { ...place, channel: "irc" }),
  ];
  expect(new Set([room, ...others]).size).toBe(4);
  expect(chatOf(several, place)).toBe(room);
});

test("messages are the same by id and chat; where one has no chat, by id alone", () => {
  const one = placed({ id: "1" }, room);
  expect(isSame(one, placed({ id: "1" }, room))).toBe(true);
  expect(isSame(one, placed({ id: "2" }, room))).toBe(false);
  expect(isSame(one, placed({ id: "1" }, attic))).toBe(false);
  expect(isSame(one, { id: "1" })).toBe(true);
  expect(isSame({ id: "1" }, one)).toBe(true);
  expect(isSame({ id: "1" }, { id: "2" })).toBe(false);
});

test("what has no chat is left as it is", () => {
  const message = { id: "1", seq: 3 };
  expect(placed(message, undefined)).toBe(message);
  expect(placed(message, room)).toEqual({ id: "1", seq: 3, chat: room });
});

test("a list has the ids of one chat, and those of which no chat is known", () => {
  expect(nameIn(undefined, "1")).toBe("1");
  expect(nameIn(room, "1")).not.toBe(nameIn(attic, "1"));
  const ids = ["1", "2"];
  expect(namesIn(undefined, ids)).toBe(ids);
  const list = [...namesIn(room, ids), ...namesIn(attic, ["3"]), "4"];
  expect(idsIn(list, room)).toEqual(["1", "2", "4"]);
  expect(idsIn(list, attic)).toEqual(["3", "4"]);
  expect(idsIn(ids, undefined)).toBe(ids);
});

test("a message is named with its chat where its session has several, or is compared with one that is", () => {
  const message = { ...place, id: "17", text: "hi" };
  expect(placedIn({ severalChats: false }, message)).toEqual({ id: "17" });
  expect(placedIn(several, message)).toEqual({ id: "17", chat: room });
  expect(nameOfMessage(message)).toEqual({ id: "17", chat: room });
});
