/** What is tried, and the names that a room uses for its agent. */
import { expect, test } from "vitest";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { nameCandidates } from "../../../src/domain/quality/name-candidates.ts";
import {
  choiceOf,
  choiceText,
  combinations,
  stickinessEdits,
} from "../../../src/domain/quality/tuning-space.ts";
import { parseLabelledRooms } from "../../../src/testing/labelled-rooms.ts";
import { roomText } from "../../support/labelled-rooms.ts";

const { stickiness } = scenarioConfig({}, {}).engagement;

test("the given config is one of the combinations, and changes nothing", () => {
  for (const given of [stickiness, { ...stickiness, enabled: false, windowMs: 4_321 }]) {
    const choice = choiceOf(given, []);
    const texts = combinations(given).map((values) => choiceText({ values, aliases: [] }));
    expect(texts).toContain(choiceText(choice));
    expect(new Set(texts).size).toBe(texts.length);
    expect(stickinessEdits(choice, given)).toEqual([]);
  }
});

test("a window is not tried where nothing sticks", () => {
  const off = combinations(stickiness).filter(({ mode }) => mode === "off");
  expect(off).toEqual([{ mode: "off" }]);
  expect(stickinessEdits({ values: { mode: "off" }, aliases: [] }, stickiness)).toEqual([
    ["enabled", true, false],
  ]);
});

const lines = (agent: string) =>
  roomText({ room: agent, agents: [agent] }, [
    { by: "ann", text: "hey kitchenbot, what is for lunch?", meant: [agent] },
    { by: "ann", text: "thanks kitchenbot!", meant: [agent] },
    { by: "bob", text: "@ann: I bought a bot", meant: [] },
    { by: "ann", text: `${agent}: and you, cookie?`, meant: [agent] },
    { by: "ann", text: "well, lunch is ready", meant: [agent] },
    { by: "bob", text: "well, no", meant: [] },
    { by: "bob", text: "well, yes", meant: [] },
  ]);

test("names that people use are words where a name stands, more often meant than not", () => {
  expect(nameCandidates(parseLabelledRooms(lines("scout")), [])).toEqual(["kitchenbot"]);
  expect(nameCandidates(parseLabelledRooms(lines("scout")), ["Kitchenbot"])).toEqual([]);
});

test("rooms that several agents play give no names", () => {
  const text = lines("scout").replace('"agents":["scout"]', '"agents":["scout","hilda"]');
  expect(nameCandidates(parseLabelledRooms(text), [])).toEqual([]);
});
