/** Numbers of rows on several nodes: none is given twice, whatever the clocks say and wherever a conversation is. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { engineLimits } from "../../../src/domain/ports/engine/engine-limits.ts";
import { createNodeNumbers } from "../../../src/engines/restate/numbers/node-numbers.ts";
import { property } from "../../support/property.ts";

/** The virtual object, and a node that asks it. */
function world() {
  let places = 0;
  const now = { wall: 1_800_000_000_000, monotonic: 0 };
  const open = (ahead: number) =>
    createNodeNumbers({
      clock: {
        now: () => now.wall + ahead,
        monotonic: () => now.monotonic,
      } as never,
      async call() {
        places += 1;
        return (places - 1) % engineLimits.numberPlaces;
      },
    });
  return { now, open, asked: () => places };
}

const acts = fc.array(
  fc.record({
    node: fc.nat(2),
    conversation: fc.nat(2),
    rows: fc.integer({ min: 1, max: 20 }),
    passedMs: fc.oneof(fc.constant(0), fc.nat(5), fc.integer({ min: -60_000, max: 60_000 })),
  }),
  { maxLength: 40 },
);

describe("numbers of rows", () => {
  property([acts, fc.array(fc.integer({ min: -1e9, max: 1e9 }), { minLength: 3, maxLength: 3 })])(
    "are different on all nodes, exact, and grow within a conversation that moves between them",
    async (story, aheads) => {
      const { now, open } = world();
      const nodes = aheads.map(open);
      const given = new Set<number>();
      const last = new Map<number, number>();
      for (const { node, conversation, rows, passedMs } of story) {
        now.wall += passedMs;
        const numbers = nodes[node];
        await numbers?.above(last.get(conversation) ?? 0);
        for (let row = 0; row < rows; row += 1) {
          const number = numbers?.next() ?? 0;
          expect(Number.isSafeInteger(number)).toBe(true);
          expect(given).not.toContain(number);
          expect(number).toBeGreaterThan(last.get(conversation) ?? 0);
          given.add(number);
          last.set(conversation, number);
        }
      }
    },
  );

  test("of nodes with the same clock are in the order of time", async () => {
    const { now, open } = world();
    const [one, two] = [open(0), open(0)];
    await Promise.all([one.above(0), two.above(0)]);
    const found: number[] = [];
    for (let turn = 0; turn < 100; turn += 1) {
      found.push((turn % 2 === 0 ? one : two).next());
      now.wall += 1;
    }
    expect(found).toEqual([...found].sort((a, b) => a - b));
  });

  test("need one call for a node, and another when its place is old", async () => {
    const { now, open, asked } = world();
    const node = open(0);
    await Promise.all([node.above(0), node.above(5), node.above(2 ** 50)]);
    node.next();
    expect(asked()).toBe(1);
    now.monotonic += engineLimits.numberPlaceMs + 1;
    await node.above(0);
    expect(asked()).toBe(2);
  });

  test("end where they would not be exact any more, with what to do", async () => {
    const { now, open } = world();
    const node = open(0);
    await node.above(0);
    now.wall = 4_000_000_000_000;
    expect(() => node.next()).toThrow("Set it right");
  });
});
