/** The form of labelled rooms, and what is wrong with a line that has another one. */
import { describe, expect, test } from "vitest";
import { isMeant } from "../../../src/domain/quality/labelled-room.ts";
import { parseLabelledRooms } from "../../../src/testing/labelled-rooms.ts";
import { kitchen, roomText } from "../../support/labelled-rooms.ts";

const header = '{"room":"r","agents":["scout"]}';
const line = (over: object = {}) =>
  JSON.stringify({ id: "1", at: 5, by: "ann", text: "hi", ...over });

test("rooms are read with their lines in order, empty lines are passed over", () => {
  const rooms = parseLabelledRooms(
    `${kitchen}\n\n${roomText({ room: "b", agents: ["x"] }, [{ by: "y" }])}\n`,
  );
  expect(rooms.map(({ room, lines }) => [room, lines.length])).toEqual([
    ["kitchen", 10],
    ["b", 1],
  ]);
  expect(rooms[0]).toMatchObject({ agents: ["scout"], from: "3", bots: [] });
});

describe("a bad line is named", () => {
  test.each([
    ["{", 1, "it is not JSON"],
    [line(), 1, "a room's header is expected first"],
    ['{"room":"r","agents":[]}', 1, "agents: "],
    ['{"room":"r","agents":["a"],"extra":1}', 1, "extra"],
    [header, 1, 'room "r" has no lines'],
    [`${header}\n${line()}\n${line({ id: "2", at: 4 })}`, 3, "at: 4 is earlier than"],
    [`${header}\n${line()}\n${line()}`, 3, "id: an earlier line"],
    [`${header}\n${line({ by: "" })}`, 2, "by: "],
    [`${header}\n${line({ at: "now" })}`, 2, "at: "],
    [`${header}\n${line({ replyTo: "1" })}`, 2, "replyTo"],
    [`{"room":"r","agents":["a"],"from":"9"}\n${line()}`, 2, "from: "],
  ])("%j", (text, row, why) => {
    const read = () => parseLabelledRooms(text, "rooms.jsonl");
    expect(read).toThrow(`rooms.jsonl, line ${row}: `);
    expect(read).toThrow(why);
    expect(read).toThrow(expect.objectContaining({ code: "EAR_SCENARIO_INVALID" }));
  });
});

test("a line is meant for whom it addresses and answers, or for whom somebody said outright", () => {
  const authorOf = (id: string) => ({ "1": "scout", "2": "bob" })[id];
  const meant = (over: object) =>
    isMeant({ id: "3", at: 0, by: "ann", text: "", ...over }, "scout", authorOf);
  expect(meant({})).toBe(false);
  expect(meant({ to: ["bob", "scout"] })).toBe(true);
  expect(meant({ answers: ["2", "1"] })).toBe(true);
  expect(meant({ answers: ["2", "elsewhere"] })).toBe(false);
  expect(meant({ to: ["scout"], meant: [] })).toBe(false);
  expect(meant({ to: ["bob"], meant: ["scout"] })).toBe(true);
});
