/** The row of a session of several chats, in which ids of messages may be the same. */
import { expect, test } from "vitest";
import { Room } from "../../../src/daemon/room-list/room-row.ts";
import type { Verdict } from "../../../src/domain/decision.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import { nameOfMessage } from "../../../src/machines/batching/chats.ts";

const said = (chat: string, text: string) =>
  inboundSchema.parse({
    channel: "irc",
    chat: { id: chat, kind: "group" },
    id: "1",
    author: { id: "ann", name: "Ann" },
    text,
  });
const soup = said("room", "soup?");
const bread = said("attic", "bread?");
const undecided: Verdict = { decision: "observe", rule: "judge", credit: "none" };
const engaged: Verdict = { decision: "engage", rule: "judge", credit: "none" };

test("what is done to a message in one chat is shown of none in another", () => {
  const room = new Room(7, "agent:main:global");
  room.note(soup, undecided, 1);
  expect(room.amend(bread, null)).toBe(false);
  expect(room.row().last?.text).toBe("soup?");
  expect(room.amend(soup, "hot soup?")).toBe(true);
  expect(room.row().last?.text).toBe("hot soup?");
});

test("what a judge engages is the message of its chat, and the oldest where it names none", () => {
  const asked = () => {
    const room = new Room(7, "agent:main:global");
    room.note(soup, undecided, 1);
    room.note(bread, undecided, 2);
    return room;
  };
  const named = asked();
  expect(named.engageLate(nameOfMessage(bread), engaged)).toBe(2);
  expect(named.row()).toMatchObject({ recent: "oe", last: { decision: "engage" } });
  const other = asked();
  expect(other.engageLate(nameOfMessage(soup), engaged)).toBe(1);
  expect(other.row()).toMatchObject({ recent: "eo", last: { decision: "observe" } });
  expect(asked().engageLate({ id: "1" }, engaged)).toBe(1);
});
