/** The measure in the test kit. */
import { expect, test } from "vitest";
import { parseLabelledRooms, scoreMatchers, scoreRooms } from "../../src/testing/labelled-rooms.ts";
import { kitchen } from "../support/labelled-rooms.ts";

expect.extend(scoreMatchers);

test("a suite can hold precision and recall, and a failure says which rules are wrong", () => {
  const score = scoreRooms(parseLabelledRooms(kitchen), {
    engagement: { stickiness: { mode: "one-shot" } },
  });
  expect(score).toScoreAtLeast({ precision: 0.66, recall: 0.66 });
  expect(score).not.toScoreAtLeast({ f1: 0.9 });
  expect(() => expect(score).toScoreAtLeast({ precision: 0.9 })).toThrow(
    "precision is 0.667, wanted 0.9\ndefault: 0 right, 0 wrong, 1 missed",
  );
});
