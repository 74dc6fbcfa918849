/** What must hold on the rooms that the café labelled. */
import { fileURLToPath } from "node:url";
import type { EarshotConfigInput } from "earshot";
import { labelledRoomsFrom, scoreMatchers, scoreRooms } from "earshot/testing";
import { expect, test } from "vitest";

expect.extend(scoreMatchers);
const rooms = labelledRoomsFrom(fileURLToPath(new URL("rooms.jsonl", import.meta.url)));

export function testExpectations(config: EarshotConfigInput): void {
  const score = scoreRooms(rooms, config);

  test("of ten answers at most one interrupts", () => {
    expect(score).toScoreAtLeast({ precision: 0.9 });
  });

  test("of ten who speak to Fixit at least nine are heard", () => {
    expect(score).toScoreAtLeast({ recall: 0.9 });
  });
}
