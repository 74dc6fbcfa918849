/** An agent in a labelled room: the decisions are those of the conversation machine. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { playAgent } from "../../../src/actors/quality/play-room.ts";
import { settingsIn } from "../../../src/daemon/quality/room-settings.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { parseLabelledRooms, scoreRooms } from "../../../src/testing/labelled-rooms.ts";
import { kitchen, type LineInput, roomText } from "../../support/labelled-rooms.ts";
import { property } from "../../support/property.ts";

const oneShot = { engagement: { stickiness: { mode: "one-shot" } } };
const sliding = { engagement: { stickiness: { mode: "sliding" } } };

/** `id rule` of each line of others. */
function rulesOf(text: string, config: unknown = oneShot, agent = "scout"): readonly string[] {
  const [room] = parseLabelledRooms(text);
  if (room === undefined) throw new Error("no room");
  const found: string[] = [];
  playAgent(room, agent, settingsIn(room, scenarioConfig({}, config)), (index, _, rule) => {
    found.push(`${room.lines[index]?.id} ${rule}`);
  });
  return found;
}

test("the agent's own lines grant credit to those whom they answer, and to nobody else", () => {
  expect(rulesOf(kitchen)).toEqual([
    "1 solo-human",
    "2 mentions-others",
    "3 mention",
    "5 sticky",
    "6 default",
    "8 addressed-elsewhere",
    "9 sticky",
    "10 default",
  ]);
  expect(scoreRooms(parseLabelledRooms(kitchen), oneShot)).toEqual({
    rooms: 1,
    agents: 1,
    meant: 3,
    engaged: 3,
    right: 2,
    precision: 2 / 3,
    recall: 2 / 3,
    f1: 2 / 3,
    rules: {
      default: { right: 0, wrong: 0, missed: 1 },
      mention: { right: 1, wrong: 0, missed: 0 },
      sticky: { right: 1, wrong: 1, missed: 0 },
    },
  });
});

test("after an engaged line a turn runs for ten seconds, or until the agent speaks", () => {
  const asked = { by: "ann", text: "scout?", to: ["scout"], at: 60_000 };
  const room = (lines: readonly LineInput[]) =>
    roomText({ room: "r", agents: ["scout"] }, [
      { by: "bob" },
      { by: "ann", at: 59_000 },
      asked,
      ...lines,
    ]);
  const more = (at: number) => ({ by: "ann", text: "well", at });
  expect(rulesOf(room([more(69_000), more(79_500)])).slice(3)).toEqual(["4 sticky", "5 default"]);
  expect(rulesOf(room([more(70_001)])).slice(3)).toEqual(["4 default"]);
  const answer = { by: "scout", text: "bob, no", at: 62_000, answers: ["1"] };
  expect(rulesOf(room([answer, more(63_000)])).slice(3)).toEqual(["5 default"]);
});

test("another config decides differently, bots are bots, and each agent has one name", () => {
  const lines = [
    { by: "bob" },
    { by: "ann", text: "scout?", to: ["scout"] },
    { by: "scout", answers: ["2"] },
    { by: "ann", text: "so" },
    { by: "ann", text: "and so" },
    { by: "botto", text: "scout says: Hilda" },
    { by: "bob", text: "botto is loud" },
    { by: "bob", text: "hilda, hi" },
  ];
  const text = roomText({ room: "r", agents: ["scout", "hilda"], bots: ["botto"] }, lines);
  expect(rulesOf(text).slice(2)).toEqual([
    ...["4 sticky", "5 default", "6 alias", "7 names-peer-bot", "8 default"],
  ]);
  expect(rulesOf(text, sliding).slice(2, 4)).toEqual(["4 sticky", "5 sticky"]);
  expect(rulesOf(text, oneShot, "hilda").at(-1)).toBe("8 alias");
});

const people = ["ann", "bob", "scout"];
const roomLines = fc.array(
  fc.record({
    by: fc.constantFrom(...people),
    text: fc.constantFrom("hm", "scout?", "so what", "bob, no"),
    to: fc.subarray(people),
    answers: fc.subarray(["1", "2", "3", "4"]),
    gap: fc.constantFrom(0, 1_000, 9_999, 10_000, 10_001, 60_000, 900_000),
  }),
  { minLength: 5, maxLength: 30 },
);

property([roomLines])(
  "what other people's lines answer, and what is meant, changes no decision",
  (lines) => {
    let at = 0;
    const placed = lines.map(({ gap, ...line }) => {
      at += gap;
      return { ...line, at };
    });
    const header = { room: "r", agents: ["scout"] };
    const bare = placed.map(({ answers, ...line }) =>
      line.by === "scout" ? { ...line, answers } : { ...line, meant: ["scout"] },
    );
    expect(rulesOf(roomText(header, bare))).toEqual(rulesOf(roomText(header, placed)));
  },
);
