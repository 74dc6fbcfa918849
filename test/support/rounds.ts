/**
 * Rounds
 * ======
 * How often a test plays what chance decides. `npm test` plays a few; `npm run verify`, which sets
 * EARSHOT_ROUNDS=full, plays all of them. EARSHOT_RUNS names any other number.
 */
const { EARSHOT_ROUNDS: asked, EARSHOT_RUNS: runs } = process.env;

export const rounds = (few: number, all: number): number =>
  runs === undefined || runs === "" ? (asked === "full" ? all : few) : Number(runs);

/**
 * Variants of a claim that holds for each of them, as numbers of worker hosts: all in the full rounds, else
 * one, and the claims of a file take turns (`place`: counted from 0), so that each variant is met.
 */
export const inTurn = <Variant>(variants: readonly Variant[], place: number): readonly Variant[] =>
  asked === "full" ? variants : variants.filter((_, index) => index === place % variants.length);

/**
 * Numbers of worker hosts for a claim that holds with and without one. A thread takes longer to start than most
 * claims take, so in `npm test` each fourth claim of a file (`place`: counted from 0) has one.
 */
export const workersInTurn = (place: number): readonly number[] =>
  asked === "full" ? [0, 1] : [place % 4 === 1 ? 1 : 0];
