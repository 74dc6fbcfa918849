/**
 * Rounds
 * ======
 * How often a test plays what chance decides. `npm test` plays a few; `npm run verify`, which sets
 * EARSHOT_ROUNDS=full, plays all of them. EARSHOT_RUNS names any other number.
 */
const { EARSHOT_ROUNDS: asked, EARSHOT_RUNS: runs } = process.env;

export const rounds = (few: number, all: number): number =>
  runs === undefined || runs === "" ? (asked === "full" ? all : few) : Number(runs);
