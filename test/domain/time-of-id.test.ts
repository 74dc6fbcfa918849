/** Where events of a turn lie in the journal's unique index. */
import { expect, test } from "vitest";
import { createIds } from "../../src/adapters/system/ids.ts";
import { timeOfId } from "../../src/domain/key.ts";

test("a turn's id says when it was made, and another id 0", () => {
  for (const time of [1, 1_700_000_000_123, 2 ** 48 - 1])
    expect(timeOfId(createIds(() => time).next())).toBe(time);
  const id = createIds(() => 5).next();
  // Beyond the 48 bits of a ULID's time, too short, too long, and those of a simulation.
  for (const other of [`8${id.slice(1)}`, id.slice(1), `${id}0`, "", "id000001"])
    expect(timeOfId(other)).toBe(0);
});
