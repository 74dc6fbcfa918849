/**
 * Properties as tests
 * ===================
 * `property([arbitraries], parameters)("claim", (...values) => …)` is a test that holds for whatever
 * the arbitraries draw, and fails with the least values that break it, their seed and path. A case
 * that returns false fails, as one that throws does. `beforeEach` and `afterEach` run once for the
 * test, not for each case.
 *
 * One that runs processes has `endOnFailure: true`: it fails with the first values that break it. Looking
 * for less of them takes minutes, and the limit of the test would hide what was found.
 */
import fc from "fast-check";
import { test } from "vitest";

type Arbitraries<Values extends [unknown, ...unknown[]]> = {
  [Place in keyof Values]: fc.Arbitrary<Values[Place]>;
};

export function property<Values extends [unknown, ...unknown[]]>(
  arbitraries: Arbitraries<Values>,
  parameters: fc.Parameters<Values> = {},
) {
  return (claim: string, holds: (...values: Values) => unknown): void =>
    test(claim, async () => {
      const each = async (...values: Values) => (await holds(...values)) !== false;
      await fc.assert(fc.asyncProperty(...arbitraries, each), parameters);
    });
}

/** Of the Unicode code points, the first half of a pair, and how many are none. */
const [surrogates, pairs] = [0xd8_00, 0x8_00];

/**
 * Any code point that is no half of a pair: what `unit: "binary"` is, which keeps a list and a map
 * of all the 1.1 million of them for as long as the process runs (85 MB, 0.4 s).
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: 0x10_ff_ff - pairs }).map(
  (place) => String.fromCodePoint(place < surrogates ? place : place + pairs),
  (text) => {
    const point = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (point === undefined || text !== String.fromCodePoint(point) || isHalf(point))
      throw new Error("not one character");
    return point < surrogates ? point : point - pairs;
  },
);

const isHalf = (point: number) => point >= surrogates && point < surrogates + pairs;
